import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { migrateConversations } from '@inlay/conversations'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { postgres } from '@inlay/drivers/postgres'
import { migrateKnowledge } from '@inlay/knowledge'
import { migrateServer } from '@inlay/server'
import { unzipSync } from 'fflate'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { poolOf, startPostgres } from '../../stand-in/pglite.ts'
import { unpack } from './unpack.ts'

/** The version before: with a new one, `write-data.ts` records both files. */
const version = '0.1.0'

/** What its processes sent to their databases while they wrote that data, and how their tables were made. */
interface Recorded {
  readonly sqlite: { readonly statements: readonly string[] }
  readonly postgres: { readonly schema: readonly string[]; readonly statements: readonly string[] }
}

const [bytes] = Object.values(unzipSync(readFileSync(join(import.meta.dirname, `statements-${version}.zip`))))
const recorded = JSON.parse(new TextDecoder().decode(bytes)) as Recorded
const parts = ['server', 'knowledge', 'agent'] as const
const migrateAll = async (db: Kysely<unknown>, mode: 'expand' | 'contract'): Promise<void> => {
  for (const migrate of [migrateServer, migrateKnowledge, migrateConversations]) await migrate(db, mode)
}

/** The statements that the tables refuse, shortened. */
async function refused(
  statements: readonly string[],
  prepare: (statement: string) => unknown,
): Promise<readonly string[]> {
  const list: string[] = []
  for (const statement of statements)
    try {
      await prepare(statement)
    } catch (error) {
      list.push(`${(error as Error).message}: ${statement.slice(0, 60)}`)
    }
  return list
}

const contracted = expect.stringMatching(/lines/)

test('on SQLite, the version before goes on while this one expands its tables', async () => {
  const { dataFolder } = unpack(join(import.meta.dirname, `data-${version}.zip`))
  const file = join(dataFolder, 'inlay.db')
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file }) })
  onTestFinished(() => db.destroy())
  // A connection knows the tables as they were when it read them.
  const withNow = <Result>(use: (now: DatabaseSync) => Result): Result => {
    const now = new DatabaseSync(file)
    onTestFinished(() => now.close())
    return use(now)
  }
  const refusedNow = (): Promise<readonly string[]> =>
    withNow((now) => refused(recorded.sqlite.statements, (statement) => now.prepare(statement)))
  const columns = (): string[] =>
    withNow((now) =>
      now
        .prepare(
          `select t.name || '.' || c.name as name from sqlite_master t, pragma_table_info(t.name) c
           where t.type = 'table' and c."notnull" and c.dflt_value is null`,
        )
        .all()
        .map(({ name }) => String(name)),
    )
  const required = columns()
  const tables = new Set(required.map((name) => name.split('.')[0]))
  expect(await refusedNow()).toEqual([])
  await migrateAll(db, 'expand')
  expect(await refusedNow()).toEqual([])
  // Rows that the version before adds have no value for a new column.
  const added = columns().filter((name) => !required.includes(name))
  expect(added.filter((name) => tables.has(name.split('.')[0]))).toEqual([])
  await migrateAll(db, 'contract')
  expect(await refusedNow()).toContainEqual(contracted)
})

test('on PostgreSQL, the version before goes on while this one expands its tables', async () => {
  const { dataFolder } = unpack(join(import.meta.dirname, `data-${version}.zip`))
  const sqlite = new DatabaseSync(join(dataFolder, 'inlay.db'))
  onTestFinished(() => sqlite.close())
  const database = await startPostgres()
  onTestFinished(() => database.close())
  const { schema, statements } = recorded.postgres
  for (const statement of schema) await database.query(statement)
  // Both databases have had the same steps.
  for (const part of parts)
    for (const { name } of sqlite.prepare(`select name from inlay_${part}_migration`).all())
      await database.query(`insert into inlay_${part}_migration (name, timestamp) values ($1, '')`, [name])
  const db = new Kysely<unknown>({ dialect: postgres({ pool: poolOf(database) }) })
  onTestFinished(() => db.destroy())
  const refusedNow = (): Promise<readonly string[]> =>
    refused(statements, (statement) => database.describeQuery(statement))
  expect(await refusedNow()).toEqual([])
  await migrateAll(db, 'expand')
  expect(await refusedNow()).toEqual([])
  await migrateAll(db, 'contract')
  expect(await refusedNow()).toContainEqual(contracted)
})
