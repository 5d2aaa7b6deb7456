import { expect, test } from 'vitest'
import { claim, readClaimed, type Claim, readRetired } from '@inlay/knowledge/internal/queue/claims'
import { sweepClaims } from '@inlay/knowledge/internal/queue/lapsed-leases'
import { settle, type Written } from '@inlay/knowledge/internal/indexing/make-visible'
import { makeWorker, request, type TestWorker } from '../setup.ts'

async function takeOne({ db, clock }: TestWorker): Promise<Claim> {
  return (await claim(db, { owner: 'me', now: clock.now, leaseMs: 1000, limit: 10, maxCharacters: 1e6 }))!
}

/** The claim as a worker would end it after writing its rows. */
async function writtenOf({ db }: TestWorker, taken: Claim): Promise<Written[]> {
  const documents = await readClaimed(db, taken.id)
  return documents.map(({ id, revision, incarnation, pairIds }, at) => ({
    id,
    revision,
    incarnation,
    pairIds,
    tags: [],
    files: [],
    metadata: null,
    source: 'file',
    generation: taken.generations[at]!,
    chunkCount: 1,
  }))
}

/** Accepts a document and claims it, as a worker does that will end the claim with `written`. */
async function takeNew(fixture: TestWorker, text?: string): Promise<Claim & { readonly written: Written[] }> {
  await fixture.accept(request({ text }))
  const taken = await takeOne(fixture)
  return { ...taken, written: await writtenOf(fixture, taken) }
}

const settleAll = ({ db, clock }: TestWorker, taken: Claim & { readonly written: Written[] }): Promise<string[]> =>
  settle(db, { claimId: taken.id, space: 0, now: clock.now, written: taken.written, abandoned: [] })

async function visible({ db }: TestWorker): Promise<string | null | undefined> {
  const row = await db.selectFrom('inlay_documents').select('visible_generation').executeTakeFirst()
  return row?.visible_generation
}

test('a written generation becomes visible and the one before it is noted for removal', async () => {
  const fixture = await makeWorker()
  const first = await takeNew(fixture, 'first')
  expect(await settleAll(fixture, first)).toEqual(['document'])
  const second = await takeNew(fixture, 'second')
  expect(await settleAll(fixture, second)).toEqual(['document'])
  expect(await visible(fixture)).toBe(second.generations[0])
  expect((await readRetired(fixture.db, 10)).generations).toEqual(first.generations)
  expect(await fixture.status('document')).toMatchObject({ phase: 'indexed', chunkCount: 1, reason: null })
})

test('a late generation of an older version loses against a newer one', async () => {
  const fixture = await makeWorker()
  const late = await takeNew(fixture, 'old')
  const prompt = await takeNew(fixture, 'new')
  await settleAll(fixture, prompt)
  expect(await settleAll(fixture, late)).toEqual([])
  expect(await visible(fixture)).toBe(prompt.generations[0])
  expect((await readRetired(fixture.db, 10)).generations).toEqual(late.generations)
})

test('a version that was replaced while it was written is shown until its successor is', async () => {
  const fixture = await makeWorker()
  const taken = await takeNew(fixture, 'old')
  await fixture.accept(request({ text: 'new' }))
  expect(await settleAll(fixture, taken)).toEqual(['document'])
  expect(await visible(fixture)).toBe(taken.generations[0])
  // The newer version still has its turn.
  expect(await fixture.status('document')).toMatchObject({ phase: 'pending' })
})

test('the claim on a newer version outlasts the older one that is settled meanwhile, and so does its reason', async () => {
  const fixture = await makeWorker()
  const first = await takeNew(fixture, 'first')
  await fixture.accept(request({ text: 'second' }))
  await fixture.db.updateTable('inlay_documents').set({ reason: 'The embedder was away.' }).execute()
  const second = await takeOne(fixture)
  expect(await settleAll(fixture, first)).toEqual(['document'])
  expect(await visible(fixture)).toBe(first.generations[0])
  expect(await fixture.status('document')).toMatchObject({ phase: 'indexing', reason: 'The embedder was away.' })
  const written = await writtenOf(fixture, second)
  expect(written).toHaveLength(1)
  expect(await settleAll(fixture, { ...second, written })).toEqual(['document'])
  expect(await fixture.status('document')).toMatchObject({ phase: 'indexed', reason: null })
})

test('generations that were given up are noted for removal, which is reported once it is recorded', async () => {
  const fixture = await makeWorker()
  await fixture.accept(request())
  const { id: claimId, generations } = await takeOne(fixture)
  const recorded: Promise<string[]>[] = []
  const onRetired = (): void => void recorded.push(readRetired(fixture.db, 10).then((retired) => retired.generations))
  const end = { claimId, space: 0, now: fixture.clock.now, written: [], onRetired }
  await settle(fixture.db, { ...end, abandoned: generations })
  await settle(fixture.db, { ...end, abandoned: [] })
  expect(await Promise.all(recorded)).toEqual([generations])
  expect(await fixture.db.selectFrom('inlay_claims').selectAll().execute()).toEqual([])
})

test('a document removed while it was written stays removed', async () => {
  const fixture = await makeWorker()
  const taken = await takeNew(fixture)
  await fixture.remove('document')
  expect(await settleAll(fixture, taken)).toEqual([])
  expect(await visible(fixture)).toBeUndefined()
  expect((await readRetired(fixture.db, 10)).generations).toEqual(taken.generations)
})

test('a generation of a removed document is not shown for a new one of the same id', async () => {
  const fixture = await makeWorker()
  const taken = await takeNew(fixture, 'removed')
  await fixture.remove('document')
  await fixture.accept(request({ text: 'posted anew' }))
  expect(await settleAll(fixture, taken)).toEqual([])
  expect(await visible(fixture)).toBeNull()
})

test('a claim that ran out makes nothing visible, since its rows may be gone already', async () => {
  const fixture = await makeWorker()
  const taken = await takeNew(fixture)
  fixture.clock.now += 2000
  expect(await sweepClaims(fixture.db, { now: fixture.clock.now })).toBe(1)
  expect(await settleAll(fixture, taken)).toEqual([])
  expect(await visible(fixture)).toBeNull()
  expect(await fixture.status('document')).toMatchObject({ phase: 'pending' })
  const activity = await fixture.db.selectFrom('inlay_pair_activity').select(['pair_id', 'indexed_at']).execute()
  expect(activity).toEqual([{ pair_id: 1, indexed_at: null }])
})

test.each(['closing', 'lost'] as const)('a space that is %s shows nothing of what was written to it', async (phase) => {
  const fixture = await makeWorker()
  const taken = await takeNew(fixture)
  await fixture.db.deleteFrom('inlay_spaces').execute()
  const space = { number: 0, phase, embedder: '', dimensions: 0, identity: null, rebuild_reason: null }
  await fixture.db.insertInto('inlay_spaces').values(space).execute()
  expect(await settleAll(fixture, taken)).toEqual([])
  expect(await visible(fixture)).toBeNull()
  expect((await readRetired(fixture.db, 10)).generations).toEqual(taken.generations)
})

test('two generations of the same version: the first to settle is shown, the other removed', async () => {
  const fixture = await makeWorker()
  const slow = await takeNew(fixture)
  // The state after another worker saw the lease as expired, if the claim had survived.
  await fixture.db.updateTable('inlay_documents').set({ state: 'pending', claim: null }).execute()
  const quick = await takeOne(fixture)
  await settleAll(fixture, { ...quick, written: await writtenOf(fixture, quick) })
  expect(await settleAll(fixture, slow)).toEqual([])
  expect(await visible(fixture)).toBe(quick.generations[0])
})
