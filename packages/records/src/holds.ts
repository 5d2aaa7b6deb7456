import { InlayError } from '@inlay/protocol'
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { hasRowLocks, type AnyDatabase } from './dialect.ts'

/** A legal hold: until it is lifted, nothing of a person is removed. */
export interface Hold {
  readonly id: number
  /** Null: of everybody. */
  readonly person: string | null
  readonly reason: string
  /** Milliseconds since 1970 UTC. */
  readonly placedAt: number
}

export interface Holds {
  /** When it resolves, removals that had begun before have ended, and others do not begin. */
  place(hold: Pick<Hold, 'person' | 'reason'>): Promise<Hold>
  /** The oldest first. */
  list(): Promise<readonly Hold[]>
  /** @returns what was lifted @throws NOT_FOUND */
  lift(id: number): Promise<Hold>
  /** See {@link refuseHeld}. */
  refuse(person?: string): Promise<void>
}

/** The table of holds; packages that remove data of people create it in a migration. */
export const holdTable = {
  inlay_holds: 'id generated, person text not null, reason text not null, placed_at bigint not null',
} as const

/** Stored as person of a hold of everybody. */
const everybody = ''

export function createHolds({ db, now = Date.now }: { readonly db: AnyDatabase; readonly now?: () => number }): Holds {
  return {
    place: async ({ person, reason }) => {
      const placed = { person: person ?? everybody, reason, placed_at: now() }
      return toHold(await db.insertInto('inlay_holds').values(placed).returningAll().executeTakeFirstOrThrow())
    },
    list: async () => (await db.selectFrom('inlay_holds').selectAll().orderBy('id').execute()).map(toHold),
    lift: async (id) => {
      const row = await db.deleteFrom('inlay_holds').where('id', '=', id).returningAll().executeTakeFirst()
      if (row) return toHold(row)
      throw new InlayError('NOT_FOUND', { message: 'There is no such legal hold: it was lifted, or never placed.' })
    },
    refuse: (person) => refuseHeld(db, person),
  }
}

function toHold({ id, person, reason, placed_at: placedAt }: Readonly<Record<string, unknown>>): Hold {
  const whose = person === everybody ? null : String(person)
  return { id: Number(id), person: whose, reason: String(reason), placedAt: Number(placedAt) }
}

/** SQL condition: the person that a column names is under no hold. */
export const isUnheld = (column: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`not exists (select 1 from inlay_holds where person in (${sql.ref(column)}, ${everybody}))`

export async function isHeld(db: AnyDatabase, person: string): Promise<boolean> {
  return (await holdsOf(db, person)).length > 0
}

/** Ids of the holds of a person. @param person undefined: of anybody */
async function holdsOf(db: AnyDatabase, person: string | undefined): Promise<number[]> {
  const rows = await db
    .selectFrom('inlay_holds')
    .select('id')
    .$if(person !== undefined, (query) => query.where('person', 'in', [person, everybody]))
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => Number(id))
}

/**
 * First statement of a transaction that removes data of people: a hold that is placed meanwhile waits for its end, and
 * the statements that follow see those placed before.
 */
export async function lockHolds(records: AnyDatabase): Promise<void> {
  // SQLite has one writer at a time.
  if (hasRowLocks(records)) await sql`lock table inlay_holds in share mode`.execute(records)
}

/**
 * In a transaction that removes data of a person, as its first statement; elsewhere a first look.
 * @param person default: anybody
 * @throws CONFLICT with the holds that forbid it
 */
export async function refuseHeld(records: AnyDatabase, person?: string): Promise<void> {
  if (records.isTransaction) await lockHolds(records)
  const ids = await holdsOf(records, person)
  if (ids.length === 0) return
  const which = ids.length === 1 ? `legal hold ${ids[0]}` : `legal holds ${ids.join(', ')}`
  const message = `Kept by ${which}: it can be deleted after an administrator has lifted ${ids.length === 1 ? 'it' : 'them'}.`
  throw new InlayError('CONFLICT', { message, data: { holds: ids } })
}

/** Removes data of a person in a transaction. @throws CONFLICT with the holds that forbid it */
export const removeOf = <Result>(
  db: AnyDatabase,
  person: string,
  remove: (records: AnyDatabase) => Promise<Result>,
): Promise<Result> =>
  db.transaction().execute(async (records) => {
    await refuseHeld(records, person)
    return remove(records)
  })
