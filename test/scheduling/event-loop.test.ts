import { createForegroundCalls, createPace, createSlices, mapConcurrent, yieldToEventLoop } from '@inlay/scheduling'
import { expect, test } from 'vitest'

test('between two slices of long work the event loop turns several times', async () => {
  const slices = createSlices()
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  while (!slices.isOver());
  expect(turns).toBe(0)
  await slices.next()
  isOver = true
  expect(turns).toBeGreaterThanOrEqual(5)
  expect(slices.isOver()).toBe(false)
})

test('of many callers at once a few begin in each pass of the event loop, in their order', async () => {
  const enter = createPace(3)
  let passes = 0
  const pass = (): void => void (passes++, passes < 10 && setImmediate(pass))
  setImmediate(pass)
  const entered = await Promise.all([...'abcdefg'].map(async (name) => enter().then(() => `${name} ${passes}`)))
  expect(entered).toEqual(['a 0', 'b 0', 'c 0', 'd 1', 'e 1', 'f 1', 'g 2'])
  // Work that began long ago delays nobody.
  while (passes < 10) await yieldToEventLoop()
  await Promise.all([enter(), enter(), enter()].map((own) => Promise.race([own, Promise.reject(new Error('waits'))])))
})

test('two works take their slices one after the other', async () => {
  const order: string[] = []
  const work = async (name: string): Promise<void> => {
    const slices = createSlices()
    for (let part = 0; part < 3; part++) {
      await slices.next()
      order.push(name)
    }
  }
  await Promise.all([work('a'), work('b')])
  expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
})

test('long work yields to calls that somebody waits for, for its share of the time', async () => {
  let time = 0
  let looks = 0
  let isAwaited = true
  const foreground = createForegroundCalls(() => time)
  const end = foreground.add(() => {
    time += 5
    looks++
    return isAwaited
  })
  await foreground.yieldTo()
  // It saved up 60 ms, and waiting costs three tenths of the time.
  expect(time).toBe(200)
  await foreground.yieldTo()
  expect(time).toBe(200)
  time += 1000
  isAwaited = false
  looks = 0
  await foreground.yieldTo()
  expect(looks).toBe(1)
  isAwaited = true
  end()
  await foreground.yieldTo()
  expect(looks).toBe(1)
})

test('results come in the order of the items, at most so many under way at a time', async () => {
  let [running, highest] = [0, 0]
  const double = async (item: number): Promise<number> => {
    highest = Math.max(highest, ++running)
    for (let turn = item; turn < 6; turn++) await yieldToEventLoop()
    running--
    return 2 * item
  }
  expect(await mapConcurrent([1, 2, 3, 4, 5], 2, double)).toEqual([2, 4, 6, 8, 10])
  expect(highest).toBe(2)
})

test('after a failure no further item is begun, and the failure is the first one', async () => {
  const begun: number[] = []
  const gates = Array.from({ length: 6 }, () => Promise.withResolvers<void>())
  const work = async (item: number): Promise<void> => {
    begun.push(item)
    await gates[item]!.promise
  }
  const all = mapConcurrent([0, 1, 2, 3, 4, 5], 2, work)
  gates[0]!.reject(new Error('first'))
  await expect(all).rejects.toThrow('first')
  // The other one ends well, and would go on with the next.
  for (const gate of gates.slice(1)) gate.resolve()
  await yieldToEventLoop()
  await yieldToEventLoop()
  expect(begun).toEqual([0, 1])
})
