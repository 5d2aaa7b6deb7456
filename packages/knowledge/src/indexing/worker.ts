import { createSignal, delay, unrefTimer } from '@inlay/protocol/concurrency'
import { type IndexingContext, indexClaim } from './index-claim.ts'
import { type Claim, claim as claimDocuments, releaseClaim, renewClaims } from '../queue/claims.ts'
import { sweepClaims } from '../queue/lapsed-leases.ts'
import type { TargetSpace } from '../reindexing/spaced-index.ts'

/** How documents are taken from the queue. Times are milliseconds. */
export interface WorkerOptions {
  /**
   * Whether this process indexes documents, moves them to another index, and keeps the index in order. Otherwise it
   * accepts documents for other processes and searches. Default true.
   */
  readonly indexes?: boolean
  /** Names this worker among others that share the database; never used twice. Default: a random name. */
  readonly owner?: string
  /** Tells owners known to be gone, whose documents need not wait for their lease to run out. Default: none is known. */
  readonly isGone?: (owner: string) => boolean
  /** How long a claim holds unless renewed. Default 6000. */
  readonly leaseMs?: number
  /** How long a claim waits so that one commit carries many documents; twice as long in a steady stream. Default 100. */
  readonly lingerMs?: number
  /** How often an idle worker looks for documents that other processes accepted. Default 1000. */
  readonly pollMs?: number
  /** Most documents in one claim. Default 256; 64 when a model describes images, 16 when one sums documents up. */
  readonly claimDocuments?: number
  /** Tries of a document that fails by itself. Default 5. */
  readonly attemptLimit?: number
  /** Tries while a service it needs is down. Default 40. */
  readonly outageAttemptLimit?: number
  /** Longest wait for one call of the embedder; after it the next call carries half as many texts. Default 60 000. */
  readonly embedTimeoutMs?: number
  /** How long `close` waits for what is in flight before it goes back into the queue. Default 2000. */
  readonly closeMs?: number
}

export interface WorkerContext extends Omit<IndexingContext, 'signal' | 'policy'> {
  readonly worker: WorkerOptions & { readonly owner: string }
  /** The space that documents are brought into; undefined while this process cannot index. Default: the first one. */
  readonly target?: () => Promise<TargetSpace | undefined>
  /** Told of each claim that was taken from the queue in its order. */
  readonly onTaken?: (claim: Claim) => void
  /** Told which documents a finished claim was for. */
  readonly onClaimDone: (documentIds: readonly string[]) => void
}

/** Takes claims and works them off, one call each. */
export interface ClaimRunner {
  /** Frees abandoned claims when it is time, or always when asked to; then takes what is due, if anything. */
  take(options?: { sweep?: boolean; isOfSmall?: boolean }): Promise<Claim | undefined>
  /** Indexes a claim while keeping its lease. Never rejects: what goes wrong is reported and tried again. */
  work(claim: Claim): Promise<void>
  /** Makes everything in flight go back into the queue. */
  letGo(): void
}

/** Most characters of content in one claim: its documents are found together, once all are indexed. */
const claimCharacters = 3 * 2 ** 20

