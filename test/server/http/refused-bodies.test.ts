import { randomBytes } from 'node:crypto'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { nodeListener } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { setup } from '../fakes.ts'

test.each([
  ['compressed', gzipSync, { 'content-encoding': 'gzip' }],
  ['uncompressed', (text: string) => Buffer.from(text), { 'transfer-encoding': 'chunked' }],
])('after an over-limit %s body the connection serves the next request', async (_, encode, headers) => {
  const { server } = setup({ limits: { ingestionBytes: 100_000 } })
  let connections = 0
  const listening = createServer(nodeListener(server.fetch)).on('connection', () => connections++)
  await new Promise<void>((resolve) => void listening.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => {
    agent.destroy()
    listening.close()
  })
  const { port } = listening.address() as AddressInfo
  const send = (method: string, path: string, body?: Buffer): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const call = request({ port, host: '127.0.0.1', agent, method, path: `/api${path}` }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode))
      })
      call.on('error', reject).setHeader('authorization', 'Bearer key-importer')
      if (body) for (const [name, value] of Object.entries(headers)) call.setHeader(name, value)
      call.end(body)
    })
  const body = encode(JSON.stringify({ document: { id: randomBytes(600_000).toString('base64') } }))
  for (let round = 0; round < 5; round++) {
    expect(await send('POST', '/service-api/ingestion', body)).toBe(413)
    expect(await send('GET', '/health')).toBe(200)
  }
  expect(connections).toBe(1)
})
