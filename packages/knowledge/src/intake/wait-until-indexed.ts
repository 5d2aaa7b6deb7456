import { readProgress } from '../queue/queue.ts'
import type { Records } from '../schema/tables.ts'

/** A version somebody waits for. */
export interface AwaitedVersion {
  readonly id: string
  readonly revision: number
  readonly limitMs: number
  readonly signal?: AbortSignal
}

/** Lets callers wait until what they sent is searchable or has failed. */
export interface IndexedWaiters {
  /** Resolves then, or when the document is removed, the time is up, or the signal aborts. */
  waitUntilIndexed(awaited: AwaitedVersion): Promise<void>
  /** Says that the state of documents changed. */
  notify(ids: readonly string[]): void
}

/** How often a wait looks by itself: another process may do the work. */
const lookMs = 250

export function createIndexedWaiters(db: Records): IndexedWaiters {
  const listeners = new Map<string, Set<() => void>>()

  /** Until the document is notified, or it is time to look. */
  function rest(id: string, restMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        const waiting = listeners.get(id)
        waiting?.delete(done)
        if (waiting?.size === 0) listeners.delete(id)
        resolve()
      }
      const timer = setTimeout(done, restMs)
      signal?.addEventListener('abort', done, { once: true })
      const waiting = listeners.get(id) ?? new Set()
      listeners.set(id, waiting.add(done))
    })
  }

  return {
    waitUntilIndexed: async ({ id, revision, limitMs, signal }) => {
      const end = performance.now() + limitMs
      for (;;) {
        const progress = await readProgress(db, id, revision)
        const leftMs = end - performance.now()
        if (progress !== 'waiting' || leftMs <= 0 || signal?.aborted) return
        await rest(id, Math.min(leftMs, lookMs), signal)
      }
    },
    notify: (ids) => {
      for (const id of ids) for (const done of listeners.get(id) ?? []) done()
    },
  }
}
