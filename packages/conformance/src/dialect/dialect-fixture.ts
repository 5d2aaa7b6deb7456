import { Kysely, type Dialect, type Generated } from 'kysely'
import { createTables, type BigInteger, type NullableBigInteger } from '@inlay/records'

/** Returns another connection, or pool, to the same database; it may contain other tables. */
export type MakeDialect = () => Dialect | Promise<Dialect>

interface Notes {
  id: Generated<number>
  name: string
  note: string | null
  count: BigInteger
  at: NullableBigInteger
}

type Note = { name: string; note: string | null; count: number; at: number | null }

/** Two connections to the database, with a table for one test. */
export interface Databases {
  readonly first: Kysely<Record<string, Notes>>
  readonly second: Kysely<Record<string, Notes>>
  readonly table: string
}

export type WithTable = (table: string, work: (databases: Databases) => Promise<void>) => Promise<void>

/** Passes two connections and an empty table to the work, and drops the table afterwards. */
export function withTableOf(make: MakeDialect): WithTable {
  return async (suffix, work) => {
    const table = `conformance_${suffix}`
    const [first, second] = [await open(make), await open(make)]
    try {
      await first.schema.dropTable(table).ifExists().execute()
      await createNotes(first, table)
      await work({ first, second, table })
      await first.schema.dropTable(table).ifExists().execute()
    } finally {
      await Promise.all([first.destroy(), second.destroy()])
    }
  }
}

export async function open(make: MakeDialect): Promise<Databases['first']> {
  return new Kysely({ dialect: await make() })
}

export async function createNotes(db: Databases['first'], table: string): Promise<void> {
  const columns = 'id generated, name text not null unique, note text, count bigint not null, at bigint'
  await createTables(db, { [table]: columns })
}

/** Names of all rows, oldest first. */
export const namesIn = async (db: Databases['first'], table: string): Promise<string[]> =>
  (await db.selectFrom(table).select('name').orderBy('id').execute()).map(({ name }) => name)

export const noteOf = (name: string, rest: Partial<Note> = {}): Note => ({
  name,
  note: null,
  count: 0,
  at: null,
  ...rest,
})
