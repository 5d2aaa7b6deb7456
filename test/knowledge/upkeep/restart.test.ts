import { expect, test, vi } from 'vitest'
import { createStore, memoryIndex } from '../memory-index.ts'
import { makeRecords, request, startKnowledge } from '../setup.ts'

test('rows that an earlier process left unfolded are folded in once the index is open again', async () => {
  const [db, store] = [await makeRecords(), createStore()]
  const first = await startKnowledge({ db, index: memoryIndex(store) })
  await first.knowledge.accept(request(), { waitMs: 60_000 })
  // Simulates a kill: the ending process folds nothing.
  store.maintained = 0
  const second = await startKnowledge({ db, index: memoryIndex(store) })
  await second.knowledge.search({ text: 'text', limit: 1 })
  await vi.waitFor(() => expect(store.maintained).toBeGreaterThan(0), { timeout: 60_000 })
})

test('a process that ends folds in what it appended', async () => {
  const { knowledge, index } = await startKnowledge()
  await knowledge.accept(request(), { waitMs: 60_000 })
  expect(index.store.maintained).toBe(0)
  await knowledge.close()
  expect(index.store.maintained).toBe(1)
})

test('a process that only reads ends without upkeep', async () => {
  const { knowledge, index } = await startKnowledge()
  await knowledge.search({ text: 'text', limit: 1 })
  await knowledge.close()
  expect(index.store.maintained).toBe(0)
})
