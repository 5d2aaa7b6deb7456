import type { Caller, Knowledge } from '@inlay/knowledge'
import { expect, test } from 'vitest'
import { fakeEmbedder } from '../fake-embedder.ts'
import { request, startKnowledge } from '../setup.ts'

const bob: Caller = { id: 'bob', scopes: ['search'] }

const countHits = async (knowledge: Knowledge, caller?: Caller, sets?: string[]): Promise<number> =>
  (await knowledge.search({ text: 'some', limit: 10, caller, filters: { document_set: sets } })).length

test('changes of access and of sets bind at the next search, and index nothing anew', async () => {
  const embedder = fakeEmbedder()
  const { knowledge, index } = await startKnowledge({ embedder })
  const { id } = await knowledge.pairs.create({ name: 'Wiki' })
  for (let at = 0; at < 5; at++) await knowledge.accept(request({ id: `${at}`, text: `some ${at}` }, id))
  await knowledge.whenIdle()
  const set = await knowledge.documentSets.create({ name: 'all', pairIds: [id] })
  const [{ commits }, embedded] = [{ ...index.store }, embedder.calls.length]
  const { generation } = index.store.rows[0]!

  await knowledge.pairs.update(id, { isPublic: false })
  expect([await countHits(knowledge), await countHits(knowledge, bob)]).toEqual([5, 0])
  await knowledge.pairs.update(id, { users: ['bob'], name: 'Renamed' })
  expect(await countHits(knowledge, bob)).toBe(5)
  expect(await countHits(knowledge, bob, ['all'])).toBe(5)
  await knowledge.documentSets.update(set.id, { pairIds: [] })
  expect(await countHits(knowledge, bob, ['all'])).toBe(0)
  await knowledge.documentSets.update(set.id, { pairIds: [id], isPublic: false })
  await expect(countHits(knowledge, bob, ['all'])).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
  await knowledge.documentSets.remove(set.id)

  await knowledge.whenIdle()
  expect(index.store.commits).toBe(commits)
  expect(index.store.rows[0]!.generation).toBe(generation)
  // Searches embed their queries; no document was among them.
  const texts = embedder.calls.slice(embedded).flat()
  expect(new Set(texts)).toEqual(new Set(['some']))
})
