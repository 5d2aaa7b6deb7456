import {
  InlayError,
  limitNames,
  scopes as allScopes,
  unknownName,
  type CallerLimits,
  type Principal,
  type Scope,
  type StreamFormat,
} from '@inlay/protocol'
import type { Kysely, UpdateResult } from 'kysely'
import { bearerKey, type Authenticator } from './required-caller.ts'
import { createKeyLookup } from './caller-of-key.ts'
import { insertKey, liveKeys, toApiKey, type ApiKey, type KeyRow, type KeyTable } from './key-records.ts'
import { displayOf, hashOf, newKey } from './key-secret.ts'

/** What a new key may and for whom. */
export interface NewApiKey {
  readonly name?: string | null
  /** At least one. */
  readonly scopes: readonly Scope[]
  /** Several keys of one owner share sessions and files. Default: an owner of its own, made up. */
  readonly owner?: string
  readonly email?: string | null
  readonly groups?: readonly string[]
  /** Framing of its streams where `Accept` decides nothing. Default: that of the server. */
  readonly streamFormat?: StreamFormat | null
  /** From when on it is refused, in milliseconds since 1970 UTC; within `cacheMs`. Default: never. */
  readonly expiresAt?: number | null
  /** What may be used with it, counted for this key alone, in the place of what all callers may. Default: that. */
  readonly limits?: CallerLimits | null
}

/** What can be changed of a key. */
export type ApiKeyChange = Partial<Omit<NewApiKey, 'owner'>>

/** API keys: random, stored as hashes, shown once. */
export interface Keys {
  /** Makes a key; `key` is shown here and never again. INVALID_INPUT without a scope. */
  create(wanted: NewApiKey): Promise<{ key: string; record: ApiKey }>
  /** Keys not revoked, oldest first. */
  list(): Promise<readonly ApiKey[]>
  /** NOT_FOUND, INVALID_INPUT without a scope. */
  change(id: number, change: ApiKeyChange): Promise<ApiKey>
  /** Gives the record a new key; the old one ends at once in this process, within `cacheMs` in others; streams as `watch` says. NOT_FOUND. */
  regenerate(id: number): Promise<{ key: string; record: ApiKey }>
  /** Ends a key: at once in this process, within `cacheMs` in others. NOT_FOUND. */
  revoke(id: number): Promise<void>
  /** Deletes all keys of an owner, revoked ones too; answers how many. */
  erase(owner: string): Promise<number>
  /** Whom a key acts for; undefined when unknown, revoked or expired. */
  principalOf(key: string): Promise<Principal | undefined>
  /** Calls `onEnd` once the key of a principal is refused, until the signal aborts; false for principals of others. */
  watch(principal: Principal, onEnd: () => void, signal: AbortSignal): Promise<boolean>
  /** Accepts `Authorization: Bearer <key>`. */
  readonly authenticate: Authenticator
  /** Writes what is still to be written. Idempotent. */
  close(): Promise<void>
}

/** What keys are made with. */
export interface KeysOptions {
  /** Holds the tables of `migrateServer`. */
  readonly db: Kysely<KeyTable>
  /** Milliseconds since 1970 UTC. Default: the clock. */
  readonly now?: () => number
  /** Milliseconds on a clock that nobody sets. Default: `performance.now`. */
  readonly elapsed?: () => number
  /** How long an accepted key is remembered, in milliseconds. Default 20; 0 looks it up each time. */
  readonly cacheMs?: number
  /** Called with each stored key the first time it is used on a day (UTC). */
  readonly onUse?: (key: ApiKey) => Promise<void>
  /** Told of failures to note the last use; the request goes on. */
  readonly onError?: (error: unknown) => void
}

