import { InlayError } from '@inlay/protocol'
import { countWaiting } from '../queue/queue-status.ts'
import type { Records } from '../schema/tables.ts'

/**
 * Lets the calls of each caller take effect in the order they were made, though some take longer to prepare than others.
 */
export interface CallOrder {
  /** Acts on what was prepared, once everything the caller submitted before has begun to act or could not be prepared. */
  submit<Prepared, Result>(
    caller: { readonly id: string } | undefined,
    prepare: () => Promise<Prepared>,
    act: (prepared: Prepared) => Promise<Result>,
  ): Promise<Result>
  /** Refuses what is submitted from now on with CLOSED; resolves once everything before was prepared. */
  close(): Promise<void>
}

export function createCallOrder(): CallOrder {
  const lasts = new Map<string, Promise<unknown>>()
  let isClosed = false
  return {
    submit: async (caller, prepare, act) => {
      if (isClosed) throw new InlayError('CLOSED')
      const key = caller?.id ?? ''
      const preparing = prepare()
      // Avoids an unhandled rejection; the refusal is reported when its turn comes.
      preparing.catch(() => {})
      const turn = (lasts.get(key) ?? Promise.resolve()).then(() => preparing)
      const last = turn
        .catch(() => {})
        .then(() => {
          if (lasts.get(key) === last) lasts.delete(key)
        })
      lasts.set(key, last)
      return turn.then(act)
    },
    close: async () => {
      isClosed = true
      await Promise.all(lasts.values())
    },
  }
}

/** Limits of the queue. */
export interface AdmissionOptions {
  readonly db: Records
  readonly now: () => number
  /** Most documents waiting. */
  readonly limit: number
}

/** Documents that were taken from the queue together. */
export interface TakenDocuments {
  readonly documentIds: readonly string[]
  /** Time since when the last document has been waiting. */
  readonly waitedSince: number
  /** Whether more are due. */
  readonly isCutShort: boolean
}

/** Bounds the queue, and orders it so that a flood of one caller does not hold up the others. */
export interface Admission {
  /** Refuses documents when too many wait already. @throws RATE_LIMITED with `retryAfterSeconds` */
  check(): Promise<void>
  /** Counts an accepted document in. @returns the time that it waits since, as the queue orders; at most `now` */
  placeOf(caller: string, characters: number, now: number): number
  /** Says which documents were taken from the queue in its order. */
  noteTaken(taken: TakenDocuments): void
}

const countEveryMs = 1000
const rateOverMs = 10_000
/** About what indexing takes, in milliseconds: only how callers compare depends on it. */
const perDocumentMs = 0.5
const perCharacterMs = 0.0005
const mostCallers = 10_000

/**
 * Creates the admission of documents. Counting is exact once a second and by what this process adds in between.
 *
 * The order is start-time fair queueing: while documents wait, one of a caller who has none in the queue goes in where
 * the queue is worked off now, and each further one of the same caller as much later as the one before takes.
 */
export function createAdmission({ db, now, limit }: AdmissionOptions): Admission {
  let waiting = 0
  let countedAt = -Infinity
  let counting: Promise<void> | undefined
  let taken = 0
  let takenSince = now()
  /** Position of the worker in the queue; Infinity when nothing waits. */
  let current = Infinity
  /** When the last document of each caller has had its turn. */
  const ends = new Map<string, number>()

  async function recount(): Promise<void> {
    try {
      waiting = await countWaiting(db)
      countedAt = now()
    } finally {
      counting = undefined
    }
  }

  /** From how many were taken lately; a guess when none was. */
  function retryAfterSeconds(): number {
    const perSecond = (taken / Math.max(now() - takenSince, 1000)) * 1000
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
    placeOf: (caller, characters, acceptedAt) => {
      waiting++
      const place = Math.min(acceptedAt, Math.max(current, ends.get(caller) ?? -Infinity))
      if (ends.size >= mostCallers) for (const [each, end] of ends) if (end <= current) ends.delete(each)
      if (ends.size >= mostCallers) ends.clear()
      ends.set(caller, place + perDocumentMs + characters * perCharacterMs)
      return Math.floor(place)
    },
    noteTaken: ({ documentIds, waitedSince, isCutShort }) => {
      const spanMs = now() - takenSince
      if (spanMs > rateOverMs || spanMs < 0) [taken, takenSince] = [0, now()]
      taken += documentIds.length
      // Before what came in the same moment, which may be thousands; never back to an earlier one.
      const place = waitedSince - 1
      current = !isCutShort ? Infinity : current === Infinity ? place : Math.max(current, place)
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
  /** Ends all waits: what was sent is stored. Resolves once none of them reads the records any more. */
  close(): Promise<void>
}

/** How often a wait looks by itself: another process may do the work. */
const lookMs = 250

export function createIndexedWaiters(db: Records): IndexedWaiters {
  const listeners = new Map<string, Set<(event?: unknown) => void>>()
  const underWay = new Set<Promise<void>>()
  let isClosed = false
  const wait = async ({ id, revision, limitMs, signal }: AwaitedVersion): Promise<void> => {
    const end = performance.now() + limitMs
    while (!isClosed) {
      const leftMs = Math.max(0, end - performance.now())
      const { promise: change, resolve: noteChange } = Promise.withResolvers<unknown>()
      const timer = setTimeout(noteChange, Math.min(leftMs, lookMs))
      signal?.addEventListener('abort', noteChange, { once: true })
      const others = listeners.get(id) ?? new Set()
      listeners.set(id, others.add(noteChange))
      try {
        const isWaiting = await isStillWaiting(db, id, revision)
        if (!isWaiting || leftMs === 0 || signal?.aborted) return
        await change
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', noteChange)
        others.delete(noteChange)
        if (others.size === 0) listeners.delete(id)
      }
    }
  }
  return {
    waitUntilIndexed: async (awaited) => {
      const waiting = wait(awaited)
      underWay.add(waiting)
      await waiting.finally(() => underWay.delete(waiting))
    },
    notify: (ids) => {
      for (const id of ids) for (const noteChange of listeners.get(id) ?? []) noteChange()
    },
    close: async () => {
      isClosed = true
      for (const notes of listeners.values()) for (const noteChange of notes) noteChange()
      await Promise.allSettled(underWay)
    },
  }
}

/** Whether a version is neither searchable nor failed yet, nor removed, nor replaced by one that is. */
async function isStillWaiting(db: Records, id: string, revision: number): Promise<boolean> {
  const row = await db
    .selectFrom('inlay_documents')
    .select(['state', 'revision', 'visible_revision'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return false
  const isOver = row.state === 'indexed' || row.state === 'failed'
  const isVisible = row.visible_revision !== null && Number(row.visible_revision) >= revision
  return !isVisible && !(isOver && Number(row.revision) >= revision)
}
