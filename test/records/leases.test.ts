import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createTables, holdJob, jobLeaseTable, whileHeld, whileRenewed } from '@inlay/records'
import { Kysely, type KyselyPlugin, type QueryId } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newGate } from '../gate.ts'

/** Holds back the second look at the holder, which begins the first renewal, and counts the leases written. */
function slowRenewal(): { plugin: KyselyPlugin; begun: Promise<void>; end: () => void; written: () => number } {
  const kinds = new WeakMap<QueryId, string>()
  const gate = newGate()
  let looks = 0
  let written = 0
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      kinds.set(queryId, node.kind)
      return node
    },
    async transformResult({ queryId, result }) {
      const kind = kinds.get(queryId)
      if (kind === 'InsertQueryNode') written += 1
      if (kind === 'SelectQueryNode' && ++looks === 2) await gate.pass()
      return result
    },
  }
  return { plugin, begun: gate.reached, end: gate.open, written: () => written }
}

test('a renewal under way at the release does not take the lease again', async () => {
  const renewal = slowRenewal()
  const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: nodeSqlite({ file: ':memory:' }) })
  onTestFinished(() => db.destroy())
  await createTables(db, jobLeaseTable)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())

  const onError = vi.fn<(error: unknown) => void>()
  const lease = { job: 'upkeep', owner: 'first', now: () => 1000, onError }
  const done = whileHeld(db.withPlugin(renewal.plugin), lease, async () => {
    vi.advanceTimersByTime(4000)
    await renewal.begun
  })
  // Without waiting for the renewal, the release would end in these turns.
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  renewal.end()
  expect(await done).toBe(true)
  await vi.waitFor(() => expect(renewal.written()).toBe(2), 10_000)

  expect(await holdJob(db, { job: 'upkeep', owner: 'second', now: 1000, leaseMs: 1000 })).toBe(true)
  expect(onError).not.toHaveBeenCalled()
})

/** Leases that are renewed when a test moves the timers. */
async function newLeases() {
  const db = new Kysely<Record<string, Record<string, unknown>>>({ dialect: nodeSqlite({ file: ':memory:' }) })
  onTestFinished(() => db.destroy())
  await createTables(db, jobLeaseTable)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const clock = { time: 1000 }
  const onError = vi.fn<(error: unknown) => void>()
  const lease = { job: 'upkeep', owner: 'first', now: () => clock.time, onError }
  const hold = (owner: string): Promise<boolean> =>
    holdJob(db, { job: 'upkeep', owner, now: clock.time, leaseMs: 10_000 })
  return { db, clock, onError, lease, hold }
}

test('who loses a job to another process is told so, and leaves it the lease', async () => {
  const { db, clock, onError, lease, hold } = await newLeases()
  let reason: unknown
  const done = whileHeld(db, lease, async (signal) => {
    clock.time += 60_000
    expect(await hold('second')).toBe(true)
    vi.advanceTimersByTime(4000)
    for (let turn = 0; turn < 50 && !signal.aborted; turn++) await new Promise((resolve) => setImmediate(resolve))
    reason = signal.reason
    signal.throwIfAborted()
  })
  expect(await done).toBe(false)
  expect(reason).toMatchObject({ code: 'CLOSED', retryable: true })
  expect([await hold('third'), await hold('second')]).toEqual([false, true])
  expect(onError).not.toHaveBeenCalled()
})

test('work does not begin while another process holds its job, and its own failure gives the job back', async () => {
  const { db, lease, hold } = await newLeases()
  const fail = vi.fn<() => Promise<void>>().mockRejectedValue(new Error('the disk is full'))
  await expect(whileHeld(db, lease, fail)).rejects.toThrow('the disk is full')
  expect(await hold('second')).toBe(true)
  expect(await whileHeld(db, lease, fail)).toBe(false)
  expect(fail).toHaveBeenCalledTimes(1)
})

test('work ends early when its lease is lost or its process closes, and its lease is not renewed from then on', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const untilAborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const onError = vi.fn<(error: unknown) => void>()
  const renew = vi
    .fn<() => Promise<boolean>>()
    .mockRejectedValueOnce(new Error('the database is away'))
    .mockResolvedValueOnce(true)
    .mockResolvedValue(false)
  const lost = whileRenewed({ renew, everyMs: 10, onError }, untilAborted)
  const isLost = expect(lost).rejects.toMatchObject({ code: 'CLOSED', retryable: true })
  for (const turn of [1, 2, 3]) {
    vi.advanceTimersByTime(10)
    expect(renew).toHaveBeenCalledTimes(turn)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await isLost
  vi.advanceTimersByTime(100)
  expect(renew).toHaveBeenCalledTimes(3)
  expect(onError.mock.calls).toEqual([[expect.objectContaining({ message: 'the database is away' })]])

  const closing = new AbortController()
  const closed = whileRenewed({ renew, everyMs: 10, signal: closing.signal, onError }, untilAborted)
  closing.abort(new Error('closing'))
  await expect(closed).rejects.toThrow('closing')
  await expect(whileRenewed({ renew, everyMs: 10, signal: closing.signal, onError }, untilAborted)).rejects.toThrow(
    'closing',
  )
})
