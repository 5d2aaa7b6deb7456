import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeListener } from 'inlay'
import { expect, test } from 'vitest'
import type { LiveRun } from '@inlay/agent/internal/run/live-runs'
import { eventually } from '../agent/setting.ts'
import { newService } from './conversation.ts'
import { alice, apiBase } from './fakes.ts'
import { cases } from '../cases.ts'

const readers = cases(50, 1_000)

/** A timer that counts those that are still to ring. */
function countedTimer() {
  let open = 0
  const timer = (_delayMs: number, _callback: () => void): (() => void) => {
    open++
    let isOpen = true
    return () => {
      if (isOpen) open--
      isOpen = false
    }
  }
  return { timer, open: () => open }
}

test('readers that leave a running answer leave nothing behind', async () => {
  const { timer, open } = countedTimer()
  const { ask, setting } = await newService([['So far', { hang: true }]], {}, { timer })
  // `send` returns the run itself.
  const run = (await setting.send({}, { caller: alice })) as LiveRun
  for await (const entries of run.read()) if (entries.some(({ json }) => json.includes('So far'))) break
  const path = `/chat/chat-session/${run.sessionId}/resume-stream`
  for (let count = 0; count < readers; count++) {
    const reader = (await ask(path)).body?.getReader()
    let text = ''
    while (!text.includes('So far')) text += new TextDecoder().decode((await reader?.read())?.value)
    if (count % 2 === 0) {
      // Half of them leave while they wait for more.
      const more = reader?.read()
      await new Promise((resolve) => setImmediate(resolve))
      expect(run.log.tailing).toBe(1)
      await reader?.cancel()
      await more
    } else await reader?.cancel()
    expect([run.log.tailing, open()]).toEqual([0, 0])
  }
  expect(run.finished).toBe(false)
  expect(setting.errors).toEqual([])
})

test('clients that send and hang up leave their answers whole, and no handle', async () => {
  const { server, setting } = await newService(() => ['One ', 'two ', 'three.'])
  const http = createServer(nodeListener(server.fetch)).listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  const address = `http://127.0.0.1:${(http.address() as AddressInfo).port}${new URL(apiBase).pathname}`
  const before = process.getActiveResourcesInfo().filter((name) => name !== 'Immediate').length
  const sessions: string[] = []
  const hangUp = async (): Promise<void> => {
    const leaving = new AbortController()
    const response = await fetch(`${address}/chat/send-chat-message`, {
      method: 'POST',
      headers: { authorization: 'Bearer key-alice' },
      body: '{"message":"Hi"}',
      signal: leaving.signal,
    })
    let text = ''
    const reader = response.body?.getReader()
    while (!text.includes('chat_session_id')) {
      const piece = await reader?.read()
      if (!piece || piece.done) throw new Error(`no answer began: ${response.status} ${text}`)
      text += new TextDecoder().decode(piece.value)
    }
    sessions.push(/"chat_session_id":"([^"]+)"/.exec(text)?.[1] ?? '')
    leaving.abort()
  }
  for (let count = 0; count < readers; count += 50) await Promise.all(Array.from({ length: 50 }, hangUp))
  http.closeAllConnections()
  await new Promise((resolve) => http.close(resolve))
  const settled = async (id: string) => (await setting.agent.sessions.get(id, alice)).messages.at(-1)?.text
  await eventually(async () => (await settled(sessions.at(-1) ?? '')) === 'One two three.')
  expect(new Set(await Promise.all(sessions.map(settled)))).toEqual(new Set(['One two three.']))
  // Sockets close in their own time.
  await eventually(() => process.getActiveResourcesInfo().filter((name) => name !== 'Immediate').length <= before)
})
