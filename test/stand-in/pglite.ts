import { PGlite } from '@electric-sql/pglite'
import type { postgres } from '@inlay/drivers/postgres'

/** A Postgres in this process. */
export async function startPostgres(): Promise<PGlite> {
  // Returns 64-bit integers as text, like `pg`.
  return PGlite.create({ parsers: { 20: (value: string) => value } })
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
