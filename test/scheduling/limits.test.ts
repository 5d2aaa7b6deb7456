import { createCallerLimit, createLimiter, untilAborted, yieldToEventLoop } from '@inlay/scheduling'
import { expect, test } from 'vitest'

test('a call that leaves the queue of a limiter gives its place in it to the next', async () => {
  const limiter = createLimiter(1)
  const gate = Promise.withResolvers<void>()
  const first = limiter.run(() => gate.promise)
  const leaving = new AbortController()
  const gone = limiter.run(() => expect.unreachable('it has left'), leaving.signal)
  const last = limiter.run(async () => 'done')
  leaving.abort(new Error('gone'))
  await expect(gone).rejects.toThrow('gone')
  expect(limiter.size).toBe(2)
  gate.resolve()
  await first
  expect(await last).toBe('done')
  expect(limiter.size).toBe(0)
})

test('a caller has as many calls under way as it may, each caller for itself', () => {
  const limit = createCallerLimit(2)
  const [first, second] = [limit.enter('ana'), limit.enter('ana')]
  expect([first, second, limit.enter('ana'), limit.enter('ben')]).toEqual([
    expect.any(Function),
    expect.any(Function),
    undefined,
    expect.any(Function),
  ])
  first!()
  expect(limit.enter('ana')).toBeDefined()
})

test('work that never ends is left at once where the signal has aborted before', async () => {
  const left = untilAborted(new Promise(() => {}), AbortSignal.abort(new Error('gone'))).catch(
    (error: Error) => error.message,
  )
  expect(await Promise.race([left, yieldToEventLoop().then(() => 'still waiting')])).toBe('gone')
})
