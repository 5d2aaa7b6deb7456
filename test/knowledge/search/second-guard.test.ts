import { expect, test } from 'vitest'
import { createStore, memoryIndex } from '../memory-index.ts'
import { makeRecords, request, startKnowledge } from '../setup.ts'

test('hits of pairs that the caller may not see are dropped though the index lets them through', async () => {
  const inner = memoryIndex(createStore())
  const leaky: typeof inner = { ...inner, search: (query) => inner.search({ ...query, filter: undefined }) }
  const { knowledge } = await startKnowledge({ db: await makeRecords(), index: leaky })
  const hidden = await knowledge.pairs.create({ name: 'board', isPublic: false, users: ['ana'] })
  await knowledge.accept(request({ id: 'open', text: 'heron in the open' }), { waitMs: 60_000 })
  await knowledge.accept(request({ id: 'secret', text: 'heron in secret' }, hidden.id), { waitMs: 60_000 })
  const search = async (id: string): Promise<string[]> => {
    const caller = { id, scopes: ['search'] as const }
    return (await knowledge.search({ text: 'heron', limit: 10, caller })).map(({ document }) => document.document_id)
  }
  expect((await search('ana')).toSorted()).toEqual(['open', 'secret'])
  expect(await search('ben')).toEqual(['open'])
})
