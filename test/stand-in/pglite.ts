import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import type { postgres } from '@inlay/drivers/postgres'

/** A Postgres in this process, empty. */
export async function startPostgres(options?: PGliteOptions): Promise<PGlite> {
  // Returns 64-bit integers as text, like `pg`.
  const settings = { parsers: { 20: (value: string) => value }, ...options }
  // A script that is run by hand has no temporary folder of its own, where a file could be left for another version.
  if (!process.env['VITEST']) return PGlite.create(settings)
  // The folder goes with the run. To initialize a database takes four times as long as to load one.
  const dump = join(tmpdir(), 'empty-postgres.tar')
  if (existsSync(dump)) return PGlite.create({ ...settings, loadDataDir: new Blob([readFileSync(dump)]) })
  const database = await PGlite.create(settings)
  const bytes = await (await database.dumpDataDir('none')).bytes()
  // Whole at once, for those who look for it meanwhile.
  writeFileSync(`${dump}-${process.pid}`, bytes)
  renameSync(`${dump}-${process.pid}`, dump)
  return database
}

/** A pool of one connection to it, handed from user to user. */
export function poolOf(database: PGlite): NonNullable<Parameters<typeof postgres>[0]['pool']> {
  let free = Promise.resolve()
  const connect = async () => {
    const before = free
    const { promise, resolve } = Promise.withResolvers<void>()
    free = promise
    await before
    return {
      query: async (sql: string, parameters: readonly unknown[]) => {
        const { rows, affectedRows } = await database.query(sql, [...parameters])
        const command = sql.trim().split(/\s/)[0]?.toUpperCase()
        return { command, rowCount: affectedRows ?? rows.length, rows }
      },
      release: resolve,
    }
  }
  // The members of a pool that Kysely uses.
  return { connect, end: async () => {} } as unknown as ReturnType<typeof poolOf>
}
