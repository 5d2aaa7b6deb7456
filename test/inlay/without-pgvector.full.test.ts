import { pgvectorIndex } from '@inlay/drivers/pgvector'
import { createInlay } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { fakeEmbedder } from '../knowledge/fake-embedder.ts'
import { temporaryFolder } from '../life/process.ts'
import { startPostgres } from '../stand-in/pglite.ts'

test('a database without pgvector is named to the operator alone, with what to do', async () => {
  const database = await startPostgres()
  const query = async (sql: string, values: readonly unknown[] = []): Promise<{ rows: unknown[] }> =>
    values.length > 0 ? database.query(sql, [...values]) : (await database.exec(sql)).at(-1)!
  const log: string[] = []
  const apiKey = 'inlay_key-of-the-pgvector-test'
  const inlay = createInlay({
    dataFolder: temporaryFolder().path,
    index: pgvectorIndex({ client: { query } }),
    embedder: fakeEmbedder(),
    apiKey,
    onError: (error) => void log.push((error as Error).message),
  })
  onTestFinished(async () => {
    await inlay.close()
    await database.close()
  })
  await inlay.knowledge.accept({ document: { sections: [{ text: 'The heron waits.' }] } } as never)
  await expect.poll(() => log).toContainEqual(expect.stringMatching(/lacks pgvector: install .*INLAY_INDEX_URL/))
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ query: 'heron' })
  const answer = await inlay.fetch(new Request('http://host.example/api/search', { method: 'POST', headers, body }))
  expect([answer.status, await answer.json()]).toEqual([
    503,
    expect.objectContaining({ detail: 'Not available right now: try again later.' }),
  ])
})
