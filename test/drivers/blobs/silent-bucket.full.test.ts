import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { s3Blobs } from '@inlay/drivers/s3-blobs'
import { expect, onTestFinished, test } from 'vitest'

async function startBucket(answer: (request: number, response: ServerResponse) => void) {
  let count = 0
  const server = createServer((request, response) => {
    request.resume()
    answer(++count, response)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const keys = { accessKeyId: 'an-id', secretAccessKey: 'the-secret-of-the-test' }
  return s3Blobs({ address: 's3://bucket/files', endpoint, ...keys })
}

test('a read whose connection has gone silent is answered by a second one', async () => {
  const storage = await startBucket((request, response) => (request === 1 ? undefined : response.end('value')))
  const began = performance.now()
  expect(await storage.getItemRaw('a')).toEqual(new TextEncoder().encode('value'))
  expect(performance.now() - began).toBeLessThan(5_000)
})

test('a bucket that says nothing has a read refused within ten seconds', async () => {
  const storage = await startBucket(() => {})
  const began = performance.now()
  await expect(storage.getItemRaw('a')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
  expect(performance.now() - began).toBeLessThan(10_000)
}, 20_000)

test('a bucket that says nothing has a write refused, whatever is collected as garbage meanwhile', async () => {
  const storage = await startBucket(() => {})
  const began = performance.now()
  const written = storage.setItemRaw('a', new Uint8Array(10))
  await expect(written).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
  expect(performance.now() - began).toBeLessThan(24_000)
}, 40_000)
