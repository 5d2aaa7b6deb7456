import type { SharedRuns } from '@inlay/agent'
import { createAbandonedLook } from '@inlay/agent/internal/run/abandoned-runs'
import { createAbandonedCheck } from '@inlay/agent/internal/run/checkpoints'
import { expect, onTestFinished, test, vi } from 'vitest'

const leaseMs = 1_000
const unused = async (): Promise<never> => Promise.reject(new Error('not asked for here'))

function fakeTime(): void {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
}

/** Sleeps with its machine: time goes on, timers do not. */
const sleep = (milliseconds: number): void => void vi.setSystemTime(Date.now() + milliseconds)

test('a process that slept does not take the runs of others for abandoned until it was awake for a lease', async () => {
  fakeTime()
  const silences: number[] = []
  // What the look uses of it.
  const shared = {
    takeAbandoned: async (silenceMs: number) => (silences.push(silenceMs), []),
    removeFinished: async () => {},
  } as unknown as SharedRuns
  const look = createAbandonedLook({
    shared,
    conversations: { branch: unused, finish: unused },
    now: Date.now,
    leaseMs,
    resumableMs: 60_000,
    report: async (work) => (await work(), true),
  })
  await look.start()
  await vi.advanceTimersByTimeAsync(leaseMs)
  expect(silences).toEqual([Infinity, Infinity, Infinity, Infinity, leaseMs])
  sleep(60_000)
  await vi.advanceTimersByTimeAsync(leaseMs)
  expect(silences.slice(5)).toEqual([Infinity, Infinity, Infinity, Infinity])
  await vi.advanceTimersByTimeAsync(leaseMs)
  expect(silences.slice(9)).toEqual([leaseMs, leaseMs, leaseMs, leaseMs])
  await look.close()
})

test('nor does it end answers by the silence of their checkpoints', async () => {
  fakeTime()
  const checks: number[] = []
  const began = Date.now()
  const terminate = async (): Promise<number> => (checks.push(Date.now() - began), leaseMs)
  const check = createAbandonedCheck(terminate, { now: Date.now, onError: unused, leaseMs })
  await check.checked()
  await vi.advanceTimersByTimeAsync(leaseMs + 1)
  expect(checks).toEqual([0, leaseMs + 1])
  sleep(60_000)
  await vi.advanceTimersByTimeAsync(leaseMs + 1)
  expect(checks).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(leaseMs)
  expect(checks).toHaveLength(3)
  check.close()
})
