import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { postgres } from '@inlay/drivers/postgres'
import { migrateKnowledge } from '@inlay/knowledge'
import type { Tables } from '@inlay/knowledge/internal/schema/tables'
import { Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { poolOf, startPostgres } from '../../stand-in/pglite.ts'
import { makeKnowledge, request } from '../setup.ts'

/** More than any driver takes parameters. */
const count = 72_000
const ana = { id: 'ana', scopes: ['chat' as const], groups: ['staff'] }

describe.each(['SQLite', 'PostgreSQL'])('with more pairs than a statement takes values, on %s', (name) => {
  test('lists, sources, tags, sets and searches give what the caller may see', { timeout: 25_000 }, async () => {
    const engine = name === 'PostgreSQL' ? await startPostgres() : undefined
    const dialect = engine ? postgres({ pool: poolOf(engine) }) : nodeSqlite({ file: ':memory:' })
    const db = new Kysely<Tables>({ dialect })
    await migrateKnowledge(db)
    await sql`
      with recursive numbers(n) as (select 2 union all select n + 1 from numbers where n < ${sql.lit(count)})
      insert into inlay_pairs (id, name, is_public, is_paused, is_removed, created_at)
      select n, 'Pair', case when n % 2 = 0 then 1 else 0 end, 0, 0, 0 from numbers`.execute(db)
    await sql`
      insert into inlay_grants (kind, target_id, grantee, name)
      select 'pair', id, 'group', 'staff' from inlay_pairs where id % 3 = 0`.execute(db)
    const { knowledge } = await makeKnowledge({ db })
    // Pair 4 is public, 3 is for the staff, 5 for nobody.
    const documents = [
      { id: 'd4', source: 'web', pair: 4 },
      { id: 'd3', source: 'file', pair: 3 },
      { id: 'd5', source: 'slack', pair: 5 },
    ] as const
    for (const { pair, ...document } of documents)
      await knowledge.accept(request({ ...document, metadata: { pair: String(pair) } }, pair))
    await knowledge.start()
    await knowledge.whenIdle()
    const set = { name: 'All', pairIds: [...Array(count).keys()].map((id) => id + 1) }
    await knowledge.documentSets.create(set)

    const listed = await knowledge.list({}, { caller: ana })
    expect(listed.documents.map(({ documentId }) => documentId).toSorted()).toEqual(['d3', 'd4'])
    expect(await knowledge.sources({ caller: ana })).toEqual(['file', 'web'])
    expect((await knowledge.tags({}, { caller: ana })).map(({ value }) => value)).toEqual(['3', '4'])
    expect((await knowledge.documentSets.list({ caller: ana }))[0]?.pairIds).toHaveLength(count)
    expect((await knowledge.pairs.list()).length).toBe(count)
    expect(
      (await knowledge.pairs.progress({ caller: ana })).filter(({ documents }) => documents.indexed > 0),
    ).toHaveLength(2)
    const passages = await knowledge.search({ text: 'text', caller: ana, filters: { document_set: ['All'] } })
    expect(passages.map(({ document }) => document.document_id).toSorted()).toEqual(['d3', 'd4'])
    await db.destroy()
    await engine?.close()
  })
})
