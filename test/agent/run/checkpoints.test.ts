import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createCheckpoints } from '@inlay/agent/internal/run/checkpoints'

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

function newCheckpoints() {
  const stored: string[][] = []
  const checkpoints = createCheckpoints({
    conversations: {
      checkpoint: async (answers) => void stored.push(answers.map(({ answerId, text }) => `${answerId} ${text}`)),
    },
    now: Date.now,
    onError: (error) => {
      throw error
    },
  })
  return { stored, checkpoints }
}

test('stores what grew, all answers in one go, and a silent answer now and then as a sign of life', async () => {
  const { stored, checkpoints } = newCheckpoints()
  let first = ''
  checkpoints.track(1, () => first)
  checkpoints.track(2, () => '')
  first = 'Hello'
  await vi.advanceTimersByTimeAsync(1_000)
  await vi.advanceTimersByTimeAsync(3_000)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(stored).toEqual([['1 Hello'], ['2 ']])
})

test('a long answer is stored again only when it grew by a part of itself', async () => {
  const { stored, checkpoints } = newCheckpoints()
  let text = 'x'.repeat(1_000)
  checkpoints.track(1, () => text)
  await vi.advanceTimersByTimeAsync(1_000)
  text += 'x'
  await vi.advanceTimersByTimeAsync(1_000)
  text += 'x'.repeat(100)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(stored.map(([item]) => item?.length)).toEqual([1_002, 1_103])
})

test('nothing ticks once no answer is followed', async () => {
  const { checkpoints } = newCheckpoints()
  const forget = checkpoints.track(1, () => '')
  expect(vi.getTimerCount()).toBe(1)
  forget()
  expect(vi.getTimerCount()).toBe(0)
})

test('while the database is slow, nothing more is sent to it', async () => {
  let calls = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const checkpoint = (): Promise<void> => (calls++, promise)
  const checkpoints = createCheckpoints({
    conversations: { checkpoint },
    now: Date.now,
    onError: (error) => expect.unreachable(String(error)),
  })
  let text = 'x'
  checkpoints.track(1, () => (text += text))
  await vi.advanceTimersByTimeAsync(4_000)
  expect(calls).toBe(1)
  resolve()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(calls).toBe(2)
  checkpoints.close()
})
