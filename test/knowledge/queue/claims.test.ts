import { claim, type Claim, type ClaimOptions } from '@inlay/knowledge/internal/queue/claims'
import { expect, test } from 'vitest'
import { makeWorker, request, type TestWorker } from '../setup.ts'

const take = ({ db, clock }: TestWorker, bounds: Partial<ClaimOptions> = {}): Promise<Claim | undefined> =>
  claim(db, { owner: 'me', now: clock.now, leaseMs: 1000, limit: 10, maxCharacters: 1e6, ...bounds })

test('a claim takes as many characters as it may, at least one document, and says that more are due', async () => {
  const fixture = await makeWorker()
  await fixture.accept(...['a', 'b', 'c'].map((id) => request({ id, text: 'word '.repeat(200) })))
  const { bytes } = await fixture.db
    .selectFrom('inlay_documents')
    .select((of) => of.fn.max('content_bytes').as('bytes'))
    .executeTakeFirstOrThrow()
  expect(await take(fixture, { maxCharacters: 2 * Number(bytes) - 1 })).toMatchObject({
    documentIds: ['a'],
    isCutShort: true,
  })
  expect(await take(fixture, { maxCharacters: 1 })).toMatchObject({ documentIds: ['b'], isCutShort: true })
  expect(await take(fixture, { maxCharacters: 1 })).toMatchObject({ documentIds: ['c'], isCutShort: false })
  expect(await take(fixture)).toBeUndefined()
})

test.each([
  ['is paused', 'is_paused'],
  ['is being removed', 'is_removed'],
] as const)('documents of a pair that %s wait', async (_, state) => {
  const fixture = await makeWorker()
  await fixture.accept(request())
  const set = (value: 0 | 1) =>
    fixture.db
      .updateTable('inlay_pairs')
      .set({ [state]: value })
      .execute()
  await set(1)
  expect(await take(fixture)).toBeUndefined()
  await set(0)
  expect(await take(fixture)).toMatchObject({ documentIds: ['document'] })
})

test('a claim that may write to no space leaves the queue as it was, and no lease', async () => {
  const fixture = await makeWorker()
  await fixture.accept(request())
  await fixture.db.deleteFrom('inlay_spaces').execute()
  const space = { number: 0, embedder: '', dimensions: 0, identity: null, rebuild_reason: null }
  await fixture.db
    .insertInto('inlay_spaces')
    .values({ ...space, phase: 'closing' })
    .execute()
  expect(await take(fixture)).toBeUndefined()
  expect(await fixture.db.selectFrom('inlay_claims').selectAll().execute()).toEqual([])
  expect(await fixture.status('document')).toMatchObject({ phase: 'pending', attempts: 0 })
})
