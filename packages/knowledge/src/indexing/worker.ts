import { whileRenewed } from '@inlay/records'
import { createSignal, delay } from '@inlay/scheduling'
import { type IndexingContext, indexClaim } from './index-claim.ts'
import { type Claim, claim as claimDocuments, releaseClaim, renewClaim } from '../queue/claims.ts'
import { sweepClaims } from '../queue/lapsed-leases.ts'
import type { TargetSpace } from '../reindexing/migrating-index.ts'

/** How documents are claimed from the queue. Times are in milliseconds. */
export interface WorkerOptions {
  /**
   * Whether this process indexes documents, moves them to another index, and maintains the index. If false, it only
   * searches, and accepts documents for other processes. Default true.
   */
  readonly indexes?: boolean
  /** Identifies this worker among all that share the database; never reused. Default: a random id. */
  readonly owner?: string
  /**
   * Whether the process of an owner has ended: its documents are then claimed before its lease expires. Default:
   * unknown.
   */
  readonly isGone?: (owner: string) => boolean
  /** Duration of the lease of a claim; it is renewed while the claim is processed. Default 6000. */
  readonly leaseMs?: number
  /**
   * How long the worker waits for more documents before it claims them, so that one commit contains many; twice as long
   * in a steady stream. Default 100.
   */
  readonly lingerMs?: number
  /** Interval at which an idle worker checks for documents that other processes accepted. Default 1000. */
  readonly pollMs?: number
  /**
   * Maximum number of documents in one claim. Default 256; 64 if a model describes images, 16 if a model summarizes
   * documents.
   */
  readonly maxClaimDocuments?: number
  /** Maximum number of attempts for a document that fails alone. Default 5. */
  readonly maxAttempts?: number
  /** Maximum number of attempts while a required service is down. Default 40. */
  readonly maxOutageAttempts?: number
  /** Timeout of a call of the embedder; after it, the next call contains half as many texts. Default 60 000. */
  readonly embedTimeoutMs?: number
  /** How long `close` waits for documents in progress before it returns them to the queue. Default 2000. */
  readonly closeTimeoutMs?: number
}

export interface WorkerContext extends Omit<IndexingContext, 'signal' | 'policy'> {
  readonly worker: WorkerOptions & { readonly owner: string }
  /** The space that documents are indexed into; undefined while this process cannot index. Default: the first space. */
  readonly target?: () => Promise<TargetSpace | undefined>
  /** Called and awaited before documents are claimed. */
  readonly beforeClaim?: (() => Promise<void>) | undefined
  /** Whether documents wait instead of being claimed. */
  readonly isPaused?: (() => Promise<boolean>) | undefined
  /** Called with each claim that was taken in the order of the queue. */
  readonly onTaken?: (claim: Claim) => void
  readonly onClaimDone: (documentIds: readonly string[]) => void
}

export interface ClaimRunner {
  /** Claims the documents that are due, if any. Before that, regularly or if requested, releases abandoned claims. */
  take(options?: { sweep?: boolean; isOfSmall?: boolean }): Promise<Claim | undefined>
  /**
   * Indexes the documents of a claim, and renews its lease meanwhile; stops if the lease is lost. Never rejects:
   * failures are reported, and retried.
   */
  work(claim: Claim): Promise<void>
  /** Returns all documents in progress to the queue. */
  abort(): void
}

/** Maximum number of characters in one claim: its documents become searchable together, when all are indexed. */
const claimCharacters = 3 * 2 ** 20

