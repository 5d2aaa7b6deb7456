import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { blobStorageConformance } from '@inlay/conformance'
import { s3Blobs } from '@inlay/drivers/s3-blobs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const values = new Map<string, Buffer>()
const authorizations: (string | undefined)[] = []

/** The part of S3 that the driver uses; the bucket `gone` does not exist. */
const server = createServer(async (request: IncomingMessage, response) => {
  authorizations.push(request.headers.authorization)
  const path = request.url!
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  if (path.startsWith('/gone/')) return response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>')
  if (path.startsWith('/closed/')) return response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
  if (request.method === 'PUT') values.set(path, Buffer.concat(parts))
  if (request.method === 'DELETE') return response.writeHead(values.delete(path) ? 204 : 404).end()
  const value = values.get(path)
  if (value === undefined) return response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
  return response.end(request.method === 'GET' ? value : undefined)
})
let endpoint = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

const keys = { accessKeyId: 'an-id', secretAccessKey: 'the-secret-of-the-test' }
const blobsIn = (address: string) => s3Blobs({ address, endpoint, region: 'eu-test-1', ...keys })

describe('values in a bucket', () => {
  test.each(blobStorageConformance((place) => blobsIn(`s3://bucket/${place}/`)))('%s', (_, run) => run())
})

test('requests are signed for the region, and keys become paths', async () => {
  const storage = await blobsIn('s3://bucket/inlay/files')
  await storage.setItemRaw('files:a b:0', Uint8Array.of(1))
  expect(values.has('/bucket/inlay/files/files/a%20b/0')).toBe(true)
  expect(authorizations.at(-1)).toMatch(/^AWS4-HMAC-SHA256 Credential=an-id\/\d{8}\/eu-test-1\/s3\/aws4_request/)
})

test.each(['s3://gone/files', 's3://closed/files'])('%s: no value is not taken for a refusal', async (address) => {
  const storage = await blobsIn(address)
  for (const call of [
    () => storage.getItemRaw('a'),
    () => storage.removeItem('a'),
    () => storage.setItemRaw('a', Uint8Array.of(1)),
  ])
    await expect(call()).rejects.toThrow(/^The bucket refused \w+ with 40[34] \((NoSuchBucket|AccessDenied)\)\.$/)
})
