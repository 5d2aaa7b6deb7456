import type { Kysely } from 'kysely'
import { liveKeys, type KeyRow, type KeyTable } from './key-records.ts'

/** A key that something long goes on for. */
export interface WatchedKey {
  readonly hash: string
  readonly scopes: readonly string[]
}

/** Tells streams when the key that they go on for is refused. */
export interface KeyWatches {
  /** Calls `onEnd` once the key is refused or has lost a scope; the signal ends the watch. */
  add(key: WatchedKey, onEnd: () => void, signal: AbortSignal): void
  /** Asks the database now. While it does not answer, nothing ends. */
  check(): Promise<void>
}

/** How long a change by another process may go unnoticed; one query for all keys, while any is watched. */
const checkIntervalMs = 100
const maxHashesPerQuery = 500

/** @param isExpired whether a live key has expired by now */
export function createKeyWatches(db: Kysely<KeyTable>, isExpired: (row: KeyRow) => boolean): KeyWatches {
  const watches = new Map<() => void, WatchedKey>()
  let timer: ReturnType<typeof setTimeout> | undefined

  const check = async (): Promise<void> => {
    const watched = [...watches]
    const hashes = [...new Set(watched.map(([, { hash }]) => hash))]
    const scopes = new Map<string, readonly string[]>()
    for (let at = 0; at < hashes.length; at += maxHashesPerQuery) {
      const part = hashes.slice(at, at + maxHashesPerQuery)
      for (const row of await liveKeys(db).where('hash', 'in', part).execute())
        // Written by us only, from checked values.
        if (!isExpired(row)) scopes.set(row.hash, JSON.parse(row.scopes) as string[])
    }
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
      // Two watches may share a function.
      const end = (): void => onEnd()
      watches.set(end, key)
      signal.addEventListener('abort', () => watches.delete(end), { once: true })
      schedule()
    },
    check: () => check().catch(() => {}),
  }
}