/** Keys over a database. */
export function createKeys(options: KeysOptions): Keys {
  const { db, now = Date.now, elapsed = () => performance.now(), cacheMs = 20, onError = () => {} } = options
  const lookup = createKeyLookup({ db, now, elapsed, cacheMs, onUse: options.onUse, onError })

  /** Changes a live key; NOT_FOUND when there is none. */
  async function update(id: number, values: Partial<KeyRow>): Promise<void> {
    const query = db.updateTable('inlay_api_key').set(values).where('id', '=', id).where('revoked_at', 'is', null)
    const { numUpdatedRows }: UpdateResult = await query.executeTakeFirst()
    await lookup.forget()
    if (Number(numUpdatedRows) === 0) throw new InlayError('NOT_FOUND', { message: 'No such API key.' })
  }

  async function recordOf(id: number): Promise<ApiKey> {
    return toApiKey(await liveKeys(db).where('id', '=', id).executeTakeFirstOrThrow())
  }

  return {
    async create(wanted) {
      const key = newKey()
      return { key, record: toApiKey(await insertKey(db, await toRow(wanted, key, now()))) }
    },
    async list() {
      return (await liveKeys(db).orderBy('id').execute()).map(toApiKey)
    },
    async change(id, change) {
      await update(id, toChange(id, change))
      return recordOf(id)
    },
    async regenerate(id) {
      const key = newKey()
      await update(id, { hash: await hashOf(key), display: displayOf(key), last_used_at: null })
      return { key, record: await recordOf(id) }
    },
    async erase(owner) {
      const { numDeletedRows } = await db.deleteFrom('inlay_api_key').where('owner', '=', owner).executeTakeFirst()
      await lookup.forget()
      return Number(numDeletedRows)
    },
    revoke: (id) => update(id, { revoked_at: now() }),
    principalOf: lookup.principalOf,
    watch: lookup.watch,
    async authenticate(request) {
      const key = bearerKey(request)
      return key === undefined ? undefined : lookup.principalOf(key)
    },
    close: lookup.settled,
  }
}

async function toRow(wanted: NewApiKey, key: string, createdAt: number): Promise<Omit<KeyRow, 'id'>> {
  return {
    hash: await hashOf(key),
    display: displayOf(key),
    name: wanted.name ?? null,
    owner: wanted.owner ?? crypto.randomUUID(),
    email: wanted.email ?? null,
    scopes: JSON.stringify(checkedScopes(wanted.scopes)),
    groups: JSON.stringify(wanted.groups ?? []),
    stream_format: wanted.streamFormat ?? null,
    created_at: createdAt,
    last_used_at: null,
    revoked_at: null,
    expires_at: wanted.expiresAt ?? null,
    limits: toLimits(wanted.limits),
  }
}

/** The id is among what is set, so that a change of nothing is still an update that finds its row. */
function toChange(
  id: number,
  { name, email, scopes, groups, streamFormat, expiresAt, limits }: ApiKeyChange,
): Partial<KeyRow> {
  return {
    id,
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    ...(scopes === undefined ? {} : { scopes: JSON.stringify(checkedScopes(scopes)) }),
    ...(groups === undefined ? {} : { groups: JSON.stringify(groups) }),
    ...(streamFormat === undefined ? {} : { stream_format: streamFormat }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(limits === undefined ? {} : { limits: toLimits(limits) }),
  }
}

/** @throws INVALID_INPUT for a limit that is not known, which would be none at all */
function toLimits(limits: CallerLimits | null | undefined): string | null {
  if (!limits) return null
  const unknown = Object.keys(limits).find((name) => !(limitNames as readonly string[]).includes(name))
  if (unknown === undefined) return JSON.stringify(limits)
  throw new InlayError('INVALID_INPUT', { message: `The limit "${unknown}" ${unknownName(unknown, limitNames)}` })
}

function checkedScopes(wanted: readonly Scope[]): readonly Scope[] {
  const known = allScopes.filter((scope) => wanted.includes(scope))
  if (known.length === 0 || known.length !== new Set(wanted).size) {
    throw new InlayError('INVALID_INPUT', {
      message: `A key needs at least one scope, each one of ${allScopes.join(', ')}.`,
    })
  }
  return known
}
