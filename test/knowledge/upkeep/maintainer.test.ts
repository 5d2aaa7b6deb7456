import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { readRetired, retire } from '@inlay/knowledge/internal/queue/claims'
import { createMaintainer, type Maintainer, type MaintainerContext } from '@inlay/knowledge/internal/upkeep/maintainer'
import { openOnUse } from '@inlay/knowledge/internal/reindexing/index-space'
import { UpkeepSchedule } from '@inlay/knowledge/internal/upkeep/maintainer'
import { memoryIndex, type MemoryIndex } from '../memory-index.ts'
import { makeRecords } from '../setup.ts'
import { row as sampleRow } from '../../drivers/lancedb/sample-rows.ts'

const row = sampleRow('a', '')

async function make(
  options: Partial<Omit<MaintainerContext, 'index'>> & { index?: MemoryIndex } = {},
): Promise<{ maintainer: Maintainer; index: MemoryIndex; context: MaintainerContext }> {
  const index = options.index ?? memoryIndex()
  const context: MaintainerContext = {
    db: await makeRecords(),
    owner: 'me',
    now: () => 0,
    at: () => {},
    onError: () => {},
    ...options,
    index: openOnUse(index),
  }
  return { maintainer: createMaintainer(context), index, context }
}

describe('upkeep', () => {
  test('removes what nobody can see, and nothing else', async () => {
    const { maintainer, index, context } = await make()
    await index.append(['dead', 'shown', 'dead too'].map((generation) => ({ ...row, generation })))
    await retire(context.db, { generations: ['dead', 'never written'], chunkCount: 1 })
    await retire(context.db, { generations: ['dead too'], chunkCount: 1 })
    expect(await maintainer.runOnce()).toBe(true)
    expect(index.store.rows.map(({ generation }) => generation)).toEqual(['shown'])
    expect(await readRetired(context.db, 10)).toEqual({ ids: [], generations: [] })
  })

  test('that ends between removing and forgetting removes again the next time', async () => {
    let ends = true
    const { maintainer, context } = await make({
      at: () => {
        if (ends) throw new Error('the process ended')
      },
    })
    await retire(context.db, { generations: ['dead'], chunkCount: 1 })
    await expect(maintainer.runOnce()).rejects.toThrow('ended')
    expect((await readRetired(context.db, 10)).generations).toEqual(['dead'])
    ends = false
    expect(await maintainer.runOnce()).toBe(true)
    expect((await readRetired(context.db, 10)).generations).toEqual([])
  })

  test('is done by one process at a time, and by another once the first is gone', async () => {
    const gate = Promise.withResolvers<void>()
    const clock = { now: 0 }
    const db = await makeRecords()
    const first = await make({ db, now: () => clock.now, at: () => gate.promise })
    const second = await make({ db, owner: 'other', now: () => clock.now })
    await retire(db, { generations: ['dead'], chunkCount: 1 })
    const running = first.maintainer.runOnce()
    await expect.poll(() => db.selectFrom('inlay_job_leases').selectAll().execute()).toHaveLength(1)
    expect(await second.maintainer.runOnce()).toBe(false)
    clock.now += 10_001
    expect(await second.maintainer.runOnce()).toBe(true)
    gate.resolve()
    await running
    expect(await second.maintainer.runOnce()).toBe(true)
  })

  test('stops in a process that another one has taken it over from', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const begun = Promise.withResolvers<void>()
    const maintain: MemoryIndex['maintain'] = (how) => {
      begun.resolve()
      return new Promise((_, reject) => {
        how?.signal?.addEventListener('abort', () => reject(how.signal?.reason))
      })
    }
    const { maintainer, context } = await make({ index: { ...memoryIndex(), maintain } })
    maintainer.noteAppend(1)
    const running = maintainer.runOnce()
    await begun.promise
    const lease = { owner: 'other', lease_until: 10_000 }
    await context.db.updateTable('inlay_job_leases').set(lease).execute()
    vi.advanceTimersByTime(4000)
    expect(await running).toBe(false)
    expect(await context.db.selectFrom('inlay_job_leases').selectAll().execute()).toEqual([
      { job: 'maintain', ...lease },
    ])
  })

  test('is not held up by a process known to be gone', async () => {
    const db = await makeRecords()
    const gone = await make({ db, owner: 'gone', at: () => new Promise(() => {}) })
    const other = await make({ db, isGone: (owner) => owner === 'gone' })
    await retire(db, { generations: ['dead'], chunkCount: 1 })
    void gone.maintainer.runOnce()
    await expect.poll(() => db.selectFrom('inlay_job_leases').selectAll().execute()).toHaveLength(1)
    expect(await other.maintainer.runOnce()).toBe(true)
  })

  test('is followed by two more rounds when old versions have aged, then rests', async () => {
    const store = { ...memoryIndex(), keepVersionsMs: 20 }
    const { maintainer, index } = await make({ index: store })
    await index.append([{ ...row, generation: 'shown' }])
    maintainer.noteAppend(1)
    maintainer.start()
    onTestFinished(() => maintainer.close())
    await expect.poll(() => index.store.maintained, { timeout: 60_000 }).toBe(3)
  })

  test('removes rows at once while writes go on, before the next round', async () => {
    const { maintainer, index, context } = await make()
    maintainer.start()
    onTestFinished(() => maintainer.close())
    await index.append(['dead', 'shown'].map((generation) => ({ ...row, generation })))
    const writes = setInterval(() => maintainer.noteAppend(1), 5)
    onTestFinished(() => clearInterval(writes))
    await expect.poll(() => context.db.selectFrom('inlay_job_leases').selectAll().execute()).toHaveLength(0)
    maintainer.noteAppend(1)
    await retire(context.db, { generations: ['dead'], chunkCount: 1 })
    maintainer.noteRemoval()
    await expect.poll(() => index.store.rows.map(({ generation }) => generation)).toEqual(['shown'])
    expect(index.store.maintained).toBe(0)
  })

  test('leaves an index alone that nobody used', async () => {
    const { maintainer, index } = await make()
    await maintainer.runOnce({ idle: true })
    expect(index.store.maintained).toBe(0)
  })
})

