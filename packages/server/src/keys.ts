import { InlayError, scopes as allScopes, type Principal, type Scope } from '@inlay/protocol'
import type { Kysely } from 'kysely'
import { bearerKey, type Authenticator } from './authentication.ts'

/** Table of API keys, as Kysely sees it. Times are milliseconds since 1970 UTC. */
export interface KeyTable {
  inlay_api_key: {
    id: number
    /** SHA-256 of the key, hex: 256 random bits need no salt and no slow hash. */
    hash: string
    /** What a person recognises a key by. */
    display: string
    name: string | null
    owner: string
    email: string | null
    /** JSON arrays of strings. */
    scopes: string
    groups: string
    created_at: number
    last_used_at: number | null
    revoked_at: number | null
  }
}

/** An API key as it may be shown: never the key itself. Times are milliseconds since 1970 UTC. */
export interface ApiKey {
  readonly id: number
  readonly name: string | null
  /** First and last characters, e.g. `inlay_Ab3x…9fQk`. */
  readonly display: string
  /** Whom the key acts for: the `id` of its principal. */
  readonly owner: string
  readonly email: string | null
  readonly scopes: readonly Scope[]
  readonly groups: readonly string[]
  readonly createdAt: number
  /** When it was last accepted, to the minute; null when never. */
  readonly lastUsedAt: number | null
}

/** What a new key may and for whom. */
export interface NewApiKey {
  readonly name?: string | null
  /** At least one. */
  readonly scopes: readonly Scope[]
  /** Several keys of one owner share sessions and files. Default: an owner of its own, made up. */
  readonly owner?: string
  readonly email?: string | null
  readonly groups?: readonly string[]
}

/** What can be changed of a key. */
export type ApiKeyChange = Partial<Pick<NewApiKey, 'name' | 'scopes' | 'groups' | 'email'>>

/** API keys: random, stored as hashes, shown once. */
export interface Keys {
  /** Makes a key; `key` is shown here and never again. INVALID_INPUT without a scope. */
  create(wanted: NewApiKey): Promise<{ key: string; record: ApiKey }>
  /** Keys not revoked, oldest first. */
  list(): Promise<readonly ApiKey[]>
  /** NOT_FOUND, INVALID_INPUT without a scope. */
  change(id: number, change: ApiKeyChange): Promise<ApiKey>
  /** Gives the record a new key; the old one ends at once in this process, within `cacheMs` in others. NOT_FOUND. */
  regenerate(id: number): Promise<{ key: string; record: ApiKey }>
  /** Ends a key: at once in this process, within `cacheMs` in others. NOT_FOUND. */
  revoke(id: number): Promise<void>
  /** Whom a key acts for; undefined when unknown or revoked. */
  principalOf(key: string): Promise<Principal | undefined>
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
  /** How long an accepted key is remembered, in milliseconds. Default 5000; 0 looks it up each time. */
  readonly cacheMs?: number
  /** Told of failures to note the last use; the request goes on. */
  readonly onError?: (error: unknown) => void
}

const rememberedKeys = 1000
const lastUseStepMs = 60_000
const prefix = 'inlay_'

