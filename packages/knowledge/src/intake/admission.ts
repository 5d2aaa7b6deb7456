import { InlayError } from '@inlay/protocol'
import { countWaiting } from '../queue/queue.ts'
import type { Records } from '../schema/tables.ts'

/** Lets calls take effect in the order they were made, though some take longer to prepare than others. */
export interface CallOrder {
  /** Acts on what was prepared, once everything submitted before has begun to act or could not be prepared. */
  submit<Prepared, Result>(preparing: Promise<Prepared>, act: (prepared: Prepared) => Promise<Result>): Promise<Result>
  /** Resolves once everything submitted so far was prepared. */
  drained(): Promise<void>
}

export function createCallOrder(): CallOrder {
  let last: Promise<unknown> = Promise.resolve()
  return {
    submit: (preparing, act) => {
      // Whoever is refused meanwhile is told when its turn comes.
      preparing.catch(() => {})
      const turn = last.then(() => preparing)
      last = turn.catch(() => {})
      return turn.then(act)
    },
    drained: async () => void (await last),
  }
}

/** What bounds the queue. */
export interface QueueLimitOptions {
  readonly db: Records
  readonly now: () => number
  /** Most documents waiting. */
  readonly limit: number
}

/** Refuses documents when too many wait already. */
export interface QueueLimit {
  /** @throws RATE_LIMITED with `retryAfterSeconds` */
  check(): Promise<void>
  noteQueued(): void
  noteDone(documents: number): void
}

const countEveryMs = 1000
const rateOverMs = 10_000

/** Creates a bound. Counting is exact once a second and by what this process adds in between. */
export function createQueueLimit({ db, now, limit }: QueueLimitOptions): QueueLimit {
  let waiting = 0
  let countedAt = -Infinity
  let counting: Promise<void> | undefined
  let done = 0
  let doneSince = now()

  async function recount(): Promise<void> {
    try {
      waiting = await countWaiting(db)
      countedAt = now()
    } finally {
      counting = undefined
    }
  }

  /** From how many were done lately; a guess when none was. */
  function retryAfterSeconds(): number {
    const perSecond = (done / Math.max(now() - doneSince, 1000)) * 1000
    const excess = waiting - limit * 0.9
    return perSecond > 0 ? Math.min(Math.max(Math.ceil(excess / perSecond), 1), 60) : 10
  }

  return {
    check: async () => {
      const ageMs = now() - countedAt
      // Less than nothing: the time of day was set back.
      if (ageMs >= countEveryMs || ageMs < 0) await (counting ??= recount())
      if (waiting < limit) return
      throw new InlayError('RATE_LIMITED', {
        message: 'Too many documents wait to be indexed: send the next ones later.',
        data: { retryAfterSeconds: retryAfterSeconds() },
      })
    },
    noteQueued: () => {
      waiting++
    },
    noteDone: (documents) => {
      const spanMs = now() - doneSince
      if (spanMs > rateOverMs || spanMs < 0) {
        done = 0
        doneSince = now()
      }
      done += documents
    },
  }
}

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

/** How a version of a document fares. */
export type Progress = 'waiting' | 'done' | 'gone'

/** Whether a version, or a later one, is searchable or has failed; `gone` when the document is not there. */
export async function readProgress(db: Records, id: string, revision: number): Promise<Progress> {
  const row = await db
    .selectFrom('inlay_documents')
    .select(['state', 'revision', 'visible_revision'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return 'gone'
  const isOver = row.state === 'indexed' || row.state === 'failed'
  const isVisible = row.visible_revision !== null && Number(row.visible_revision) >= revision
  return isVisible || (isOver && Number(row.revision) >= revision) ? 'done' : 'waiting'
}

/** Gives accepted documents their place in the queue, so that a flood of one caller does not hold up the others. */
export interface FairOrder {
  /** The time that a document waits since, as the queue orders; at most `now`. */
  placeOf(caller: string, characters: number, now: number): number
  /** Says which documents were taken last: what the last of them waited since, and whether more are due. */
  noteTaken(taken: { readonly waitedSince: number; readonly isCutShort: boolean }): void
}

/** About what indexing takes, in milliseconds: only how callers compare depends on it. */
const perDocumentMs = 0.5
const perCharacterMs = 0.0005
const mostCallers = 10_000

/**
 * Start-time fair queueing: while documents wait, one of a caller who has none in the queue goes in where the queue is
 * worked off now, and each further one of the same caller as much later as the one before takes.
 */
export function createFairOrder(): FairOrder {
  /** Where the queue is worked off; Infinity when nothing waits. */
  let current = Infinity
  /** When the last document of each caller has had its turn. */
  const ends = new Map<string, number>()

  return {
    placeOf: (caller, characters, now) => {
      const place = Math.min(now, Math.max(current, ends.get(caller) ?? -Infinity))
      if (ends.size >= mostCallers) for (const [each, end] of ends) if (end <= current) ends.delete(each)
      if (ends.size >= mostCallers) ends.clear()
      ends.set(caller, place + perDocumentMs + characters * perCharacterMs)
      return Math.floor(place)
    },
    noteTaken: ({ waitedSince, isCutShort }) => {
      // Before what came in the same moment, which may be thousands; never back to an earlier one.
      const place = waitedSince - 1
      current = !isCutShort ? Infinity : current === Infinity ? place : Math.max(current, place)
    },
  }
}