describe('upkeep is due', () => {
  const figures = { rows: 1000, unindexedRows: 0 }

  test('once when idle after a start, then not until something happens', async () => {
    const schedule = new UpkeepSchedule(() => 10_000)
    expect(schedule.due()).toEqual({ idle: true })
    schedule.startRound()
    schedule.endRound({ figures, dueMs: Infinity })
    expect(schedule.due()).toBeUndefined()
    expect(schedule.restMs()).toBeGreaterThan(1000)
  })

  test('a second after the last write, and once more when old versions have aged', async () => {
    const clock = { now: 10_000 }
    const onSooner = vi.fn()
    const schedule = new UpkeepSchedule(() => clock.now, onSooner)
    schedule.startRound()
    schedule.noteAppend(1)
    expect(onSooner).toHaveBeenCalledOnce()
    expect(schedule.due()).toBeUndefined()
    expect(schedule.restMs()).toBe(1000)
    clock.now += 1000
    expect(schedule.due()).toEqual({ idle: true })
    expect(schedule.startRound()).toBe(true)
    schedule.endRound({ figures, dueMs: 30_000 })
    expect(schedule.due()).toBeUndefined()
    expect(schedule.restMs()).toBe(30_000)
    clock.now += 30_000
    expect(schedule.due()).toEqual({ idle: true })
  })

  test.each([
    ['a hundred commits', (note: (rows: number) => void) => Array.from({ length: 100 }, () => note(1))],
    ['more fresh rows than search can bear', (note: (rows: number) => void) => note(1001)],
  ])('at once after %s, however busy it is', async (_, write) => {
    const onSooner = vi.fn()
    const schedule = new UpkeepSchedule(() => 10_000, onSooner)
    schedule.startRound()
    schedule.noteAppend(0)
    expect(schedule.due()).toBeUndefined()
    onSooner.mockClear()
    write(schedule.noteAppend)
    expect(onSooner).toHaveBeenCalled()
    expect(schedule.due()).toEqual({ idle: false })
    expect(schedule.restMs()).toBe(0)
  })

  test('again only after a rest four times as long as the last round, unless it is idle', async () => {
    const clock = { now: 10_000 }
    const schedule = new UpkeepSchedule(() => clock.now)
    const write = (): void => void schedule.noteAppend(55)
    schedule.startRound()
    clock.now += 500
    schedule.endRound({ figures, dueMs: 0 })
    for (let ms = 0; ms < 2000; ms += 100) {
      write()
      expect(schedule.due()).toBeUndefined()
      clock.now += 100
    }
    write()
    expect(schedule.due()).toEqual({ idle: false })
  })

  test('five seconds after a flood began, or a second after its end', async () => {
    const clock = { now: 10_000 }
    const schedule = new UpkeepSchedule(() => clock.now)
    schedule.startRound()
    const begun = clock.now
    for (; clock.now < begun + 5000; clock.now += 100) {
      schedule.noteAppend(2500)
      expect(schedule.due()).toBeUndefined()
      expect(schedule.restMs()).toBeGreaterThan(0)
    }
    expect(schedule.due()).toEqual({ idle: false })
    schedule.startRound()
    schedule.endRound({ figures, dueMs: Infinity })
    schedule.noteAppend(2500)
    expect(schedule.due()).toBeUndefined()
    clock.now += 1000
    expect(schedule.due()).toEqual({ idle: true })
  })

  test('at once for rows that became invisible, then after a rest nine times as long as their removal', () => {
    const clock = { now: 10_000 }
    const onSooner = vi.fn()
    const schedule = new UpkeepSchedule(() => clock.now, onSooner)
    schedule.startRound()
    schedule.endRound({ figures, dueMs: Infinity })
    schedule.noteRemoval()
    expect(onSooner).toHaveBeenCalled()
    expect(schedule.restMs()).toBe(0)
    expect(schedule.due()).toEqual({ idle: false, onlyRemoves: true })
    schedule.startRemoval()
    schedule.noteRemoval()
    clock.now += 50
    schedule.endRemoval()
    expect(schedule.due()).toBeUndefined()
    expect(schedule.restMs()).toBe(450)
    clock.now += 450
    expect(schedule.due()).toEqual({ idle: false, onlyRemoves: true })
    schedule.startRemoval()
    schedule.endRemoval()
    expect(schedule.due()).toBeUndefined()
    // The index is still compacted when it is idle.
    clock.now += 1000
    expect(schedule.due()).toEqual({ idle: true })
  })
})
