import { expect, test } from 'vitest'
import { eventually } from '../../agent/setting.ts'
import { failureOf } from '@inlay/drivers/internal/mcp/messages'
import type { McpSession } from '@inlay/drivers/internal/mcp/session'
import { createMcpSessions } from '@inlay/drivers/internal/mcp/sessions'

/** Sessions that tell when they are opened and closed. */
function opener() {
  const log: string[] = []
  let count = 0
  const open = async (): Promise<McpSession> => {
    const name = `s${++count}`
    log.push(`open ${name}`)
    return {
      list: async () => [],
      call: async () => ({ content: [], structured: name, isError: false }),
      close: async () => void log.push(`close ${name}`),
    }
  }
  return { log, open }
}
const nameOf = async (session: McpSession): Promise<unknown> =>
  (await session.call({ name: 'x', inputSchema: {} }, {}, new AbortController().signal)).structured

test('a key keeps its session, another key has another', async () => {
  const { log, open } = opener()
  const sessions = createMcpSessions({ now: () => 0 })
  expect(await Promise.all([sessions.use('a', open, nameOf), sessions.use('a', open, nameOf)])).toEqual(['s1', 's1'])
  expect(await sessions.use('b', open, nameOf)).toBe('s2')
  expect(await sessions.use('a', open, nameOf)).toBe('s1')
  await sessions.close()
  expect(log.toSorted()).toEqual(['close s1', 'close s2', 'open s1', 'open s2'])
})

test('idle sessions end, also when nobody calls any more; the one used longest ago makes room', async () => {
  const { log, open } = opener()
  const clock = { time: 0 }
  const sessions = createMcpSessions({ now: () => clock.time, idleMs: 10, most: 2 })
  await sessions.use('a', open, nameOf)
  await sessions.use('b', open, nameOf)
  await sessions.use('a', open, nameOf)
  await sessions.use('c', open, nameOf)
  await eventually(() => log.includes('close s2'))
  expect(log).not.toContain('close s1')
  clock.time = 10
  await eventually(() => log.includes('close s1') && log.includes('close s3'))
  await sessions.close()
})

test('a session in use does not end', async () => {
  const { log, open } = opener()
  const clock = { time: 0 }
  const sessions = createMcpSessions({ now: () => clock.time, idleMs: 10 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const working = sessions.use('a', open, () => promise)
  clock.time = 1_000
  await sessions.use('b', open, nameOf)
  expect(log).toEqual(['open s1', 'open s2'])
  resolve()
  await working
  await sessions.close()
})

test('one that the server forgot is opened anew once, and one that cannot be opened is not kept', async () => {
  const { log, open } = opener()
  const sessions = createMcpSessions({ now: () => 0 })
  const forgotten = failureOf(404, true)
  await expect(sessions.use('a', open, () => Promise.reject(forgotten))).rejects.toBe(forgotten)
  expect(log.filter((line) => line.startsWith('open'))).toHaveLength(2)
  await expect(sessions.use('b', () => Promise.reject(new Error('no')), nameOf)).rejects.toThrow('no')
  expect(await sessions.use('b', open, nameOf)).toBe('s3')
  await sessions.close()
})
