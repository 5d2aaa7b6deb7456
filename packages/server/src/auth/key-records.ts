import type { CallerLimits, Scope, StreamFormat } from '@inlay/protocol'
import type { Kysely, SelectQueryBuilder } from 'kysely'

/** Table of API keys for Kysely. Times are milliseconds since 1970 UTC. */
export interface KeyTable {
  inlay_api_key: KeyRow
}

export interface KeyRow {
  id: number
  /** See `hashOf`. */
  hash: string
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

/** An API key without its secret. Times are milliseconds since 1970 UTC. */
export interface ApiKey {
  readonly id: number
  readonly name: string | null
  /** First and last characters, e.g. `inlay_Ab3x********9fQk`. */
  readonly display: string
  /** Id of the principal the key acts for. */
  readonly owner: string
  readonly email: string | null
  readonly scopes: readonly Scope[]
  readonly groups: readonly string[]
  /** Stream format when `Accept` does not select one; null: the server's default. */
  readonly streamFormat: StreamFormat | null
  readonly createdAt: number
  /** Time of the last use, to the minute; null when never used. */
  readonly lastUsedAt: number | null
  /** Expiry time; null: never expires. */
  readonly expiresAt: number | null
  /** Limits counted for this key only; null: the limits for all callers apply. */
  readonly limits: CallerLimits | null
}

/** Query of keys that are not revoked. */
export function liveKeys(db: Kysely<KeyTable>): SelectQueryBuilder<KeyTable, 'inlay_api_key', KeyRow> {
  return db.selectFrom('inlay_api_key').selectAll().where('revoked_at', 'is', null)
}

/** Inserts under the next free id. Ids are assigned here because SQL dialects have no common auto-increment. */
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
      // Another process used the id in the meantime, which the primary key detected.
      if (attempt >= 5) throw error
    }
  }
}

export function toApiKey(row: KeyRow): ApiKey {
  return {
    id: Number(row.id),
    name: row.name,
    display: row.display,
    owner: row.owner,
    email: row.email,
    // Written only by this package, from validated values.
    scopes: JSON.parse(row.scopes) as Scope[],
    groups: JSON.parse(row.groups) as string[],
    streamFormat: row.stream_format,
    createdAt: Number(row.created_at),
    lastUsedAt: row.last_used_at === null ? null : Number(row.last_used_at),
    expiresAt: row.expires_at === null ? null : Number(row.expires_at),
    limits: row.limits === null ? null : (JSON.parse(row.limits) as CallerLimits),
  }
}
