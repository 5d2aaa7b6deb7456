import { randomBytes } from 'node:crypto'
import { Agent, createServer, request } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { nodeListener } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { setup } from '../fakes.ts'

const json = JSON.stringify({ document: { id: randomBytes(600_000).toString('base64') } })
const form = `--XX\r\nContent-Disposition: form-data; name="title"\r\n\r\n${'a'.repeat(3_000_000)}\r\n--XX--\r\n`
const formHeaders = { 'content-type': 'multipart/form-data; boundary=XX' }

test.each([
  ['compressed body', '', gzipSync(json), { 'content-encoding': 'gzip' }],
  ['uncompressed body', '', Buffer.from(json), { 'transfer-encoding': 'chunked' }],
  ['field of a form', '/file', Buffer.from(form), formHeaders],
  ['field of a compressed form', '/file', gzipSync(form), { ...formHeaders, 'content-encoding': 'gzip' }],
])('after an over-limit %s the connection serves the next request', async (_, path, body, headers) => {
  const { server } = setup({ limits: { maxIngestionBytes: 100_000 } })
  let connections = 0
  const listening = createServer(nodeListener(server.fetch)).on('connection', () => connections++)
  await new Promise<void>((resolve) => void listening.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => {
    agent.destroy()
    listening.close()
  })
  const { port } = listening.address() as AddressInfo
  const send = (method: string, to: string, sent?: Buffer): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const call = request({ port, host: '127.0.0.1', agent, method, path: `/api${to}` }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode))
      })
      call.on('error', reject).setHeader('authorization', 'Bearer key-importer')
      if (sent) for (const [name, value] of Object.entries(headers)) call.setHeader(name, value)
      call.end(sent)
    })
  for (let round = 0; round < 5; round++) {
    expect(await send('POST', `/service-api/ingestion${path}`, body)).toBe(413)
    expect(await send('GET', '/health')).toBe(200)
  }
  expect(connections).toBe(1)
})

test.each([
  ['too large', 'Bearer key-importer', 'HTTP/1.1', '413'],
  ['of nobody that is known', 'Bearer nobody', 'HTTP/1.1', '401'],
  ['of a client of HTTP/1.0', 'Bearer key-importer', 'HTTP/1.0', '413'],
])('a body %s is refused in words though its connection ends with the answer', async (_, key, version, status) => {
  const { server } = setup({ limits: { maxIngestionBytes: 100_000 } })
  const listening = createServer(nodeListener(server.fetch))
  await new Promise<void>((resolve) => void listening.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void listening.close())
  const { port } = listening.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  const body = Buffer.alloc(8_000_000, ' ')
  socket.write(
    `POST /api/service-api/ingestion ${version}\r\nhost: a\r\nauthorization: ${key}\r\nconnection: close\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
  )
  // Like clients that read nothing before all is sent.
  socket.pause()
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject).write(body, (error) => (error ? reject(error) : resolve()))
  })
  expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*"error_code"`))
})
