import { postgres } from '@inlay/drivers/postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startPostgres, type PostgresServer } from './postgres-server.ts'
import { makeKnowledge, makeRecords, request, startKnowledge, useDialect } from './setup.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
  const databases = new Map<string, Promise<string>>()
  const take = async (): Promise<string> => {
    const database = await server.takeDatabase()
    // Registered first, so it comes last, when all that uses it is closed.
    onTestFinished(() => server.returnDatabase(database))
    return database
  }
  useDialect(async (file) => {
    const database = file === ':memory:' ? take() : (databases.get(file) ?? take())
    databases.set(file, database)
    return postgres({ connectionString: await database, maxConnections: 6 })
  })
})
afterAll(() => server.stop())

describe('in Postgres', async () => {
  // The tests of the mechanism itself, once more.
  await import('./intake/commit-documents.test.ts')
  await import('./intake/large-content.test.ts')
  await import('./intake/quota.test.ts')
  await import('./indexing/settle.test.ts')
  await import('./indexing/worker.test.ts')
  await import('./history.scaled.test.ts')
  await import('./access-and-filters/pairs.test.ts')
  await import('./access-and-filters/document-sets.test.ts')
  await import('./access-and-filters/document-tags.test.ts')
  await import('./access-and-filters/listing-order.test.ts')
  await import('./intake/change-metadata.test.ts')
  await import('./intake/change-pairs.test.ts')
  await import('./reindexing/change-embedder.test.ts')

  test.each([2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER, 0, -1, 1.5])('no pair and no set has the id %d', async (id) => {
    const { knowledge } = await makeKnowledge()
    const { pairs, documentSets } = knowledge
    for (const call of [
      () => pairs.get(id),
      () => pairs.update(id, { name: 'x' }),
      () => pairs.remove(id),
      () => documentSets.create({ name: 'x', pairIds: [id] }),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
    for (const call of [() => documentSets.update(id, { name: 'x' }), () => documentSets.remove(id)])
      await expect(call()).rejects.toMatchObject({ code: 'DOCUMENT_SET_NOT_FOUND' })
    expect(await knowledge.list({ pairId: id })).toEqual({ documents: [], next: null })
    expect(await knowledge.requeue({ pairId: id })).toBe(0)
  })

  test('workers of two processes share the queue: each document is indexed once, none waits for the other', async () => {
    const db = await makeRecords()
    const first = await makeKnowledge({ db, worker: { maxClaimDocuments: 5 } })
    const second = await makeKnowledge({ db, index: first.index, worker: { maxClaimDocuments: 5 } })
    const count = 200
    await Promise.all([first.knowledge.start(), second.knowledge.start()])
    await Promise.all(
      Array.from({ length: count }, (_, at) =>
        (at % 2 ? first : second).knowledge.accept(request({ id: `d${at}`, text: `word${at}` })),
      ),
    )
    await first.knowledge.whenIdle()
    expect((await second.knowledge.figures()).documents).toEqual({ pending: 0, indexing: 0, failed: 0, indexed: count })
    expect(first.index.store.rows.map((row) => row.documentId).toSorted()).toEqual(
      Array.from({ length: count }, (_, at) => `d${at}`).toSorted(),
    )
    expect([...first.errors, ...second.errors]).toEqual([])
  })

  test('connections that the server ends are made anew, and nothing is lost', async () => {
    const { knowledge } = await startKnowledge()
    await knowledge.accept(request({ id: 'before', text: 'The heron waits.' }), { waitMs: 60_000 })
    await server.cutConnections()
    await vi.waitFor(() => knowledge.accept(request({ id: 'after', text: 'The heron flies.' })), { timeout: 60_000 })
    await vi.waitFor(async () => expect(await knowledge.search({ text: 'heron', limit: 5 })).toHaveLength(2), {
      timeout: 60_000,
    })
  })
})
