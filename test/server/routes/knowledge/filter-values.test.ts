import { expect, test } from 'vitest'
import { request } from '../../../knowledge/setup.ts'
import { makeLibrary } from '../../library.ts'

test('sources are those of documents the caller may see, sorted', async () => {
  const { call, knowledge } = await makeLibrary()
  await call('/manage/admin/cc-pair', { json: { name: 'HR', access_type: 'private' } })
  await knowledge.accept(request({ id: 'a', source: 'web' }))
  await knowledge.accept(request({ id: 'b', source: 'confluence' }))
  await knowledge.accept(request({ id: 'c', source: 'gmail' }, 2))
  expect((await call('/manage/indexed-sources', { key: 'key-alice' })).body).toEqual({ sources: ['confluence', 'web'] })
  expect((await call('/manage/indexed-sources')).body).toEqual({ sources: ['confluence', 'gmail', 'web'] })
})

test('tags are found by a part of them, and each can be filtered by as it is listed', async () => {
  const { call, knowledge } = await makeLibrary()
  await call('/manage/admin/cc-pair', { json: { name: 'HR', access_type: 'private' } })
  await knowledge.accept(request({ id: 'a', metadata: { team: 'Red & Blue', 'a=b': ['x', 'y'] } }))
  await knowledge.accept(request({ id: 'b', metadata: { team: 'Green' } }, 2))
  await knowledge.whenIdle()
  const tags = async (query: string, key = 'key-alice'): Promise<unknown> =>
    (await call(`/query/valid-tags${query}`, { key })).body
  const red = { tag_key: 'team', tag_value: 'Red & Blue', source: 'file' }
  const [x, y] = ['x', 'y'].map((tag_value) => ({ tag_key: 'a=b', tag_value, source: 'file' }))
  expect(await tags('')).toEqual({ tags: [x, y, red] })
  expect(await tags('?limit=1')).toEqual({ tags: [x] })
  expect(await tags('?match_pattern=red%20%26')).toEqual({ tags: [red] })
  expect(await tags('?match_pattern=team%3Dr')).toEqual({ tags: [red] })
  expect(await tags('?match_pattern=green')).toEqual({ tags: [] })
  // Longer than any tag or title, and than a pattern that SQLite takes.
  const long = 'a'.repeat(60_000)
  expect(await tags(`?match_pattern=${long}`)).toEqual({ tags: [] })
  expect(await knowledge.list({ match: long })).toEqual({ documents: [], next: null })
  expect(await tags('?match_pattern=green', 'key-operator')).toMatchObject({ tags: [{ tag_value: 'Green' }] })
  for (const { source: _, ...tag } of [x!, y!, red]) {
    const { body } = await call('/search', { json: { query: 'some', tags: [tag] } })
    expect(body).toMatchObject({ results: [{ citation_id: 1 }] })
  }
})

test.each(['limit=0', 'limit=1001', 'limit=many'])('%s is refused', async (query) => {
  const { call } = await makeLibrary()
  expect(await call(`/query/valid-tags?${query}`)).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['query', 'limit'] }] },
  })
})