export function createClaimRunner(context: WorkerContext): ClaimRunner {
  const { db, now, onError } = context
  const {
    owner,
    isGone,
    leaseMs = 6000,
    pollMs = 1000,
    maxClaimDocuments: limit = defaultLimit(context),
  } = context.worker
  const released = new AbortController()
  const { maxAttempts = 5, maxOutageAttempts = 40 } = context.worker
  const indexing = { ...context, policy: { maxAttempts, maxOutageAttempts } }
  const held = new Set<string>()
  let sweptAt = -Infinity

  async function sweep(): Promise<void> {
    sweptAt = now()
    const swept = await sweepClaims(db, { now: now(), isGone, isHeld: (id) => held.has(id) })
    if (swept > 0) context.onRetired?.()
  }

  return {
    take: async ({ sweep: sweepsNow, isOfSmall } = {}) => {
      const sinceMs = now() - sweptAt
      // Negative after the system clock was set back.
      if (sweepsNow || sinceMs >= leaseMs / 2 || sinceMs < 0) await sweep()
      await context.beforeClaim?.()
      if (await context.isPaused?.()) return undefined
      const target = context.target ? await context.target() : { number: 0, hasVectors: true }
      if (target === undefined) return undefined
      const { number: space, hasVectors } = target
      const { at, embedding } = context
      const maxCharacters = Math.min(claimCharacters, embedding?.claimCharacters() ?? Infinity)
      const bounds = { limit, maxCharacters, isOfSmall }
      const claim = await claimDocuments(db, { owner, now: now(), leaseMs, space, hasVectors, ...bounds, at })
      if (claim && !isOfSmall) context.onTaken?.(claim)
      return claim
    },
    work: async (claim) => {
      const renew = (): Promise<boolean> => renewClaim(db, claim.id, now() + leaseMs)
      const renewal = { renew, everyMs: leaseMs / 3, signal: released.signal, onError }
      held.add(claim.id)
      try {
        await whileRenewed(renewal, (signal) => indexClaim(claim, { ...indexing, signal }))
      } catch (error) {
        onError(error)
        // The database failed, not a document: an immediate retry would fail again.
        if (!released.signal.aborted) await new Promise((resolve) => setTimeout(resolve, pollMs))
        // If this fails too, the documents are claimed again when the lease expires.
        await releaseClaim(db, claim.id, claim.generations).catch(onError)
        context.onRetired?.()
      } finally {
        held.delete(claim.id)
        context.onClaimDone(claim.documentIds)
      }
    },
    abort: () => released.abort(),
  }
}

/** Documents of a claim become searchable together, so claims are smaller if a model reads each document. */
function defaultLimit({ summarize, describeImage }: WorkerContext): number {
  if (summarize) return 16
  return describeImage ? 64 : 256
}

export interface Worker {
  start(): void
  /** Wakes the worker: there may be documents in the queue. */
  notify(): void
  /** Finishes the documents in progress, or returns them to the queue. */
  close(): Promise<void>
}

/**
 * Maximum number of concurrent claims: one is embedded while the previous one is appended. While large documents use
 * both lanes, small documents get a third one, so that they do not wait.
 */
const lanes = 2

/**
 * A claim of at least this many documents indicates a steady stream. The worker then waits this many times as long
 * before the next claim: fewer commits need less maintenance.
 */
const [streamDocuments, streamLinger] = [8, 2]

export function createWorker(context: WorkerContext): Worker {
  const { onError } = context
  const { lingerMs = 100, pollMs = 1000, closeTimeoutMs = 2000 } = context.worker
  const runner = createClaimRunner(context)
  const signal = createSignal()
  /** Claims in progress; true if the claim is a large document. */
  const underWay = new Map<Promise<void>, boolean>()
  let loop: Promise<void> | undefined
  const closing = new AbortController()
  const pause = (delayMs: number): Promise<void> => delay(delayMs, closing.signal).catch(() => {})

  async function run(): Promise<void> {
    // Documents already in the queue are claimed without waiting for more.
    let [areMoreDue, isOfSmall] = [true, false]
    /** Number of documents in the previous claim. */
    let taken = 0
    while (!closing.signal.aborted) {
      if (!areMoreDue) {
        await signal.sleep(pollMs)
        // Gathers documents for one commit, unless the wait for a large document has already gathered enough.
        if (!closing.signal.aborted && !isOfSmall)
          await pause(taken >= streamDocuments ? lingerMs * streamLinger : lingerMs)
      }
      isOfSmall = underWay.size === lanes && [...underWay.values()].every((isLarge) => isLarge)
      if (underWay.size >= lanes && !isOfSmall) {
        await Promise.race(underWay.keys())
        areMoreDue = true
      } else {
        const claim = await runner.take({ isOfSmall }).catch((error: unknown) => {
          onError(error)
          return pause(pollMs)
        })
        taken = claim?.documentIds.length ?? 0
        areMoreDue = claim?.isCutShort ?? false
        if (!claim) continue
        const work = runner.work(claim).finally(() => {
          underWay.delete(work)
          // Large documents may be waiting for this lane.
          if (claim.isLarge) signal.notify()
        })
        underWay.set(work, claim.isLarge)
      }
    }
  }

  return {
    start: () => {
      loop ??= run()
    },
    notify: signal.notify,
    close: async () => {
      closing.abort()
      signal.notify()
      const grace = setTimeout(runner.abort, closeTimeoutMs)
      await loop
      await Promise.all(underWay.keys())
      clearTimeout(grace)
    },
  }
}
