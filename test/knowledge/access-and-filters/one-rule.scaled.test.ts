import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { postgres } from '@inlay/drivers/postgres'
import { migrateKnowledge, type Caller } from '@inlay/knowledge'
import {
  maySee,
  pairsFor,
  privateFilesCaller,
  privateFilesPair,
  readPairs,
} from '@inlay/knowledge/internal/access-and-filters/permissions'
import { resolveFilters } from '@inlay/knowledge/internal/access-and-filters/search-filters'
import type { Records } from '@inlay/knowledge/internal/schema/tables'
import { toUserId } from '@inlay/protocol'
import { Kysely } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cases } from '../../cases.ts'
import fc from '../../fast-check.ts'
import { poolOf, startPostgres } from '../../stand-in/pglite.ts'

/** Names that are ids, addresses and groups at once, so that a rule that takes one for another shows. */
const words = ['ana', 'ben', 'ana@example.com', toUserId('ana'), 'Ana', "o'hara"]
const word = fc.constantFrom(...words)
const ids = [1, 2, 3, 4, 5, privateFilesPair]

const pair = fc.record({ is_public: fc.constantFrom(0, 1), is_removed: fc.constantFrom(0, 0, 1) })
const grant = fc.record({
  kind: fc.constantFrom('pair' as const, 'document_set' as const),
  target_id: fc.constantFrom(...ids),
  grantee: fc.constantFrom('user' as const, 'group' as const),
  name: word,
})
const named = fc.record({
  id: fc.oneof(fc.constant('ana'), word),
  scopes: fc.subarray(['search', 'chat', 'ingest'] as const),
  email: fc.option(word, { nil: undefined }),
  groups: fc.option(fc.uniqueArray(word, { maxLength: 3 }), { nil: undefined }),
})
const caller: fc.Arbitrary<Caller | undefined> = fc.oneof(
  { weight: 8, arbitrary: named },
  { weight: 1, arbitrary: named.map((each) => ({ ...each, scopes: ['admin'] as const })) },
  { weight: 1, arbitrary: fc.constantFrom(undefined, privateFilesCaller, { ...privateFilesCaller }) },
)

const idsIn = async (db: Records, scope: Awaited<ReturnType<typeof pairsFor>>): Promise<number[]> => {
  const pairs = db.selectFrom('inlay_pairs').select('id').orderBy('id')
  const rows = await (scope ? pairs.where(scope.holds('id')) : pairs).execute()
  return rows.map(({ id }) => id)
}

describe.each(cases(['SQLite'], ['SQLite', 'PostgreSQL']))('on %s', (name) => {
  test(
    'a query lets a caller see the same pairs as the rule in code, whatever their access',
    { timeout: 240_000 },
    async () => {
      const dialect =
        name === 'SQLite' ? nodeSqlite({ file: ':memory:' }) : postgres({ pool: poolOf(await startPostgres()) })
      const db: Records = new Kysely({ dialect })
      onTestFinished(() => db.destroy())
      await migrateKnowledge(db)
      const accessRecords = fc.record({
        pairs: fc.array(pair, { minLength: ids.length, maxLength: ids.length }),
        hasPrivateFiles: fc.boolean(),
        grants: fc.array(grant, { maxLength: 20 }),
        callers: fc.array(caller, { minLength: 6, maxLength: 6 }),
      })
      await fc.assert(
        fc.asyncProperty(accessRecords, async ({ pairs, hasPrivateFiles, grants, callers }) => {
          for (const table of ['inlay_pairs', 'inlay_grants'] as const) await db.deleteFrom(table).execute()
          const kept = hasPrivateFiles ? ids : ids.slice(0, -1)
          const rows = kept.map((id, at) => ({
            ...pairs[at]!,
            ...(id === privateFilesPair && { is_public: 0, is_removed: 0 }),
            id,
            name: 'Pair',
            is_paused: 0,
            created_at: 0,
          }))
          await db.insertInto('inlay_pairs').values(rows).execute()
          const distinct = [...new Map(grants.map((each) => [JSON.stringify(Object.values(each)), each])).values()]
          if (distinct.length > 0) await db.insertInto('inlay_grants').values(distinct).execute()
          const known = [...(await readPairs(db)).values()]
          for (const each of callers) {
            const seen = known
              .filter((guarded) => !guarded.isRemoved && maySee(guarded, each))
              .map(({ id }) => id)
              .toSorted((left, right) => left - right)
            expect(await idsIn(db, await pairsFor(db, each))).toEqual(seen)
            for (const id of [...ids, 6, 0, 2 ** 31, 1.5])
              expect(await idsIn(db, await pairsFor(db, each, id))).toEqual(seen.includes(id) ? [id] : [])
            const { pairs: filtered = known.map(({ id }) => id) } = await resolveFilters(db, undefined, each)
            expect(filtered.toSorted((left, right) => left - right)).toEqual(seen)
          }
        }),
        { numRuns: name === 'SQLite' ? cases(60, 600) : cases(3, 60) },
      )
    },
  )
})
