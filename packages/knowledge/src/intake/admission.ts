import { InlayError } from '@inlay/protocol'
import { countWaiting } from '../queue/queue-status.ts'
import type { Records } from '../schema/tables.ts'

/** Calls of each caller take effect in the order in which they were made, although some take longer to prepare. */
export interface CallOrder {
  /** Prepares and then acts, after everything the caller submitted before has acted or could not be prepared. */
  submit<Prepared, Result>(
    caller: { readonly id: string } | undefined,
    prepare: () => Promise<Prepared>,
    act: (prepared: Prepared) => Promise<Result>,
  ): Promise<Result>
  /** From now on, submitted calls are refused with CLOSED; resolves when everything before was prepared. */
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
      // Avoids an unhandled rejection; the error is reported when the turn of the call comes.
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

export interface AdmissionOptions {
  readonly db: Records
  readonly now: () => number
  /** Maximum number of waiting documents. */
  readonly limit: number
}

export interface TakenDocuments {
  readonly documentIds: readonly string[]
  /** Queue time of the last document. */
  readonly waitedSince: number
  /** Whether more documents are due. */
  readonly isCutShort: boolean
}

/** Bounds the queue, and orders it so that one caller with many documents does not delay the others. */
export interface Admission {
  /** Refuses documents if too many are waiting. @throws RATE_LIMITED with `retryAfterSeconds` */
  check(): Promise<void>
  /** Counts an accepted document. @returns its queue time, by which the queue is ordered; at most `now` */
  placeOf(caller: string, characters: number, now: number): number
  /** Records documents that were claimed in the order of the queue. */
  noteTaken(taken: TakenDocuments): void
}

const countEveryMs = 1000
const rateOverMs = 10_000
/** Estimated time to index a document, in milliseconds. Only used to share the queue between callers. */
const perDocumentMs = 0.5
const perCharacterMs = 0.0005
const maxCallers = 10_000

/**
 * Creates the admission of documents. The count is exact once a second, plus the documents this process adds in
 * between.
 *
 * The order is start-time fair queueing: the first document of a caller is placed where the queue is currently
 * processed, and each further one after the estimated time of the caller's previous document.
 */
export function createAdmission({ db, now, limit }: AdmissionOptions): Admission {
  let waiting = 0
  let countedAt = -Infinity
  let counting: Promise<void> | undefined
  let taken = 0
  let takenSince = now()
  /** Queue time of the documents being claimed; Infinity if nothing waits. */
  let current = Infinity
  /** Estimated queue time at which the last document of each caller is done. */
  const ends = new Map<string, number>()

  async function recount(): Promise<void> {
    try {
      waiting = await countWaiting(db)
      countedAt = now()
    } finally {
      counting = undefined
    }
  }

  /** Computed from the recent indexing rate; a guess if nothing was indexed recently. */
  function retryAfterSeconds(): number {
    const perSecond = (taken / Math.max(now() - takenSince, 1000)) * 1000
    const excess = waiting - limit * 0.9
    return perSecond > 0 ? Math.min(Math.max(Math.ceil(excess / perSecond), 1), 60) : 10
  }

  return {
    check: async () => {
      const ageMs = now() - countedAt
      // Negative after the system clock was set back.
      if (ageMs >= countEveryMs || ageMs < 0) await (counting ??= recount())
      if (waiting < limit) return
      throw new InlayError('RATE_LIMITED', {
        message: 'Too many documents are waiting to be indexed: try again later.',
        data: { retryAfterSeconds: retryAfterSeconds() },
      })
    },
    placeOf: (caller, characters, acceptedAt) => {
      waiting++
      const place = Math.min(acceptedAt, Math.max(current, ends.get(caller) ?? -Infinity))
      if (ends.size >= maxCallers) for (const [each, end] of ends) if (end <= current) ends.delete(each)
      if (ends.size >= maxCallers) ends.clear()
      ends.set(caller, place + perDocumentMs + characters * perCharacterMs)
      return Math.floor(place)
    },
    noteTaken: ({ documentIds, waitedSince, isCutShort }) => {
      const spanMs = now() - takenSince
      if (spanMs > rateOverMs || spanMs < 0) [taken, takenSince] = [0, now()]
      taken += documentIds.length
      // Before the documents of the same millisecond, of which there may be thousands; never earlier than before.
      const place = waitedSince - 1
      current = !isCutShort ? Infinity : current === Infinity ? place : Math.max(current, place)
    },
  }
}

export interface AwaitedVersion {
  readonly id: string
  readonly revision: number
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** Lets callers wait until their documents are searchable or have failed. */
export interface IndexedWaiters {
  /** Resolves then, or when the document is deleted, the time is up, or the signal aborts. */
  waitUntilIndexed(awaited: AwaitedVersion): Promise<void>
  notify(ids: readonly string[]): void
  /** Ends all waits; the documents are stored. Resolves when none reads the records any more. */
  close(): Promise<void>
}

/** Interval between reads of the state: another process may index the document. */
const pollMs = 250

export function createIndexedWaiters(db: Records): IndexedWaiters {
  const listeners = new Map<string, Set<(event?: unknown) => void>>()
  const underWay = new Set<Promise<void>>()
  let isClosed = false
  const wait = async ({ id, revision, timeoutMs, signal }: AwaitedVersion): Promise<void> => {
    const end = performance.now() + timeoutMs
    while (!isClosed) {
      const leftMs = Math.max(0, end - performance.now())
      const { promise: change, resolve: noteChange } = Promise.withResolvers<unknown>()
      const timer = setTimeout(noteChange, Math.min(leftMs, pollMs))
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

/** Whether a version is still waiting: not searchable, failed, deleted, or replaced by a searchable version. */
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
