import type { RunStore } from '@inlay/agent'
import { createRuns, type LiveRun } from '@inlay/agent/internal/run/live-runs'
import { createKeyedSends } from '@inlay/agent/internal/turn/idempotency'
import { expect, test, vi } from 'vitest'
import { ana, toRequest } from '../setting.ts'

/** Keyed sends whose starts a test settles one by one. */
function newKeyedSends() {
  const runs = createRuns({ now: () => 0, resumableMs: 60_000, maxRunBytes: 1_000, maxFinishedBytes: 10_000 })
  let stored: { bodyHash: string; messageId: number } | undefined
  const store = {
    find: async () => stored && { ...stored, sessionId: 's', openedSession: true },
  } as unknown as RunStore
  const sends = createKeyedSends({ store, runs, maxRunBytes: 1_000, sharing: undefined })
  const started: PromiseWithResolvers<void>[] = []
  const send = (): Promise<LiveRun> =>
    sends.once('k', toRequest(), ana, async ({ bodyHash }) => {
      const start = Promise.withResolvers<void>()
      started.push(start)
      const messageId = started.length
      await start.promise
      stored = { bodyHash, messageId }
      return runs.open({ sessionId: 's', messageId })
    })
  return { send, started }
}

test('of three sends under one key at once, the third waits for the second after the first failed', async () => {
  const { send, started } = newKeyedSends()
  const outcomes = Promise.allSettled([send(), send(), send()])
  await vi.waitFor(() => expect(started).toHaveLength(1))
  started[0]!.reject(new Error('no model'))
  await vi.waitFor(() => expect(started).toHaveLength(2))
  // The third would start in these turns.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(started).toHaveLength(2)
  started[1]!.resolve()
  const [first, ...others] = await outcomes
  expect(first).toMatchObject({ status: 'rejected', reason: { message: 'no model' } })
  expect(others).toMatchObject([2, 2].map((messageId) => ({ status: 'fulfilled', value: { messageId } })))
  expect(started).toHaveLength(2)
})
