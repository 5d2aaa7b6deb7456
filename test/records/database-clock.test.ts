import { createDatabaseClock } from '@inlay/records/internal/database-clock'
import { expect, onTestFinished, test, vi } from 'vitest'

/** A machine whose clock is wrong by `wrongMs`, and a database that takes `tripMs` for an answer. */
async function machine(wrongMs: number, tripMs = 0) {
  const state = { elapsed: 1_000, wrongMs, tripMs, reads: 0, fails: false }
  const trueTime = (): number => 1_800_000_000_000 + state.elapsed
  const clock = await createDatabaseClock({
    read: async () => {
      state.reads++
      if (state.fails) throw new Error('the database is away')
      state.elapsed += state.tripMs / 2
      const time = trueTime()
      state.elapsed += state.tripMs / 2
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
  await vi.waitFor(() => expect(state.reads).toBe(2))
  expect(clock.now()).toBe(trueTime())
  clock.now()
  expect(state.reads).toBe(2)
})

test('while the database is away, or slow, the clock goes on as it was set', async () => {
  const { state, clock, trueTime } = await machine(-60_000)
  state.fails = true
  state.wrongMs = 0
  expect(clock.now()).toBe(trueTime())
  await vi.waitFor(() => expect(state.reads).toBe(2))
  state.elapsed += 1_000
  expect(clock.now()).toBe(trueTime())
  Object.assign(state, { fails: false, tripMs: 8_000, wrongMs: 5_000 })
  await vi.waitFor(() => {
    clock.now()
    expect(state.reads).toBe(3)
  })
  expect(clock.now()).toBe(trueTime())
})
