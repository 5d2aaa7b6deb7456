import {
  InlayError,
  limitNames,
  scopes as allScopes,
  unknownName,
  type CallerLimits,
  type Scope,
  type StreamFormat,
} from '@inlay/protocol'
import type { UpdateResult } from 'kysely'
import { bearerKey, type Authenticator } from './required-caller.ts'
import { createKeyLookup, type KeyLookup, type KeysOptions } from './caller-of-key.ts'
import { insertKey, liveKeys, toApiKey, type ApiKey, type KeyRow } from './key-records.ts'
import { displayOf, hashOf, newKey } from './key-secret.ts'

export interface NewApiKey {
  readonly name?: string | null
  /** At least one scope. */
  readonly scopes: readonly Scope[]
  /** Keys with the same owner share sessions and files. Default: a new owner. */
  readonly owner?: string
  readonly email?: string | null
  readonly groups?: readonly string[]
  /** Stream format when `Accept` does not select one. Default: the server's. */
  readonly streamFormat?: StreamFormat | null
  /** Expiry time in milliseconds since 1970 UTC; takes effect within `cacheMs`. Default: never. */
  readonly expiresAt?: number | null
  /** Limits counted for this key only, instead of the limits for all callers. Default: the limits for all callers. */
  readonly limits?: CallerLimits | null
}

export type ApiKeyChange = Partial<Omit<NewApiKey, 'owner'>>

/** API keys: random, stored as hashes, shown only once. */
export interface Keys extends Pick<KeyLookup, 'principalOf' | 'watch'> {
  /** Creates a key; `key` is returned only here. INVALID_INPUT without a scope. */
  create(wanted: NewApiKey): Promise<{ key: string; record: ApiKey }>
  /** Keys, oldest first; without revoked ones unless they are wanted too. */
  list(options?: { readonly withRevoked?: boolean }): Promise<readonly ApiKey[]>
  /** NOT_FOUND, INVALID_INPUT without a scope. */
  change(id: number, change: ApiKeyChange): Promise<ApiKey>
  /**
   * Replaces the key of a record. The old key becomes invalid at once in this process and within `cacheMs` in others;
   * for streams see `watch`. NOT_FOUND.
   */
  regenerate(id: number): Promise<{ key: string; record: ApiKey }>
  /** Revokes a key: at once in this process, within `cacheMs` in others. NOT_FOUND. */
  revoke(id: number): Promise<void>
  /** Deletes all keys of an owner, including revoked ones. @returns the number deleted */
  erase(owner: string): Promise<number>
  /** Accepts `Authorization: Bearer <key>`. */
  readonly authenticate: Authenticator
  /** Writes pending changes. Idempotent. */
  close(): Promise<void>
}

export function createKeys(options: KeysOptions): Keys {
  const { db, now = Date.now } = options
  const lookup = createKeyLookup(options)

  /** Updates a key that is not revoked. @throws NOT_FOUND */
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
    async list({ withRevoked = false } = {}) {
      const keys = withRevoked ? db.selectFrom('inlay_api_key').selectAll() : liveKeys(db)
      return (await keys.orderBy('id').execute()).map(toApiKey)
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
      const { removeOf } = await import('@inlay/records')
      const { numDeletedRows } = await removeOf(db, owner, (records) =>
        records.deleteFrom('inlay_api_key').where('owner', '=', owner).executeTakeFirst(),
      )
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
    close: lookup.whenIdle,
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

/** Sets the id too, so that an empty change is still an update that finds its row. */
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

/** @throws INVALID_INPUT for an unknown limit, which would otherwise be ignored */
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
