import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, get, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { closeServer, createInlay, nodeListener, type Inlay } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import type { ReplyPart } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'

/** An assistant behind a server, whose model says something and never ends, if nothing else is said. */
async function newServer(
  parts: readonly ReplyPart[] = [{ text: 'So far' }, { hang: true }],
): Promise<{ server: Server; inlay: Inlay; base: string }> {
  const model = await startOpenAi(() => [...parts])
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-close-'))
  const inlay = createInlay({
    dataFolder,
    apiKey: 'the-key-of-the-test',
    model: { name: 'm', baseUrl: `${model.origin}/v1`, grounding: 'tools' },
  })
  const server = createServer(nodeListener(inlay.fetch))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await closeServer(server, inlay)
    await model.close()
    rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 })
  })
  return { server, inlay, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api` }
}

const headers = { authorization: 'Bearer the-key-of-the-test', 'content-type': 'application/json' }
const asking = { method: 'POST', headers, body: '{"message": "Hi"}' }

test('an answer under way tells its client why it ends, and then the connection does', async () => {
  const { server, inlay, base } = await newServer()
  const response = await fetch(`${base}/chat/send-chat-message`, asking)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('So far')) text += (await reader.read()).value ?? ''
  const closing = closeServer(server, inlay)
  for (let step = await reader.read(); !step.done; step = await reader.read()) text += step.value
  expect(text).toMatch(/"error_code":"SERVICE_UNAVAILABLE"[^]*"error":/)
  await closing
  expect(server.listening).toBe(false)
})

test('neither an idle connection nor a reader who does not read holds it up', async () => {
  const { server, inlay, base } = await newServer()
  await (await fetch(`${base}/health`)).text()
  const answered = await new Promise<{ resume(): void; on(event: string, listener: () => void): void }>((resolve) => {
    const { method, headers: sent, body } = asking
    request(`${base}/chat/send-chat-message`, { method, headers: sent, agent: false }, resolve).end(body)
  })
  const gone = new Promise<void>((resolve) => answered.on('close', resolve))
  await closeServer(server, inlay, { graceMs: 50 })
  answered.resume()
  await gone
})

test('a server that never listened, or is closed, is closed again', async () => {
  const { server, inlay } = await newServer()
  await closeServer(server, inlay)
  await closeServer(server, inlay)
  await closeServer(createServer(), inlay)
})

test('with time to drain, it is not ready any more, takes requests until the notice is over, and answers to their end', async () => {
  const { promise: pause, resolve: goOn } = Promise.withResolvers<void>()
  const { server, inlay, base } = await newServer([{ text: 'So far' }, { pause: () => pause }, { text: ', so good.' }])
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const call = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve) => get(base + path, { agent }, (response) => resolve(response.resume())))
  const sent = await fetch(`${base}/chat/send-chat-message`, asking)
  const text = sent.text()
  expect((await call('/health/ready')).headers.connection).toBe('keep-alive')

  const { promise: noticed, resolve: endNotice } = Promise.withResolvers<void>()
  const closing = closeServer(server, inlay, { noticeMs: 5_000, drainMs: 60_000, wait: () => noticed })
  const unready = await call('/health/ready')
  expect([unready.statusCode, unready.headers.connection]).toEqual([503, 'close'])
  expect((await call('/health')).statusCode).toBe(200)
  endNotice()
  await expect.poll(() => server.listening).toBe(false)
  goOn()
  expect(await text).toMatch(/so good[^]*"stop_reason":null/)
  await closing
})

/** Sends a request once it hears of a port, and says so in shared memory: its creator may wait there without a turn. */
const sender = `
const { connect } = require('node:net')
const { parentPort, workerData } = require('node:worker_threads')
parentPort.once('message', (port) => {
  const socket = connect(port, '127.0.0.1')
  let reply = ''
  socket.on('data', (part) => (reply += part))
  socket.on('error', (error) => (reply = error.code))
  socket.on('close', () => parentPort.postMessage(reply))
  socket.on('connect', () => socket.write('GET / HTTP/1.0\\r\\n\\r\\n', () => {
    Atomics.store(workerData, 0, 1)
    Atomics.notify(workerData, 0)
  }))
})`

test('a request that came in the last turn of the loop before the end of the notice is answered', async () => {
  const server = createServer((_, response) => response.end('answered'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const sent = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(sender, { eval: true, workerData: sent })
  onTestFinished(async () => void (await worker.terminate()))
  const reply = new Promise<string>((resolve) => worker.once('message', resolve))
  await new Promise((resolve) => worker.once('online', resolve))
  const isSent = (): void => {
    worker.postMessage(port)
    expect(Atomics.wait(sent, 0, 0, 60_000)).not.toBe('timed-out')
  }
  await closeServer(
    server,
    { close: async () => {} },
    // The second turn from here has looked for connections already.
    { noticeMs: 1, drainMs: 60_000, wait: async () => void setImmediate(() => setImmediate(isSent)) },
  )
  expect(await reply).toMatch(/^HTTP\/1\.1 200 [^]*answered$/)
})
