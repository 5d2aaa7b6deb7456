import { expect, test } from 'vitest'
import { claim, readClaimed, type Claim, readRetired } from '@inlay/knowledge/internal/queue/claims'
import { sweepClaims } from '@inlay/knowledge/internal/queue/outcomes'
import { settle, type Written } from '@inlay/knowledge/internal/indexing/index-claim'
import { makeWorker, request, type TestWorker } from '../setup.ts'

async function takeOne({ db, clock }: TestWorker): Promise<Claim> {
  return (await claim(db, { owner: 'me', now: clock.now, leaseMs: 1000, limit: 10, limitCharacters: 1e6 }))!
}

/** What a worker would settle of a claim, as if it had written it. */
async function writtenOf({ db }: TestWorker, taken: Claim): Promise<Written[]> {
  const documents = await readClaimed(db, taken.id)
  return documents.map(({ id, revision, incarnation, pairIds }, at) => ({
    id,
    revision,
    incarnation,
    pairIds,
    tags: [],
    images: [],
    metadata: null,
    source: 'file',
    generation: taken.generations[at]!,
    chunkCount: 1,
  }))
}

const settleAll = ({ db, clock }: TestWorker, taken: Claim, written: Written[]): Promise<string[]> =>
  settle(db, { claimId: taken.id, space: 0, now: clock.now, written, abandoned: [] })

async function visible({ db }: TestWorker): Promise<string | null | undefined> {
  const row = await db.selectFrom('inlay_documents').select('visible_generation').executeTakeFirst()
  return row?.visible_generation
}

test('a written generation becomes visible and the one before it is noted for removal', async () => {
  const world = await makeWorker()
  await world.accept(request({ text: 'first' }))
  const first = await takeOne(world)
  expect(await settleAll(world, first, await writtenOf(world, first))).toEqual(['document'])
  await world.accept(request({ text: 'second' }))
  const second = await takeOne(world)
  expect(await settleAll(world, second, await writtenOf(world, second))).toEqual(['document'])
  expect(await visible(world)).toBe(second.generations[0])
  expect((await readRetired(world.db, 10)).generations).toEqual(first.generations)
  expect(await world.status('document')).toMatchObject({ phase: 'indexed', chunkCount: 1, reason: null })
})

test('a late generation of an older version loses against a newer one', async () => {
  const world = await makeWorker()
  await world.accept(request({ text: 'old' }))
  const late = await takeOne(world)
  const lateWritten = await writtenOf(world, late)
  await world.accept(request({ text: 'new' }))
  const prompt = await takeOne(world)
  await settleAll(world, prompt, await writtenOf(world, prompt))
  expect(await settleAll(world, late, lateWritten)).toEqual([])
  expect(await visible(world)).toBe(prompt.generations[0])
  expect((await readRetired(world.db, 10)).generations).toEqual(late.generations)
})

test('a version that was replaced while it was written is shown until its successor is', async () => {
  const world = await makeWorker()
  await world.accept(request({ text: 'old' }))
  const taken = await takeOne(world)
  const written = await writtenOf(world, taken)
  await world.accept(request({ text: 'new' }))
  expect(await settleAll(world, taken, written)).toEqual(['document'])
  expect(await visible(world)).toBe(taken.generations[0])
  // The newer version still has its turn.
  expect(await world.status('document')).toMatchObject({ phase: 'pending' })
})

test('a document removed while it was written stays removed', async () => {
  const world = await makeWorker()
  await world.accept(request())
  const taken = await takeOne(world)
  const written = await writtenOf(world, taken)
  await world.remove('document')
  expect(await settleAll(world, taken, written)).toEqual([])
  expect(await visible(world)).toBeUndefined()
  expect((await readRetired(world.db, 10)).generations).toEqual(taken.generations)
})

test('a generation of a removed document is not shown for a new one of the same id', async () => {
  const world = await makeWorker()
  await world.accept(request({ text: 'removed' }))
  const taken = await takeOne(world)
  const written = await writtenOf(world, taken)
  await world.remove('document')
  await world.accept(request({ text: 'posted anew' }))
  expect(await settleAll(world, taken, written)).toEqual([])
  expect(await visible(world)).toBeNull()
})

test('a claim that ran out makes nothing visible, since its rows may be gone already', async () => {
  const world = await makeWorker()
  await world.accept(request())
  const taken = await takeOne(world)
  const written = await writtenOf(world, taken)
  world.clock.now += 2000
  expect(await sweepClaims(world.db, { now: world.clock.now })).toBe(1)
  expect(await settleAll(world, taken, written)).toEqual([])
  expect(await visible(world)).toBeNull()
  expect(await world.status('document')).toMatchObject({ phase: 'pending' })
})

test('two generations of the same version: the first to settle is shown, the other removed', async () => {
  const world = await makeWorker()
  await world.accept(request())
  const slow = await takeOne(world)
  const slowWritten = await writtenOf(world, slow)
  // As after a lease that another worker saw as run out, had the claim itself survived.
  await world.db.updateTable('inlay_documents').set({ state: 'pending', claim: null }).execute()
  const quick = await takeOne(world)
  await settleAll(world, quick, await writtenOf(world, quick))
  expect(await settleAll(world, slow, slowWritten)).toEqual([])
  expect(await visible(world)).toBe(quick.generations[0])
})
