import { claim as claimDocuments, releaseClaim, renewClaims, type Claim } from './claims.ts'
import { indexClaim, type IndexingContext } from './index-claim.ts'
import { sweepClaims } from './outcomes.ts'
import { createWake, unreference } from './wake.ts'

/** How documents are taken from the queue. Times are milliseconds. */
export interface WorkerOptions {
  /** Names this worker among others that share the database; never used twice. Default: a random name. */
  readonly owner?: string
  /** Tells owners known to be gone, whose documents need not wait for their lease to run out. Default: none is known. */
  readonly isGone?: (owner: string) => boolean
  /** How long a claim holds unless renewed. Default 6000. */
  readonly leaseMs?: number
  /** How long a claim waits so that one commit carries many documents. Default 100. */
  readonly lingerMs?: number
  /** How often an idle worker looks for documents that other processes accepted. Default 1000. */
  readonly pollMs?: number
  /** Most documents in one claim. Default 256. */
  readonly claimDocuments?: number
  /** Tries of a document that fails by itself. Default 5. */
  readonly attemptLimit?: number
  /** Tries while a service it needs is down. Default 40. */
  readonly outageAttemptLimit?: number
  /** Longest wait for one call of the embedder. Default 120 000. */
  readonly embedTimeoutMs?: number
  /** How long `close` waits for what is in flight before it goes back into the queue. Default 2000. */
  readonly closeMs?: number
}

/** What a worker is made of. */
export interface WorkerContext extends Omit<IndexingContext, 'signal' | 'policy' | 'embedTimeoutMs' | 'appendInTurn'> {
  readonly worker: WorkerOptions
  /** Told which documents a finished claim was for. */
  readonly onClaimDone: (documentIds: readonly string[]) => void
}

/** Takes documents from the queue into the index. */
export interface Worker {
  /** Begins to work by itself. */
  start(): void
  /** Says that there may be something to do. */
  wake(): void
  /** Frees abandoned claims, then claims once and indexes what it got; answers how many documents that were. */
  runOnce(): Promise<number>
  /** Finishes what is in flight, or puts it back into the queue. */
  close(): Promise<void>
}

/** Most characters of content in one claim. */
const claimCharacters = 8 * 2 ** 20
/** One claim is embedded while the one before is appended. */
const lanes = 2

/** Makes a worker; it rests until started. */
export function createWorker(context: WorkerContext): Worker {
  const { db, now, at, onError } = context
  const { leaseMs = 6000, lingerMs = 100, pollMs = 1000, claimDocuments: limit = 256, closeMs = 2000 } = context.worker
  const owner = context.worker.owner ?? crypto.randomUUID()
  const letGo = new AbortController()
  const indexing = toIndexingContext(context, letGo.signal)
  const wake = createWake()
  const inFlight = new Set<Promise<void>>()
  const held = new Set<string>()
  let loop: Promise<void> | undefined
  let isClosing = false
  let sweptAt = -Infinity

  async function sweep(): Promise<void> {
    if (now() - sweptAt < leaseMs / 2) return
    sweptAt = now()
    await sweepClaims(db, { now: now(), isGone: context.worker.isGone, isHeld: (id) => held.has(id) })
  }

  async function take(): Promise<Claim | undefined> {
    const limitCharacters = claimCharacters
    return claimDocuments(db, { owner, now: now(), leaseMs, limit, limitCharacters, before: () => at('claim') })
  }

  async function work(claim: Claim): Promise<void> {
    const renewal = setInterval(() => renewClaims(db, owner, now() + leaseMs).catch(onError), leaseMs / 3)
    unreference(renewal)
    held.add(claim.id)
    try {
      await indexClaim(claim, indexing)
    } catch (error) {
      onError(error)
      // The records failed: no document is to blame, and trying again at once would help nobody.
      if (!isClosing) await pause(pollMs)
      // If this fails as well, the lease runs out and the documents are taken up then.
      await releaseClaim(db, claim.id).catch(onError)
    } finally {
      clearInterval(renewal)
      held.delete(claim.id)
      context.onClaimDone(claim.documentIds)
    }
  }

  async function run(): Promise<void> {
    let areMoreDue = false
    while (!isClosing) {
      if (!areMoreDue) {
        await wake.sleep(pollMs)
        // A moment gathers documents for one commit.
        if (!isClosing) await pause(lingerMs)
      }
      if (inFlight.size >= lanes) await Promise.race(inFlight)
      if (isClosing) return
      areMoreDue = await runStep()
    }
  }

  async function runStep(): Promise<boolean> {
    try {
      await sweep()
      const claim = await take()
      if (!claim) return false
      const done = work(claim).finally(() => inFlight.delete(done))
      inFlight.add(done)
      return claim.isCutShort
    } catch (error) {
      onError(error)
      await pause(pollMs)
      return false
    }
  }

  return {
    start: () => {
      wake.call()
      loop ??= run()
    },
    wake: () => wake.call(),
    runOnce: async () => {
      sweptAt = -Infinity
      await sweep()
      const claim = await take()
      if (claim) await work(claim)
      return claim?.documentIds.length ?? 0
    },
    close: async () => {
      isClosing = true
      wake.call()
      const grace = setTimeout(() => letGo.abort(), closeMs)
      await loop
      await Promise.all(inFlight)
      clearTimeout(grace)
    },
  }
}

function toIndexingContext(context: WorkerContext, signal: AbortSignal): IndexingContext {
  const { attemptLimit = 5, outageAttemptLimit = 40, embedTimeoutMs = 120_000 } = context.worker
  let lastAppend: Promise<unknown> = Promise.resolve()
  return {
    ...context,
    signal,
    policy: { attemptLimit, outageAttemptLimit },
    embedTimeoutMs,
    appendInTurn: (append) => {
      const turn = lastAppend.then(append)
      lastAppend = turn.catch(() => {})
      return turn
    },
  }
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs))
}
