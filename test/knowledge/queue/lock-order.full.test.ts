import { postgres } from '@inlay/drivers/postgres'
import { settle } from '@inlay/knowledge/internal/indexing/make-visible'
import { releaseClaim } from '@inlay/knowledge/internal/queue/claims'
import { recordFailures } from '@inlay/knowledge/internal/queue/failed-documents'
import { sweepClaims } from '@inlay/knowledge/internal/queue/lapsed-leases'
import { requeueFailed } from '@inlay/knowledge/internal/queue/queue-status'
import { purgeRemovedPairs } from '@inlay/knowledge/internal/upkeep/removed-pairs'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { startPostgres, type PostgresServer } from '../postgres-server.ts'
import { makeWorker, request, useDialect, type TestWorker } from '../setup.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
  useDialect(async () => {
    const database = await server.takeDatabase()
    onTestFinished(() => server.returnDatabase(database))
    return postgres({ connectionString: database, maxConnections: 4 })
  })
})
afterAll(() => server.stop())

/** Stored in the reverse of their order. */
const ids = ['c', 'b', 'a']
const claimId = crypto.randomUUID()
const now = 2_000_000
const policy = { maxAttempts: 5, maxOutageAttempts: 40 }

/** Operations that lock several documents, by default some that a claim holds. */
const changes: readonly (readonly [string, (setting: TestWorker) => Promise<unknown>, state?: 'failed'])[] = [
  ['new versions', ({ accept }) => accept(...ids.map((id) => request({ id, text: 'Another text.' })))],
  ['the end of a claim', ({ db }) => releaseClaim(db, claimId)],
  ['the end of a claim whose lease ran out', ({ db }) => sweepClaims(db, { now })],
  [
    'failures',
    ({ db }) => {
      const failed = { revision: 1, attempts: 1, failures: 0, reason: 'It failed.', isOutage: false }
      const tries = ids.map((id) => ({ ...failed, id }))
      return recordFailures(db, tries, { claimId, now, random: () => 0.5, policy })
    },
  ],
  [
    'visible versions',
    ({ db }) => {
      const document = {
        revision: 1,
        incarnation: 1,
        generation: 'g',
        chunkCount: 1,
        pairIds: [1],
        tags: [],
        source: 'web',
      }
      const written = ids.map((id) => ({ ...document, id, metadata: null, files: [] }))
      return settle(db, { claimId, space: 0, now, written, abandoned: [] })
    },
  ],
  ['failed documents that are tried again', ({ db }) => requeueFailed(db, { now, query: {} }), 'failed'],
  [
    'a removed pair',
    async ({ db }) => {
      await db.updateTable('inlay_pairs').set({ is_removed: 1 }).execute()
      return purgeRemovedPairs(db)
    },
  ],
]

const cases = changes.map(([name, change, state]) => ({ name, change, state }))
test.each(cases)(
  '$name lock documents by id, so that no two wait for each other',
  async ({ change, state }) => {
    const setting = await makeWorker()
    const { db } = setting
    await setting.accept(...ids.map((id) => request({ id, text: 'A text.' })))
    await db
      .insertInto('inlay_claims')
      .values({ id: claimId, owner: 'somebody', generations: '[]', lease_until: 1 })
      .execute()
    const claimed = { state: state ?? ('indexing' as const), claim: state ? null : claimId }
    await db.updateTable('inlay_documents').set(claimed).execute()
    const other = await db.startTransaction().execute()
    await sql`select id from inlay_documents where id = 'a' for update`.execute(other)
    const changed = change(setting)
    await vi.waitFor(
      async () => {
        const { rows } = await sql`select 1 from pg_locks where not granted`.execute(db)
        expect(rows).not.toEqual([])
      },
      { timeout: 60_000 },
    )
    // It waits for the first and holds none of the others.
    const { rows } = await sql`select id from inlay_documents where id in ('b', 'c') for update nowait`.execute(other)
    expect(rows).toHaveLength(2)
    await other.rollback().execute()
    await changed
  },
  60_000,
)