export function createClaimRunner(context: WorkerContext): ClaimRunner {
  const { db, now, onError } = context
  const { owner, isGone, leaseMs = 6000, pollMs = 1000, claimDocuments: limit = defaultLimit(context) } = context.worker
  const released = new AbortController()
  const indexing = toIndexingContext(context, released.signal)
  const held = new Set<string>()
  let sweptAt = -Infinity

  async function sweep(): Promise<void> {
    sweptAt = now()
    const swept = await sweepClaims(db, { now: now(), isGone, isHeld: (id) => held.has(id) })
    if (swept > 0) context.onRetired?.()
  }

  return {
    take: async (options) => {
      const sinceMs = now() - sweptAt
      // Less than nothing: the time of day was set back.
      if (options?.sweep || sinceMs >= leaseMs / 2 || sinceMs < 0) await sweep()
      const target = context.target ? await context.target() : { number: 0, hasVectors: true }
      if (target === undefined) return undefined
      const { number: space, hasVectors } = target
      const { at } = context
      const { isOfSmall } = options ?? {}
      const limitCharacters = Math.min(claimCharacters, context.embedding?.claimCharacters() ?? Infinity)
      const bounds = { limit, limitCharacters, isOfSmall }
      const claim = await claimDocuments(db, { owner, now: now(), leaseMs, space, hasVectors, ...bounds, at })
      if (claim && !isOfSmall) context.onTaken?.(claim)
      return claim
    },
    work: async (claim) => {
      const renewal = setInterval(() => renewClaims(db, owner, now() + leaseMs).catch(onError), leaseMs / 3)
      unrefTimer(renewal)
      held.add(claim.id)
      try {
        await indexClaim(claim, indexing)
      } catch (error) {
        onError(error)
        // The records failed: no document is to blame, and trying again at once would help nobody.
        if (!released.signal.aborted) await new Promise((resolve) => setTimeout(resolve, pollMs))
        // If this fails as well, the lease runs out and the documents are taken up then.
        await releaseClaim(db, claim.id, claim.generations).catch(onError)
        context.onRetired?.()
      } finally {
        clearInterval(renewal)
        held.delete(claim.id)
        context.onClaimDone(claim.documentIds)
      }
    },
    letGo: () => released.abort(),
  }
}

/** Documents of a claim become searchable together, so those that a model reads first come in smaller claims. */
function defaultLimit({ summarize, describeImage }: WorkerContext): number {
  if (summarize) return 16
  return describeImage ? 64 : 256
}

function toIndexingContext(context: WorkerContext, signal: AbortSignal): IndexingContext {
  const { attemptLimit = 5, outageAttemptLimit = 40 } = context.worker
  return {
    ...context,
    signal,
    policy: { attemptLimit, outageAttemptLimit },
  }
}

/** Takes documents from the queue into the index. */
export interface Worker {
  /** Begins to work by itself. */
  start(): void
  /** Says that there may be something to do. */
  notify(): void
  /** Finishes what is in flight, or puts it back into the queue. */
  close(): Promise<void>
}

/**
 * One claim is embedded while the one before is appended. While large documents take both lanes, small ones have a third,
 * so that nobody's few lines wait for somebody's book.
 */
const lanes = 2

/**
 * Claims of so many documents tell of a steady stream. Then each waits so many times as long for more: half as many
 * commits leave the index half as much to put in order, and nobody waits for a single document of a stream.
 */
const [streamDocuments, streamLinger] = [8, 2]

export function createWorker(context: WorkerContext): Worker {
  const { onError } = context
  const { lingerMs = 100, pollMs = 1000, closeMs = 2000 } = context.worker
  const runner = createClaimRunner(context)
  const signal = createSignal()
  /** Claims under way, and whether each is of a large document. */
  const underWay = new Map<Promise<void>, boolean>()
  let loop: Promise<void> | undefined
  const closing = new AbortController()
  const pause = (delayMs: number): Promise<void> => delay(delayMs, closing.signal).catch(() => {})

  async function run(): Promise<void> {
    let [areMoreDue, isOfSmall] = [false, false]
    /** Documents of the claim before. */
    let taken = 0
    while (!closing.signal.aborted) {
      if (!areMoreDue) {
        await signal.sleep(pollMs)
        // A moment gathers documents for one commit; a wait for large ones has gathered enough.
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
          // Others may wait that only the lane of a large document takes.
          if (claim.isLarge) signal.notify()
        })
        underWay.set(work, claim.isLarge)
      }
    }
  }

  return {
    start: () => {
      signal.notify()
      loop ??= run()
    },
    notify: signal.notify,
    close: async () => {
      closing.abort()
      signal.notify()
      const grace = setTimeout(runner.letGo, closeMs)
      await loop
      await Promise.all(underWay.keys())
      clearTimeout(grace)
    },
  }
}
