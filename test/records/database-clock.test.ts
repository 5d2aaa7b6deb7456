import { createDatabaseClock } from '@inlay/records/internal/database-clock'
import { expect, onTestFinished, test } from 'vitest'

/** A machine whose clock is wrong by `wrongMs`, and a database that takes `tripMs` for an answer. */
async function machine(wrongMs: number, tripMs = 0) {
  const state = { elapsed: 1_000, wrongMs, tripMs, reads: 0, fails: false, sleptMs: 0, before: 0, after: 0 }
  const trueTime = (): number => 1_800_000_000_000 + state.elapsed + state.sleptMs
  const clock = await createDatabaseClock({
    read: async () => {
      state.reads++
      if (state.fails) throw new Error('the database is away')
      state.elapsed += state.tripMs / 2 + state.before
      const time = trueTime()
      state.elapsed += state.tripMs / 2 + state.after
      return time
    },
    elapsed: () => state.elapsed,
    wall: () => trueTime() + state.wrongMs,
  })
  onTestFinished(() => clock.close())
  return { state, clock, trueTime }
}

test.each([300_000, -300_000, 0])('a machine that is %i ms ahead has the time of the database', async (wrongMs) => {
  const { state, clock, trueTime } = await machine(wrongMs, 40)
  expect(clock.now()).toBe(trueTime())
  state.elapsed += 30_000
  expect(clock.now()).toBe(trueTime())
  expect(state.reads).toBe(1)
})

test('a clock that is set, and a machine that slept, are noticed', async () => {
  const { state, clock, trueTime } = await machine(300_000)
  state.wrongMs = 0
  clock.now()
  await expect.poll(() => state.reads).toBe(2)
  expect(clock.now()).toBe(trueTime())
  clock.now()
  expect(state.reads).toBe(2)
})

test('while the database is away, or slow, the clock goes on as it was set', async () => {
  const { state, clock, trueTime } = await machine(-60_000)
  state.fails = true
  state.wrongMs = 0
  expect(clock.now()).toBe(trueTime())
  await expect.poll(() => state.reads).toBe(2)
  state.elapsed += 1_000
  expect(clock.now()).toBe(trueTime())
  Object.assign(state, { fails: false, tripMs: 8_000, wrongMs: 5_000 })
  await expect
    .poll(() => {
      clock.now()
      return state.reads
    })
    .toBe(3)
  expect(clock.now()).toBe(trueTime())
})

test('a machine that slept has the time again, also by a slow answer, and as closely as that tells', async () => {
  const { state, clock, trueTime } = await machine(0)
  const hour = 3_600_000
  // Its clock went on meanwhile, what only goes forward did not.
  const slept = { asOf: trueTime() }
  Object.assign(state, { sleptMs: hour, tripMs: 2_000 })
  clock.now()
  await expect.poll(() => Math.abs(clock.now() - trueTime())).toBeLessThanOrEqual(2_000)
  expect(trueTime() - slept.asOf).toBe(hour + 2_000)
})

test('slow answers do not move a clock that is right', async () => {
  const { state, clock, trueTime } = await machine(0)
  for (const [before, after] of [
    [400, 0],
    [0, 400],
  ] as const) {
    Object.assign(state, { before, after, wrongMs: state.wrongMs + 1_000 })
    const { reads } = state
    await expect
      .poll(() => {
        clock.now()
        return state.reads
      })
      .toBeGreaterThan(reads)
    expect(clock.now()).toBe(trueTime())
  }
})
