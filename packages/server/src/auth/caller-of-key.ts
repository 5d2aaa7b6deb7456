import type { Principal } from '@inlay/protocol'
import type { Kysely } from 'kysely'
import { liveKeys, toApiKey, type ApiKey, type KeyRow, type KeyTable } from './key-records.ts'
import { hashOf } from './key-secret.ts'
import { createKeyWatches } from './key-watches.ts'

export interface KeyLookup {
  /** The principal of a key; undefined when unknown, revoked or expired. */
  principalOf(key: string): Promise<Principal | undefined>
  /** Clears the cache after a change and ends the watches of keys that are no longer valid. */
  forget(): Promise<void>
  /**
   * Calls `onEnd` once the principal's key becomes invalid or loses a scope: at once after a change in this process,
   * within 100 ms after one in another. The signal ends the watch.
   * @returns whether the principal came from `principalOf` and is therefore watched
   */
  watch(principal: Principal, onEnd: () => void, signal: AbortSignal): Promise<boolean>
  /** Resolves once all last-use times are written. */
  whenIdle(): Promise<void>
}

export interface KeysOptions {
  /** A database with the tables of `migrateServer`. */
  readonly db: Kysely<KeyTable>
  /** Milliseconds since 1970 UTC. Default: the system clock. */
  readonly now?: () => number
  /** Monotonic clock in milliseconds. Default: `performance.now`. */
  readonly elapsed?: () => number
  /** How long an accepted key is cached, in milliseconds. Default 20; 0 disables the cache. */
  readonly cacheMs?: number
  /** Called for each stored key on its first use of a day (UTC). */
  readonly onUse?: (key: ApiKey) => Promise<void>
  /** Called when a last-use time could not be written; the request continues. */
  readonly onError?: (error: unknown) => void
}

const rememberedKeys = 1000
const lastUseStepMs = 60_000
const dayOf = (time: number): number => Math.floor(time / 86_400_000)

export function createKeyLookup(options: KeysOptions): KeyLookup {
  const { db, now = Date.now, cacheMs = 20, onUse, onError = () => {} } = options
  // Not the system clock: setting it back could keep revoked keys valid.
  const { elapsed = () => performance.now() } = options
  const remembered = new Map<string, { principal: Principal; until: number }>()
  const lookups = new Map<string, Promise<Principal | undefined>>()
  const hashes = new WeakMap<Principal, string>()
  const notes = new Set<Promise<unknown>>()
  const isExpired = (row: KeyRow): boolean => row.expires_at !== null && Number(row.expires_at) <= now()
  const watches = createKeyWatches(db, isExpired)
  let changes = 0

  function noteUse(row: KeyRow): void {
    const time = now()
    if (row.last_used_at !== null && time - Number(row.last_used_at) < lastUseStepMs) return
    const isFirstOfDay = row.last_used_at === null || dayOf(time) !== dayOf(Number(row.last_used_at))
    const note: Promise<unknown> = db
      .updateTable('inlay_api_key')
      .set({ last_used_at: time })
      .where('id', '=', row.id)
      .execute()
      .then(async () => (isFirstOfDay ? onUse?.(toApiKey(row)) : undefined))
      .catch(onError)
      .finally(() => notes.delete(note))
    notes.add(note)
  }

  async function lookUp(key: string): Promise<Principal | undefined> {
    const changesBefore = changes
    const hash = await hashOf(key)
    const row = await liveKeys(db).where('hash', '=', hash).executeTakeFirst()
    if (row === undefined || isExpired(row)) return undefined
    noteUse(row)
    const principal = toPrincipal(row)
    hashes.set(principal, hash)
    if (remembered.size >= rememberedKeys) remembered.clear()
    // If a key changed during its lookup, caching the result would keep the old state.
    if (cacheMs > 0 && changes === changesBefore) remembered.set(key, { principal, until: elapsed() + cacheMs })
    return principal
  }

  return {
    principalOf(key) {
      const known = remembered.get(key)
      if (known !== undefined && known.until > elapsed()) return Promise.resolve(known.principal)
      remembered.delete(key)
      // Concurrent requests share a query.
      const begun = lookups.get(key)
      if (begun) return begun
      const lookup = lookUp(key).finally(() => {
        if (lookups.get(key) === lookup) lookups.delete(key)
      })
      lookups.set(key, lookup)
      return lookup
    },
    forget() {
      changes++
      remembered.clear()
      lookups.clear()
      return watches.check()
    },
    async watch(principal, onEnd, signal) {
      const hash = hashes.get(principal)
      if (hash !== undefined) watches.add({ hash, scopes: principal.scopes }, onEnd, signal)
      return hash !== undefined
    },
    whenIdle: async () => void (await Promise.all(notes)),
  }
}

function toPrincipal(row: KeyRow): Principal {
  const { id: keyId, owner, email, scopes, groups, streamFormat, limits } = toApiKey(row)
  return {
    id: owner,
    ...(email === null ? {} : { email }),
    scopes,
    groups,
    ...(streamFormat === null ? {} : { streamFormat }),
    ...(limits === null ? {} : { limits, keyId }),
  }
}
