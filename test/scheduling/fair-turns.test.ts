import { createFairTurns, yieldToEventLoop, type FairTurns } from '@inlay/scheduling'
import { expect, test } from 'vitest'

/** Enters without waiting for it, and notes the name once inside. */
function arrivals(turns: FairTurns): {
  readonly inside: string[]
  come(caller: string, signal?: AbortSignal): { readonly place: Promise<() => void> }
} {
  const inside: string[] = []
  return {
    inside,
    come: (caller, signal) => {
      const place = turns.enter(caller, signal)
      place.then(
        () => inside.push(caller),
        () => {},
      )
      return { place }
    },
  }
}

test('somebody alone may have all places', async () => {
  const { inside, come } = arrivals(createFairTurns({ limit: 5, limitPerCaller: 2 }))
  for (let count = 0; count < 8; count++) come('ana')
  await yieldToEventLoop()
  expect(inside).toHaveLength(5)
})

test('beside another, a caller begins no more than its share', async () => {
  const { inside, come } = arrivals(createFairTurns({ limit: Infinity, limitPerCaller: 2 }))
  const ben = come('ben')
  const [first, ...others] = Array.from({ length: 5 }, () => come('ana'))
  await yieldToEventLoop()
  expect(inside).toEqual(['ben', 'ana', 'ana'])
  ;(await ben.place)()
  await yieldToEventLoop()
  expect(inside).toHaveLength(3)
  const leave = await first!.place
  leave()
  // A place is given back once.
  leave()
  await yieldToEventLoop()
  expect(inside).toEqual(['ben', 'ana', 'ana', 'ana'])
  come('ben')
  await yieldToEventLoop()
  expect(inside.at(-1)).toBe('ben')
  for (const { place } of others.slice(0, 2)) (await place)()
  await yieldToEventLoop()
  expect(inside.filter((name) => name === 'ana')).toHaveLength(5)
})

test('free places go round the callers who wait', async () => {
  const { inside, come } = arrivals(createFairTurns({ limit: 1, limitPerCaller: 1 }))
  const places = ['ana', 'ana', 'ana', 'ben', 'ben', 'cleo'].map((name) => come(name).place)
  await yieldToEventLoop()
  expect(inside).toEqual(['ana'])
  for (const place of places) void place.then((leave) => leave())
  await Promise.all(places)
  await yieldToEventLoop()
  expect(inside).toEqual(['ana', 'ana', 'ben', 'cleo', 'ana', 'ben'])
})

test('whoever leaves while waiting takes no place', async () => {
  const { inside, come } = arrivals(createFairTurns({ limit: 1, limitPerCaller: 1 }))
  const first = come('ana')
  const leaving = new AbortController()
  const gone = come('ben', leaving.signal)
  come('cleo')
  leaving.abort(new Error('gone'))
  await expect(gone.place).rejects.toThrow('gone')
  ;(await first.place)()
  await yieldToEventLoop()
  expect(inside).toEqual(['ana', 'cleo'])
})

test('a caller that has left already gets no turn', async () => {
  const turns = createFairTurns({ limit: 1, limitPerCaller: 1 })
  await expect(turns.enter('ana', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  const leave = await turns.enter('ben')
  leave()
})

test('whoever comes out of a queue gives way to others who hold a place, for a share of the time', async () => {
  let time = 0
  const { inside, come } = arrivals(
    createFairTurns({ limit: Infinity, limitPerCaller: 1, yieldsToUnqueued: true, clock: { now: () => time } }),
  )
  const ben = come('ben')
  const [first, second, third] = Array.from({ length: 3 }, () => come('ana'))
  ;(await first!.place)()
  await yieldToEventLoop()
  expect(inside).toEqual(['ben', 'ana'])
  ;(await ben.place)()
  const leave = await second!.place
  // Callers that never leave do not delay others for long.
  come('ben')
  leave()
  await yieldToEventLoop()
  expect(inside).toEqual(['ben', 'ana', 'ana', 'ben'])
  time += 1000
  await third!.place
  expect(inside).toEqual(['ben', 'ana', 'ana', 'ben', 'ana'])
})

test('a caller that leaves while it gives way to others gives its place back', async () => {
  const { inside, come } = arrivals(
    createFairTurns({ limit: Infinity, limitPerCaller: 1, yieldsToUnqueued: true, clock: { now: () => 0 } }),
  )
  come('ben')
  const first = come('ana')
  const leaving = new AbortController()
  const second = come('ana', leaving.signal)
  ;(await first.place)()
  leaving.abort(new Error('gone'))
  await expect(second.place).rejects.toThrow('gone')
  come('ana')
  await yieldToEventLoop()
  expect(inside).toEqual(['ben', 'ana', 'ana'])
})

test('once a caller is alone again, a new call lets those in that wait', async () => {
  let time = 0
  const { inside, come } = arrivals(createFairTurns({ limit: 5, limitPerCaller: 1, clock: { now: () => time } }))
  come('ben')
  come('ana')
  come('ana')
  await yieldToEventLoop()
  expect(inside).toEqual(['ben', 'ana'])
  time += 10_001
  come('ana')
  await yieldToEventLoop()
  expect(inside).toEqual(['ben', 'ana', 'ana', 'ana'])
})
