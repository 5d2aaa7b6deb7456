import { expect, test } from 'vitest'
import { toTag, type Caller, type DocumentQuery } from '@inlay/knowledge'
import { request, startKnowledge } from '../setup.ts'

const admin: Caller = { id: 'admin', scopes: ['admin'] }
const ana: Caller = { id: 'ana', scopes: ['ingest'] }
const ben: Caller = { id: 'ben', scopes: ['ingest'] }

test('a listing is filtered by pairs and tags, within what the caller may see', async () => {
  const { knowledge } = await startKnowledge()
  const hidden = await knowledge.pairs.create({ name: 'HR', isPublic: false, users: ['ana'], groups: [] })
  const accept = (id: string, metadata: Record<string, string | string[]>, pairId?: number) =>
    knowledge.accept(request({ id, metadata }, pairId), { waitMs: 60_000 })
  await accept('a', { team: 'red', 'a=b': '5%' })
  await accept('b', { team: ['red', 'blue'] })
  await accept('c', { team: 'red' }, hidden.id)
  const ids = async (query: DocumentQuery, caller: Caller = admin): Promise<string[]> =>
    (await knowledge.list(query, { caller })).documents.map(({ documentId }) => documentId)
  expect(await ids({ tag: toTag('team', 'red') })).toEqual(['a', 'b', 'c'])
  expect(await ids({ tag: toTag('team', 'red') }, ana)).toEqual(['a', 'b', 'c'])
  expect(await ids({ tag: toTag('team', 'red') }, ben)).toEqual(['a', 'b'])
  expect(await ids({ tag: toTag('a=b', '5%') })).toEqual(['a'])
  expect(await ids({ tag: 'team=Red' })).toEqual([])
  expect(await ids({ pairIds: [hidden.id] })).toEqual(['c'])
  expect(await ids({ pairIds: [hidden.id] }, ben)).toEqual([])
  expect(await ids({ pairIds: [] })).toEqual([])
  expect(await ids({ tag: toTag('team', 'red'), match: 'B', order: 'newest' })).toEqual(['b'])
  const { documents } = await knowledge.list({ withTags: true }, { caller: admin })
  expect(documents.map(({ tags }) => tags?.map(({ key, value }) => `${key}:${value}`))).toEqual([
    ['a=b:5%', 'team:red'],
    ['team:blue', 'team:red'],
    ['team:red'],
  ])
  expect(documents.every(({ contentBytes }) => contentBytes > 0)).toBe(true)
  expect((await knowledge.list({}, { caller: admin })).documents[0]).not.toHaveProperty('tags')
})
