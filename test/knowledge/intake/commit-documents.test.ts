import type { Caller } from '@inlay/knowledge'
import { describe, expect, test } from 'vitest'
import { createPairs } from '@inlay/knowledge/internal/access-and-filters/pairs'
import { makeKnowledge, makeWorker, request, section, type TestWorker } from '../setup.ts'

const ana: Caller = { id: 'ana', scopes: ['ingest'] }
const ben: Caller = { id: 'ben', scopes: ['ingest'], groups: ['staff'] }

describe('whether a document existed', () => {
  test('is false the first time and true from then on, whatever becomes of it', async () => {
    const { accept, worker } = await makeWorker()
    expect(await accept(request())).toMatchObject([{ existed: false }])
    expect(await accept(request({ text: 'changed before it was indexed' }))).toMatchObject([{ existed: true }])
    await worker.runOnce()
    expect(await accept(request({ text: 'changed afterwards' }))).toMatchObject([{ existed: true }])
  })

  test('is false once when many post the same new id at the same time', async () => {
    const { accept } = await makeWorker()
    const results = await accept(...Array.from({ length: 20 }, (_, at) => request({ text: `version ${at}` })))
    expect(results.filter(({ existed }) => !existed)).toHaveLength(1)
  })

  test('is false again after it was removed', async () => {
    const { accept, remove } = await makeWorker()
    await accept(request())
    await remove('document')
    expect(await accept(request())).toMatchObject([{ existed: false }])
  })
})

describe('an identical document', () => {
  test('is not indexed again', async () => {
    const { accept, worker, index, status } = await makeWorker()
    await accept(request({ metadata: { a: '1', b: ['2'] } }))
    await worker.runOnce()
    const before = await status('document')
    expect(await accept(request({ metadata: { b: ['2'], a: '1' } }))).toMatchObject([
      { existed: true, isQueued: false },
    ])
    expect(await worker.runOnce()).toBe(0)
    expect(index.store.commits).toBe(1)
    expect(await status('document')).toEqual(before)
  })

  test.each([
    ['text', { text: 'other text' }],
    ['semantic identifier', { semantic_identifier: 'Other' }],
    ['title', { title: 'Other' }],
    ['source', { source: 'web' as const }],
    ['metadata', { metadata: { a: 'b' } }],
    ['date', { doc_updated_at: '2026-01-01T00:00:00.000Z' }],
    ['creation date', { doc_created_at: '2026-01-01T00:00:00.000Z' }],
    [
      'owners',
      {
        primary_owners: [{ display_name: 'Ana', first_name: null, middle_initial: null, last_name: null, email: null }],
      },
    ],
    ['file', { file_id: 'f' }],
    ['link', { sections: [section('some text', 'https://a')] }],
  ])('but for its %s is indexed again', async (_, change) => {
    const { accept, worker } = await makeWorker()
    await accept(request())
    await worker.runOnce()
    expect(await accept(request(change))).toMatchObject([{ existed: true, isQueued: true }])
    expect(await worker.runOnce()).toBe(1)
  })

  test('writes nothing', async () => {
    const { accept, db } = await makeWorker()
    await accept(request())
    const counter = (): Promise<unknown> => db.selectFrom('inlay_counters').selectAll().execute()
    const before = await counter()
    await accept(request(), request())
    expect(await counter()).toEqual(before)
  })
})

describe('the queue', () => {
  test('a document that keeps changing keeps its place', async () => {
    const { accept, worker, clock, shown } = await makeWorker({ worker: { maxClaimDocuments: 1 } })
    await accept(request({ id: 'restless', text: 'first' }))
    clock.now += 1000
    await accept(request({ id: 'other' }))
    clock.now += 1000
    await accept(request({ id: 'restless', text: 'last' }))
    await worker.runOnce()
    expect(await shown()).toEqual(['last'])
  })

  test('a document is dated by the acceptance of its present content', async () => {
    const { accept, clock, status } = await makeWorker()
    await accept(request({ text: 'one' }))
    clock.now += 1000
    await accept(request({ text: 'one' }))
    expect((await status('document')).acceptedAt).toBe(clock.now - 1000)
    await accept(request({ text: 'two' }))
    expect((await status('document')).acceptedAt).toBe(clock.now)
  })
})

describe('ids', () => {
  test.each(['a/b', "it's", 'two\nlines', '🦀 crab', 'e\u0301', 'é', ' spaced ', '%2F', 'x'.repeat(1024), '__proto__'])(
    '%j is kept exactly as given',
    async (id) => {
      const { accept, remove, status } = await makeWorker()
      expect(await accept(request({ id }))).toMatchObject([{ documentId: id, existed: false }])
      expect((await status(id)).documentId).toBe(id)
      await remove(id)
      expect(await status(id)).toBeUndefined()
    },
  )

  test('composed and decomposed letters are different documents', async () => {
    const { accept } = await makeWorker()
    expect(await accept(request({ id: 'é' }), request({ id: 'e\u0301' }))).toMatchObject([
      { existed: false },
      { existed: false },
    ])
  })
})

