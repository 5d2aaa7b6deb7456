import type { Kysely } from 'kysely'
import { liveKeys, type KeyRow, type KeyTable } from './key-records.ts'

export interface WatchedKey {
  readonly hash: string
  readonly scopes: readonly string[]
}

export interface KeyWatches {
  /** Calls `onEnd` once the key is invalid or has lost a scope; the signal ends the watch. */
  add(key: WatchedKey, onEnd: () => void, signal: AbortSignal): void
  /** Queries the database now. If the query fails, no watch ends. */
  check(): Promise<void>
}

/** How late a change by another process is noticed. One query covers all keys, while any is watched. */
const checkIntervalMs = 100

/** @param isExpired whether a key that was not revoked has expired */
export function createKeyWatches(db: Kysely<KeyTable>, isExpired: (row: KeyRow) => boolean): KeyWatches {
  const watches = new Map<() => void, WatchedKey>()
  let timer: ReturnType<typeof setTimeout> | undefined

  const check = async (): Promise<void> => {
    // Loaded here, so that a host that only mounts the server loads no database.
    const { isAmong } = await import('@inlay/records')
    const watched = [...watches]
    const hashes = [...new Set(watched.map(([, { hash }]) => hash))]
    const scopes = new Map<string, readonly string[]>()
    const keys = liveKeys(db).where(isAmong(db, 'hash', hashes))
    for (const row of await keys.execute())
      // Written only by this package, from validated values.
      if (!isExpired(row)) scopes.set(row.hash, JSON.parse(row.scopes) as string[])
    for (const [onEnd, key] of watched) {
      const left = scopes.get(key.hash)
      if (left !== undefined && key.scopes.every((scope) => left.includes(scope))) continue
      if (watches.delete(onEnd)) onEnd()
    }
  }
  const schedule = (): void => {
    if (timer !== undefined || watches.size === 0) return
    timer = setTimeout(async () => {
      await check().catch(() => {})
      timer = undefined
      schedule()
    }, checkIntervalMs)
    timer.unref?.()
  }
  return {
    add: (key, onEnd, signal) => {
      if (signal.aborted) return
      // Wrapped because two watches may pass the same function.
      const end = (): void => onEnd()
      watches.set(end, key)
      signal.addEventListener('abort', () => watches.delete(end), { once: true })
      schedule()
    },
    check: () => check().catch(() => {}),
  }
}
