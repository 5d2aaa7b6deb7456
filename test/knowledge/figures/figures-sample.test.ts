import { createFiguresSampler, type StoredSample } from '@inlay/knowledge/internal/figures/figures-sample'
import { createFullDiskNote } from '@inlay/knowledge/internal/figures/full-disk'
import { createReadiness, rebuildOf } from '@inlay/knowledge/internal/figures/readiness'
import { readQueueFigures } from '@inlay/knowledge/internal/queue/queue-status'
import type { IndexSpace } from '@inlay/knowledge/internal/reindexing/index-space'
import { InlayError } from '@inlay/protocol'
import { createMigratingIndex } from '@inlay/knowledge/internal/reindexing/migrating-index'
import { expect, onTestFinished, test, vi } from 'vitest'
import { memoryIndex } from '../memory-index.ts'
import { makeKnowledge, makeRecords, makeWorker, request } from '../setup.ts'

const hourMs = 3_600_000

/** A sampler that has counted once, and a way to have it look again. */
async function sampled() {
  const db = await makeRecords()
  const clock = { now: 10 * hourMs }
  const now = (): number => clock.now
  const index = createMigratingIndex({ db, index: memoryIndex(), now })
  await index.open()
  const onError = (error: unknown): never => {
    throw error
  }
  const sampler = createFiguresSampler({ db, index, owner: 'a', now, onError })
  const look = async () => {
    await sampler.read()
    await sampler.whenIdle()
    return sampler.read()
  }
  await look()
  return { db, clock, look }
}

test('a clock that is set back does not keep old counts', async () => {
  const { db, clock, look } = await sampled()
  const { accept } = await makeWorker({ db })
  await accept(request())
  expect((await look())?.documents.pending).toBe(0)
  clock.now -= hourMs
  expect((await look())?.documents.pending).toBe(1)
})

test('counts that took long are made anew after twenty times as long', async () => {
  const { db, clock, look } = await sampled()
  const { accept } = await makeWorker({ db })
  await accept(request())
  const { figures } = await db.selectFrom('inlay_figures').select('figures').executeTakeFirstOrThrow()
  const slow = JSON.stringify({ ...(JSON.parse(figures) as object), tookMs: 10_000 })
  await db.updateTable('inlay_figures').set({ figures: slow }).execute()
  clock.now += 199_999
  expect((await look())?.documents.pending).toBe(0)
  clock.now += 1
  expect((await look())?.documents.pending).toBe(1)
})

test('a process whose index fails is not ready, however shortly before it was', async () => {
  let isDown = false
  const verified = async (): Promise<void> => {
    if (isDown) throw new Error('down')
  }
  const ready = createReadiness({
    index: { verified, spaces: async () => [], embedder: async () => ({ recorded: undefined }) as never },
    sampler: { read: async () => undefined },
    missing: () => 0,
    unknown: () => 0,
  })
  expect((await ready()).rebuild).toBeUndefined()
  isDown = true
  await expect(ready()).rejects.toThrow('down')
})

test('documents are counted by their phase, and the age is that of the oldest that waits', async () => {
  const { db, clock, accept } = await makeWorker()
  for (const id of ['indexed', 'failed', 'indexing', 'pending', 'newest']) {
    await accept(request({ id }))
    clock.now += 1_000
  }
  const set = (id: string, state: 'indexed' | 'failed' | 'indexing') =>
    db.updateTable('inlay_documents').set({ state }).where('id', '=', id).execute()
  await set('indexed', 'indexed')
  await set('failed', 'failed')
  await set('indexing', 'indexing')
  const { documents, waitingSince } = await readQueueFigures(db)
  expect(documents).toEqual({ pending: 2, indexing: 1, failed: 1, indexed: 1 })
  expect(clock.now - waitingSince!).toBe(2_000)
})

test('a document waits since it is due again, or was accepted if its place in the queue is earlier', async () => {
  const { db, clock, accept } = await makeWorker()
  const acceptedAt = clock.now
  await accept(request({ id: 'a' }))
  const waitsMs = async (): Promise<number> => clock.now - (await readQueueFigures(db)).waitingSince!
  const dueAt = (due_at: number) => db.updateTable('inlay_documents').set({ due_at }).execute()
  await dueAt(acceptedAt - hourMs)
  clock.now += hourMs
  expect(await waitsMs()).toBe(hourMs)
  // As when the index is built again.
  await dueAt(clock.now)
  clock.now += 3_000
  expect(await waitsMs()).toBe(3_000)
  // In an outage, each attempt puts it off.
  await db
    .updateTable('inlay_documents')
    .set({ attempts: 4, due_at: clock.now + 60_000 })
    .execute()
  expect(await waitsMs()).toBe(hourMs + 3_000)
})

test('between two counts, a document that was waiting does not seem to wait longer', async () => {
  const clock = { now: 10 * hourMs }
  const { knowledge } = await makeKnowledge({ now: () => clock.now })
  await knowledge.accept(request())
  clock.now += 2_000
  await vi.waitFor(async () => expect((await knowledge.sampledFigures())?.documents.pending).toBe(1))
  clock.now += 9_000
  expect(await knowledge.sampledFigures()).toMatchObject({ oldestWaitingMs: 2_000, ageMs: 9_000 })
})

test('counts of an earlier index space do not end the rebuild of a later one', async () => {
  const space = (number: number, phase: 'lost' | 'open') =>
    ({ number, phase, rebuildReason: 'incomplete' }) as unknown as IndexSpace
  const spaces = [space(0, 'lost'), space(1, 'open')]
  const sampled = (of: number) => ({ read: async () => ({ space: of, rebuild: undefined }) as StoredSample })
  expect(await rebuildOf(spaces, sampled(0))).toBe('incomplete')
  expect(await rebuildOf(spaces, sampled(1))).toBeUndefined()
})

test('a full disk is remembered for a minute', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { note, message } = createFullDiskNote()
  note(new InlayError('SERVICE_UNAVAILABLE', { message: 'Make room.', data: { isFullDisk: true } }))
  vi.advanceTimersByTime(59_999)
  expect(message()).toBe('Make room.')
  vi.advanceTimersByTime(1)
  expect(message()).toBeUndefined()
})