/** Keys over a database. */
export function createKeys(options: KeysOptions): Keys {
  const { db, now = Date.now, cacheMs = 5000, onError = () => {} } = options
  const remembered = new Map<string, { principal: Principal; until: number }>()
  const notes = new Set<Promise<unknown>>()

  const live = () => db.selectFrom('inlay_api_key').selectAll().where('revoked_at', 'is', null)

  async function recordOf(id: number): Promise<ApiKey> {
    const row = await live().where('id', '=', id).executeTakeFirst()
    if (row === undefined) throw unknownKey()
    return toApiKey(row)
  }

  function noteUse(row: KeyTable['inlay_api_key']): void {
    const time = now()
    if (row.last_used_at !== null && time - Number(row.last_used_at) < lastUseStepMs) return
    const note: Promise<unknown> = db
      .updateTable('inlay_api_key')
      .set({ last_used_at: time })
      .where('id', '=', row.id)
      .execute()
      .catch(onError)
      .finally(() => notes.delete(note))
    notes.add(note)
  }

  async function principalOf(key: string): Promise<Principal | undefined> {
    const known = remembered.get(key)
    if (known !== undefined && known.until > now()) return known.principal
    remembered.delete(key)
    const row = await live()
      .where('hash', '=', await hashOf(key))
      .executeTakeFirst()
    if (row === undefined) return undefined
    noteUse(row)
    const { owner, email, scopes, groups } = toApiKey(row)
    const principal: Principal = { id: owner, ...(email === null ? {} : { email }), scopes, groups }
    if (cacheMs > 0) {
      if (remembered.size >= rememberedKeys) remembered.clear()
      remembered.set(key, { principal, until: now() + cacheMs })
    }
    return principal
  }

  return {
    async create(wanted) {
      const key = newKey()
      const scopes = checkedScopes(wanted.scopes)
      const values = {
        hash: await hashOf(key),
        display: displayOf(key),
        name: wanted.name ?? null,
        owner: wanted.owner ?? `key:${crypto.randomUUID()}`,
        email: wanted.email ?? null,
        scopes: JSON.stringify(scopes),
        groups: JSON.stringify(wanted.groups ?? []),
        created_at: now(),
        last_used_at: null,
        revoked_at: null,
      }
      return { key, record: toApiKey(await insertKey(db, values)) }
    },
    async list() {
      return (await live().orderBy('id').execute()).map(toApiKey)
    },
    async change(id, change) {
      const set = {
        ...(change.name === undefined ? {} : { name: change.name }),
        ...(change.email === undefined ? {} : { email: change.email }),
        ...(change.scopes === undefined ? {} : { scopes: JSON.stringify(checkedScopes(change.scopes)) }),
        ...(change.groups === undefined ? {} : { groups: JSON.stringify(change.groups) }),
      }
      if (Object.keys(set).length > 0) {
        await db.updateTable('inlay_api_key').set(set).where('id', '=', id).where('revoked_at', 'is', null).execute()
        remembered.clear()
      }
      return recordOf(id)
    },
    async regenerate(id) {
      const key = newKey()
      await recordOf(id)
      await db
        .updateTable('inlay_api_key')
        .set({ hash: await hashOf(key), display: displayOf(key), last_used_at: null })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .execute()
      remembered.clear()
      return { key, record: await recordOf(id) }
    },
    async revoke(id) {
      const ended = await db
        .updateTable('inlay_api_key')
        .set({ revoked_at: now() })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      remembered.clear()
      if (Number(ended.numUpdatedRows) === 0) throw unknownKey()
    },
    principalOf,
    async authenticate(request) {
      const key = bearerKey(request)
      return key === undefined ? undefined : principalOf(key)
    },
    async close() {
      await Promise.all(notes)
    },
  }
}

/** Inserts under the next free id. Ids are given here because SQL dialects disagree on how to count. */
async function insertKey(
  db: Kysely<KeyTable>,
  values: Omit<KeyTable['inlay_api_key'], 'id'>,
): Promise<KeyTable['inlay_api_key']> {
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

function toApiKey(row: KeyTable['inlay_api_key']): ApiKey {
  return {
    id: Number(row.id),
    name: row.name,
    display: row.display,
    owner: row.owner,
    email: row.email,
    // Written by this file only, from checked values.
    scopes: JSON.parse(row.scopes) as Scope[],
    groups: JSON.parse(row.groups) as string[],
    createdAt: Number(row.created_at),
    lastUsedAt: row.last_used_at === null ? null : Number(row.last_used_at),
  }
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

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return (
    prefix +
    btoa(String.fromCharCode(...bytes))
      .replace(/\+/g, '-')
      .replace(/\//g, '_')
      .replace(/=+$/, '')
  )
}

function displayOf(key: string): string {
  return `${key.slice(0, prefix.length + 4)}********${key.slice(-4)}`
}

async function hashOf(key: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function unknownKey(): InlayError {
  return new InlayError('NOT_FOUND', { message: 'No such API key.' })
}