describe('pairs', () => {
  const makePairs = ({ db }: TestWorker): ReturnType<typeof createPairs> =>
    createPairs({ db, now: () => 0, onResume: () => {}, onRemove: () => {} })

  test('a document posted to a second pair is in both', async () => {
    const fixture = await makeWorker()
    const { id } = await makePairs(fixture).create({ name: 'second' })
    await fixture.accept(request())
    expect(await fixture.accept(request({}, id))).toMatchObject([{ existed: true, isQueued: true }])
    expect((await fixture.status('document')).pairIds).toEqual([1, id])
  })

  test('a pair that does not exist is refused, and its neighbours in the commit are not', async () => {
    const fixture = await makeWorker()
    const results = await Promise.allSettled([
      fixture.accept(request({ id: 'a' })),
      fixture.accept(request({ id: 'b' }, 99)),
      fixture.accept(request({ id: 'c' })),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { code: 'CONNECTOR_NOT_FOUND' } })
    expect(await fixture.status('b')).toBeUndefined()
  })

  test('documents of a removed pair count as absent at once', async () => {
    const fixture = await makeWorker()
    const pairs = makePairs(fixture)
    const { id } = await pairs.create({ name: 'going' })
    await fixture.accept(request({}, id))
    await pairs.remove(id)
    await expect(fixture.remove('document')).rejects.toMatchObject({ code: 'DOCUMENT_NOT_FOUND' })
    expect(await fixture.accept(request())).toMatchObject([{ existed: false }])
    expect((await fixture.status('document')).pairIds).toEqual([1])
  })
})

describe('a caller', () => {
  const setUp = async (): Promise<Awaited<ReturnType<typeof makeKnowledge>> & { pairId: number }> => {
    const fixture = await makeKnowledge()
    const { id } = await fixture.knowledge.pairs.create({
      name: 'private',
      isPublic: false,
      users: ['ana'],
      groups: [],
    })
    return { ...fixture, pairId: id }
  }

  test('may post to public pairs and to private ones that name them, their e-mail or their group', async () => {
    const { knowledge, pairId } = await setUp()
    await knowledge.accept(request({ id: '1' }), { caller: ben })
    await knowledge.accept(request({ id: '2' }, pairId), { caller: ana })
    await expect(knowledge.accept(request({ id: '3' }, pairId), { caller: ben })).rejects.toMatchObject({
      code: 'INSUFFICIENT_PERMISSIONS',
    })
    await knowledge.pairs.update(pairId, { groups: ['staff'] })
    await knowledge.accept(request({ id: '3' }, pairId), { caller: ben })
    await knowledge.pairs.update(pairId, { users: ['cy@example.org'], groups: [] })
    await knowledge.accept(request({ id: '4' }, pairId), { caller: { ...ben, id: 'cy', email: 'cy@example.org' } })
    await expect(knowledge.accept(request({ id: '5' }, pairId), { caller: ben })).rejects.toMatchObject({
      code: 'INSUFFICIENT_PERMISSIONS',
    })
  })

  test('may neither change nor remove documents of pairs closed to them', async () => {
    const { knowledge, pairId } = await setUp()
    await knowledge.accept(request({}, pairId), { caller: ana })
    await expect(knowledge.accept(request(), { caller: ben })).rejects.toMatchObject({
      code: 'INSUFFICIENT_PERMISSIONS',
    })
    await expect(knowledge.remove('document', { caller: ben })).rejects.toMatchObject({ code: 'DOCUMENT_NOT_FOUND' })
    expect(await knowledge.status('document', { caller: ben })).toBeUndefined()
    await knowledge.accept(request(), { caller: ana })
    // Now it can be seen, but removing it would take it from others.
    await expect(knowledge.remove('document', { caller: ben })).rejects.toMatchObject({
      code: 'INSUFFICIENT_PERMISSIONS',
    })
    await knowledge.remove('document', { caller: ana })
  })

  test('with the scope admin may do all of it', async () => {
    const { knowledge, pairId } = await setUp()
    await knowledge.accept(request({}, pairId), { caller: ana })
    await knowledge.remove('document', { caller: { id: 'root', scopes: ['admin'] } })
    expect(await knowledge.hasDocuments()).toBe(false)
  })
})

test('calls that do not wait for each other take effect in the order they were made', async () => {
  const { knowledge } = await makeKnowledge()
  const large = 'word '.repeat(200_000)
  await Promise.all([
    knowledge.accept(request({ text: large })),
    knowledge.accept(request({ text: 'last' })),
    knowledge.accept(request({ id: 'gone', text: large })),
    knowledge.remove('gone'),
  ])
  await knowledge.start()
  await knowledge.whenIdle()
  expect(await knowledge.search({ text: 'last', limit: 5 })).toMatchObject([{ content: 'last' }])
  expect(await knowledge.status('gone')).toBeUndefined()
})
