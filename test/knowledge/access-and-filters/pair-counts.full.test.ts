import type { PGlite } from '@electric-sql/pglite'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { postgres } from '@inlay/drivers/postgres'
import { migrateKnowledge } from '@inlay/knowledge'
import { foldCounts, repairCounts } from '@inlay/knowledge/internal/schema/pair-counts'
import type { Tables } from '@inlay/knowledge/internal/schema/tables'
import { Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { poolOf, startPostgres } from '../../stand-in/pglite.ts'

async function counted(db: Kysely<Tables>): Promise<unknown> {
  const { rows } = await sql<{ amount: number }>`
    select pair_id, source, state, sum(amount) as amount from inlay_pair_counts
    group by pair_id, source, state having sum(amount) <> 0 order by pair_id, source, state`.execute(db)
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }))
}

async function actual(db: Kysely<Tables>): Promise<unknown> {
  const { rows } = await sql<{ amount: number }>`
    select pair_id, source, state, count(*) as amount from inlay_document_pairs
    join inlay_documents on inlay_documents.id = document_id
    group by pair_id, source, state order by pair_id, source, state`.execute(db)
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }))
}

describe.each(['SQLite', 'PostgreSQL'])('counts of pairs on %s', (name) => {
  test('say what the documents say after any history, and are right again after a repair', async () => {
    let engine: PGlite | undefined
    if (name === 'PostgreSQL') engine = await startPostgres()
    const dialect = engine ? postgres({ pool: poolOf(engine) }) : nodeSqlite({ file: ':memory:' })
    const db = new Kysely<Tables>({ dialect })
    await migrateKnowledge(db)
    const random = randomFrom(7)
    for (let step = 0; step < 400; step++) {
      await db.transaction().execute((records) => change(records, random))
      if (step % 50 === 0) {
        await foldCounts(db)
        expect(await counted(db)).toEqual(await actual(db))
      }
    }
    expect(await counted(db)).toEqual(await actual(db))
    expect(((await actual(db)) as unknown[]).length).toBeGreaterThan(10)

    await sql`delete from inlay_pair_counts where pair_id = 2`.execute(db)
    await sql`update inlay_pair_counts set amount = amount + 3 where pair_id = 1`.execute(db)
    expect(await counted(db)).not.toEqual(await actual(db))
    await repairCounts(db)
    expect(await counted(db)).toEqual(await actual(db))
    await db.destroy()
    await engine?.close()
  })
})

/** Anything that happens to documents: several at once, in any order of tables. */
async function change(db: Kysely<Tables>, random: (below: number) => number): Promise<void> {
  const ids = [...new Set([random(30), random(30), random(30)])].map((id) => `d${id}`)
  const kind = random(5)
  const state = (['pending', 'indexing', 'indexed', 'failed'] as const)[random(4)]!
  if (kind === 0) {
    const rows = ids.map((id) => ({ id, ...document, state, source: `s${random(3)}` }))
    await db
      .insertInto('inlay_documents')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  } else if (kind === 1) {
    const rows = ids.map((id) => ({ document_id: id, pair_id: 1 + random(4) }))
    await db
      .insertInto('inlay_document_pairs')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  } else if (kind === 2) await db.updateTable('inlay_documents').set({ state }).where('id', 'in', ids).execute()
  else if (kind === 3)
    await db
      .updateTable('inlay_documents')
      .set({ source: `s${random(3)}` })
      .where('id', 'in', ids)
      .execute()
  else if (random(2) === 0) {
    await db.deleteFrom('inlay_documents').where('id', 'in', ids).execute()
    if (random(2) === 0) await db.deleteFrom('inlay_document_pairs').where('document_id', 'in', ids).execute()
  } else await db.deleteFrom('inlay_document_pairs').where('document_id', 'in', ids).execute()
}

/** Numbers below a bound, the same ones in each run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const document = {
  revision: 1,
  incarnation: 1,
  hash: '',
  semantic_identifier: 'Title',
  link: '',
  content_bytes: 1,
  accepted_at: 1,
  due_at: 1,
  attempts: 0,
  failures: 0,
  interruptions: 0,
}
