import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { egressStream } from '@inlay/drivers/internal/http/egress-stream'
import { serve } from './serve.ts'

const local = (options = {}) => egressStream({ allowHosts: ['127.0.0.1'], ...options })
const decode = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

test('a body is read as it arrives', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  const origin = await serve(async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('first')
    await goOn
    response.end('second')
  })
  const { status, body, headers } = await local()(`${origin}/`)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const reader = body.getReader()
  expect(decode((await reader.read()).value)).toBe('first')
  resolve()
  expect(decode((await reader.read()).value)).toBe('second')
  expect((await reader.read()).done).toBe(true)
})

test('a compressed body is unpacked', async () => {
  const origin = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'))
  })
  const { body } = await local()(`${origin}/`)
  expect(await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).text()).toBe('packed')
})

test('what egress refuses is refused here', async () => {
  const origin = await serve((_, response) => response.end('x'))
  await expect(egressStream()(`${origin}/`)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  await expect(egressStream()('http://169.254.169.254/')).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  await expect(local()('file:///etc/passwd')).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

test('the limits bind: bytes of the body, time until it begins, the signal of the caller', async () => {
  const origin = await serve((request, response) => {
    if (request.url === '/silent') return
    response.writeHead(200)
    response.write('x'.repeat(1_000))
  })
  const { body: long } = await local({ maxBytes: 999 })(`${origin}/`)
  await expect(long.getReader().read()).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  await expect(local({ timeoutMs: 20 })(`${origin}/silent`)).rejects.toMatchObject({ code: 'GATEWAY_TIMEOUT' })

  // The time limit is for the beginning: an open stream outlives it.
  const leaving = new AbortController()
  const { body } = await local({ timeoutMs: 1_000 })(`${origin}/`, { signal: leaving.signal })
  const reader = body.getReader()
  await reader.read()
  leaving.abort(new Error('left'))
  await expect(reader.read()).rejects.toThrow('left')
})

test('a reader who leaves closes the connection', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const origin = await serve((_, response) => {
    response.once('close', resolve)
    response.write('x')
  })
  const { body } = await local()(`${origin}/`)
  await body.cancel()
  await closed
})
