import type { Caller, Knowledge, TagQuery } from '@inlay/knowledge'
import fc from '../../fast-check.ts'
import { expect, test } from 'vitest'
import { removeUnusedTags } from '@inlay/knowledge/internal/access-and-filters/document-tags'
import { fromTag, toTag } from '@inlay/knowledge/internal/contracts/vector-index'
import { fakeEmbedder } from '../fake-embedder.ts'
import { makeKnowledge, request, startKnowledge, type TestKnowledge } from '../setup.ts'

async function makeLibrary(
  ...documents: (NonNullable<Parameters<typeof request>[0]> & { pairId?: number })[]
): Promise<TestKnowledge> {
  const fixture = await startKnowledge()
  for (const { pairId, ...document } of documents) await fixture.knowledge.accept(request(document, pairId))
  await fixture.knowledge.whenIdle()
  return fixture
}

const tagsOf = async (knowledge: Knowledge, query: TagQuery = {}, caller?: Caller): Promise<string[]> =>
  (await knowledge.tags(query, { caller })).map(({ key, value, source }) => `${key}=${value} ${source}`)

test('tags are listed once for each source, by key and value; lists give one each', async () => {
  const { knowledge } = await makeLibrary(
    { id: 'a', source: 'web', metadata: { team: 'red', lang: ['en', 'de'] } },
    { id: 'b', source: 'web', metadata: { team: 'red' } },
    { id: 'c', source: 'slack', metadata: { team: 'red', 'a=b': 'c%' } },
  )
  expect(await tagsOf(knowledge)).toEqual([
    'a=b=c% slack',
    'lang=de web',
    'lang=en web',
    'team=red slack',
    'team=red web',
  ])
  expect(await tagsOf(knowledge, { limit: 2 })).toEqual(['a=b=c% slack', 'lang=de web'])
})

test('a pattern is part of a key or a value in any case; with "=" it asks for both; its marks mean themselves', async () => {
  const { knowledge } = await makeLibrary({
    metadata: { Team: 'Red', colour: 'team', grün: 'ÄRA', rate: '100%', path: 'a_b\\c' },
  })
  expect(await tagsOf(knowledge, { match: 'TEAM' })).toEqual(['Team=Red file', 'colour=team file'])
  expect(await tagsOf(knowledge, { match: 'team=re' })).toEqual(['Team=Red file'])
  expect(await tagsOf(knowledge, { match: 'är' })).toEqual(['grün=ÄRA file'])
  expect(await tagsOf(knowledge, { match: '%' })).toEqual(['rate=100% file'])
  expect(await tagsOf(knowledge, { match: 'a_b\\' })).toEqual(['path=a_b\\c file'])
  expect(await tagsOf(knowledge, { match: 'axb' })).toEqual([])
})

test('tags follow their documents: changed, without tags, deleted', async () => {
  const { knowledge, db } = await makeLibrary(
    { id: 'a', metadata: { team: 'red', keep: 'x' } },
    { id: 'b', metadata: { team: 'red' } },
  )
  await knowledge.accept(request({ id: 'a', metadata: { team: 'blue', keep: 'x' } }), { waitMs: 60_000 })
  expect(await tagsOf(knowledge)).toEqual(['keep=x file', 'team=blue file', 'team=red file'])
  await knowledge.remove('b')
  expect(await tagsOf(knowledge)).toEqual(['keep=x file', 'team=blue file'])
  await knowledge.accept(request({ id: 'a' }), { waitMs: 60_000 })
  expect(await tagsOf(knowledge)).toEqual([])
  await removeUnusedTags(db)
  expect(await db.selectFrom('inlay_tags').selectAll().execute()).toEqual([])
  expect(await db.selectFrom('inlay_document_tags').selectAll().execute()).toEqual([])
})

test('callers see the tags of documents they may see', async () => {
  const { knowledge } = await startKnowledge()
  const { id } = await knowledge.pairs.create({ name: 'hidden', isPublic: false, groups: ['staff'] })
  await knowledge.accept(request({ id: 'open', metadata: { team: 'red' } }))
  await knowledge.accept(request({ id: 'closed', metadata: { team: 'blue' } }, id))
  await knowledge.whenIdle()
  const ana: Caller = { id: 'ana', scopes: ['chat'] }
  expect(await tagsOf(knowledge, {}, ana)).toEqual(['team=red file'])
  expect(await tagsOf(knowledge, {}, { ...ana, groups: ['staff'] })).toEqual(['team=blue file', 'team=red file'])
  expect(await tagsOf(knowledge)).toEqual(['team=blue file', 'team=red file'])
  await knowledge.pairs.remove(id)
  expect(await tagsOf(knowledge)).toEqual(['team=red file'])
})

test('a document with thousands of tags is indexed, and bounded in the listing more than in filters', async () => {
  const metadata = { many: Array.from({ length: 5000 }, (_, at) => `${at}`), long: 'x'.repeat(10_000) }
  const { knowledge } = await makeLibrary({ metadata })
  expect(await knowledge.status('document')).toMatchObject({ phase: 'indexed' })
  expect(await knowledge.tags({ limit: 1000 })).toHaveLength(200)
  const passages = await knowledge.search({
    text: 'some',
    limit: 1,
    filters: { tags: [{ tag_key: 'many', tag_value: '500' }] },
  })
  expect(passages).toHaveLength(1)
})

test('a tag taken apart is what it was made of', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (key, value) => {
      expect(fromTag(toTag(key, value))).toEqual({ key, value })
    }),
  )
  expect(fromTag(toTag('a=%3D', '=b'))).toEqual({ key: 'a=%3D', value: '=b' })
})

test('tags are recorded for the pairs that hold the document when it becomes visible', async () => {
  let leave = async (): Promise<void> => {}
  const { knowledge, db } = await makeKnowledge({
    embedder: fakeEmbedder({ answer: async () => void (await leave()) }),
  })
  const { id: left } = await knowledge.pairs.create({ name: 'left' })
  await knowledge.accept(request({ id: 'a', metadata: { team: 'red' } }))
  await knowledge.accept(request({ id: 'a', metadata: { team: 'red' } }, left))
  // Taken out of the pair after its claim has begun.
  leave = async () => void (await db.deleteFrom('inlay_document_pairs').where('pair_id', '=', left).execute())
  await knowledge.start()
  await knowledge.whenIdle()
  const pairs = await db.selectFrom('inlay_document_tags').select('pair_id').execute()
  expect(pairs).toEqual([{ pair_id: 1 }])
})
