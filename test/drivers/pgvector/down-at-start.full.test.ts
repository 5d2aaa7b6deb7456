import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { pgvectorIndex } from '@inlay/drivers/pgvector'
import { createInlay, type Inlay } from 'inlay'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { startPostgres } from '../../stand-in/pglite.ts'

const apiKey = 'inlay_key-of-the-index-outage'

let database: PGlite
let isDown = false
/** How far the clock is ahead. */
let aheadMs = 0
let folder = ''
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlay-index-outage-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
})

/** An assistant whose index is in a database that may be down. */
function newInlay(prefix: string): { readonly inlay: Inlay; readonly log: string[] } {
  const log: string[] = []
  const client = {
    query: async (text: string, values?: unknown[]) => {
      if (isDown) throw new Error('connect ECONNREFUSED 127.0.0.1:5432')
      return database.query(text, values)
    },
  }
  const inlay = createInlay({
    dataFolder: folder,
    apiKey,
    now: () => Date.now() + aheadMs,
    index: pgvectorIndex({ client, prefix }),
    worker: { lingerMs: 0, pollMs: 20 },
    onError: (error) => log.push(error instanceof Error ? error.message : String(error)),
  })
  onTestFinished(() => inlay.close())
  return { inlay, log }
}

interface Answer {
  readonly status: number
  readonly body: { readonly results?: readonly unknown[] }
}

async function call(inlay: Inlay, path: string, body?: object): Promise<Answer> {
  const response = await inlay.fetch(
    new Request(`http://inlay.test/api${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${apiKey}` },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

const search = (inlay: Inlay) => call(inlay, '/search', { query: 'heron' })
const accept = (inlay: Inlay, id: string) =>
  call(inlay, '/service-api/ingestion', {
    document: { id, semantic_identifier: id, sections: [{ text: `The heron waits at ${id}.` }], metadata: {} },
  })

test('a process whose index is down at its start is not ready, takes documents, and recovers', async () => {
  isDown = true
  const { inlay, log } = newInlay('late')
  await inlay.start()
  expect(log).toEqual([expect.stringContaining('The index cannot be reached.')])
  expect(await call(inlay, '/health/ready')).toMatchObject({
    status: 503,
    body: { error_code: 'SERVICE_UNAVAILABLE', detail: 'This process cannot open its data: its log says why.' },
  })
  expect((await call(inlay, '/health')).status).toBe(200)
  expect((await accept(inlay, 'a')).status).toBe(200)
  expect((await search(inlay)).status).toBe(503)
  isDown = false
  // The next try of the document.
  aheadMs += 600_000
  expect((await call(inlay, '/health/ready')).status).toBe(200)
  await vi.waitFor(async () => expect((await search(inlay)).body.results).toHaveLength(1), 60_000)
})

test('an index that was lost while its database was down is filled again', async () => {
  isDown = false
  const before = newInlay('lost')
  await before.inlay.start()
  for (const id of ['a', 'b']) await accept(before.inlay, id)
  await vi.waitFor(async () => expect((await search(before.inlay)).body.results).toHaveLength(2), 60_000)
  await before.inlay.close()
  isDown = true
  const { inlay, log } = newInlay('lost')
  await inlay.start()
  for (const table of ['rows', 'words', 'meta']) await database.exec(`drop table lost_${table}`)
  isDown = false
  await vi.waitFor(async () => expect((await search(inlay)).body.results).toHaveLength(2), 60_000)
  expect(log).toContainEqual(expect.stringContaining('The index is lost.'))
})
