import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { nodeListener } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import type { LiveRun } from '@inlay/agent/internal/run/live-runs'
import { newService } from './conversation.ts'
import { alice } from './fakes.ts'

const decodeText = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)
const words = Array.from({ length: 40_000 }, (_, index) => `word${index} `)

test('a reader that stops reading costs a bounded part of an answer, and the answer is whole for all others', async () => {
  const maxRunBytes = 200_000
  const { ask, setting } = await newService([words], { limits: { maxRunBytes } })
  const run = (await setting.send({}, { caller: alice })) as LiveRun
  const path = `/chat/chat-session/${run.sessionId}/resume-stream`
  const slow = (await ask(path)).body?.getReader()
  const quick = (async () => (await ask(path)).text())()
  const before = decodeText((await slow?.read())?.value)
  let most = 0
  for await (const entries of run.read()) most = Math.max(most, entries.length === 0 ? 0 : run.log.bytes)
  expect(most).toBeLessThanOrEqual(maxRunBytes)
  // The lines it missed are gone, so its stream ends without an error.
  let after = ''
  for (let step = await slow?.read(); step && !step.done; step = await slow?.read()) after += decodeText(step.value)
  expect(before.length + after.length).toBeLessThan(200_000)
  expect(after).not.toContain('"stop"')
  const whole = await run.whole()
  expect(whole.answer).toBe(words.join(''))
  expect(await quick).toContain('word39999')
  expect((await setting.agent.sessions.get(run.sessionId, alice)).messages.at(-1)?.text).toBe(words.join(''))
})

test('a reader is handed a chunk at a time, however much there is', async () => {
  const { ask, setting } = await newService([words])
  const run = await setting.send({}, { caller: alice })
  await run.whole()
  const response = await ask(`/chat/chat-session/${run.sessionId}/resume-stream`)
  const sizes: number[] = []
  for await (const chunk of response.body ?? []) sizes.push(chunk.byteLength)
  expect(Math.max(...sizes)).toBeLessThan(20_000)
  expect(sizes.length).toBeGreaterThan(80)
})

test('a client that reads nothing makes the server hold one chunk, and reads the whole answer later', async () => {
  const many = [...words, ...words, ...words]
  const { ask, setting } = await newService([many])
  const run = await setting.send({}, { caller: alice })
  await run.whole()
  const path = `/chat/chat-session/${run.sessionId}/resume-stream`
  const listener = nodeListener(() => ask(path))
  let response: ServerResponse | undefined
  const server = createServer((request, answer) => void listener(request, (response = answer)))
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const [unread] = (await once(
    get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }),
    'response',
  )) as [IncomingMessage]
  // The system takes some megabytes before anything waits.
  let lengths: (number | undefined)[] = []
  const isStuck = (): boolean => {
    lengths = [...lengths.slice(-4), response?.writableLength]
    return lengths.length === 5 && lengths[0] !== 0 && new Set(lengths).size === 1
  }
  await expect.poll(isStuck, { timeout: 30_000, interval: 100 }).toBe(true)
  expect(response?.writableLength).toBeLessThan(30_000)
  expect(await text(unread)).toBe(await (await ask(path)).text())
})
