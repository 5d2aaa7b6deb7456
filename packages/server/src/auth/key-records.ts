import type { CallerLimits, Scope, StreamFormat } from '@inlay/protocol'
import type { Kysely, SelectQueryBuilder } from 'kysely'

/** Table of API keys, as Kysely sees it. Times are milliseconds since 1970 UTC. */
export interface KeyTable {
  inlay_api_key: KeyRow
}

/** A row of {@link KeyTable}. */
export interface KeyRow {
  id: number
  /** See `hashOf`. */
  hash: string
  /** What a person recognises a key by. */
  display: string
  name: string | null
  owner: string
  email: string | null
  /** JSON arrays of strings. */
  scopes: string
  groups: string
  stream_format: StreamFormat | null
  created_at: number
  last_used_at: number | null
  revoked_at: number | null
  expires_at: number | null
  /** JSON of its CallerLimits. */
  limits: string | null
}

/** An API key as it may be shown: never the key itself. Times are milliseconds since 1970 UTC. */
export interface ApiKey {
  readonly id: number
  readonly name: string | null
  /** First and last characters, e.g. `inlay_Ab3x********9fQk`. */
  readonly display: string
  /** Whom the key acts for: the `id` of its principal. */
  readonly owner: string
  readonly email: string | null
  readonly scopes: readonly Scope[]
  readonly groups: readonly string[]
  /** Framing of its streams where `Accept` decides nothing; null: that of the server. */
  readonly streamFormat: StreamFormat | null
  readonly createdAt: number
  /** When it was last accepted, to the minute; null when never. */
  readonly lastUsedAt: number | null
  /** From when on it is refused; null when it does not expire. */
  readonly expiresAt: number | null
  /** What may be used with it, counted for it alone; null: what all callers may. */
  readonly limits: CallerLimits | null
}

/** Keys that were not revoked. */
export function liveKeys(db: Kysely<KeyTable>): SelectQueryBuilder<KeyTable, 'inlay_api_key', KeyRow> {
  return db.selectFrom('inlay_api_key').selectAll().where('revoked_at', 'is', null)
}

/** Inserts under the next free id; ids are given here because SQL dialects disagree on how to count. */
export async function insertKey(db: Kysely<KeyTable>, values: Omit<KeyRow, 'id'>): Promise<KeyRow> {
  for (let attempt = 1; ; attempt++) {
    const { last } = await db
      .selectFrom('inlay_api_key')
      .select((expression) => expression.fn.max('id').as('last'))
      .executeTakeFirstOrThrow()
    try {
      return await db
        .insertInto('inlay_api_key')
        .values({ id: Number(last ?? 0) + 1, ...values })
        .returningAll()
        .executeTakeFirstOrThrow()
    } catch (error) {
      // Another process took the id in between: the table's primary key noticed.
      if (attempt >= 5) throw error
    }
  }
}

/** A row as the program holds it. */
export function toApiKey(row: KeyRow): ApiKey {
  return {
    id: Number(row.id),
    name: row.name,
    display: row.display,
    owner: row.owner,
    email: row.email,
    // Written by us only, from checked values.
    scopes: JSON.parse(row.scopes) as Scope[],
    groups: JSON.parse(row.groups) as string[],
    streamFormat: row.stream_format,
    createdAt: Number(row.created_at),
    lastUsedAt: row.last_used_at === null ? null : Number(row.last_used_at),
    expiresAt: row.expires_at === null ? null : Number(row.expires_at),
    limits: row.limits === null ? null : (JSON.parse(row.limits) as CallerLimits),
  }
}
