import { createSignal } from '../calls/signal.ts'
import { createClaimRunner, type WorkerContext } from './claim-runner.ts'

/** Takes documents from the queue into the index. */
export interface Worker {
  /** Begins to work by itself. */
  start(): void
  /** Says that there may be something to do. */
  notify(): void
  /** Frees abandoned claims, then claims once and indexes what it got; answers how many documents that were. */
  runOnce(): Promise<number>
  /** Finishes what is in flight, or puts it back into the queue. */
  close(): Promise<void>
}

/** One claim is embedded while the one before is appended. */
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
  const inFlight = new Set<Promise<void>>()
  let loop: Promise<void> | undefined
  let isClosing = false
  /** Documents of the claim before. */
  let taken = 0

  async function run(): Promise<void> {
    let areMoreDue = false
    while (!isClosing) {
      if (!areMoreDue) {
        await signal.sleep(pollMs)
        // A moment gathers documents for one commit.
        if (!isClosing) await pause(taken >= streamDocuments ? lingerMs * streamLinger : lingerMs)
      }
      if (inFlight.size >= lanes) await Promise.race(inFlight)
      if (isClosing) return
      areMoreDue = await claimNext()
    }
  }

  /** Answers whether more were due than could be taken at once. */
  async function claimNext(): Promise<boolean> {
    const claim = await runner.take().catch((error: unknown) => {
      onError(error)
      return pause(pollMs)
    })
    taken = claim?.documentIds.length ?? 0
    if (!claim) return false
    const done = runner.work(claim).finally(() => inFlight.delete(done))
    inFlight.add(done)
    return claim.isCutShort
  }

  return {
    start: () => {
      signal.notify()
      loop ??= run()
    },
    notify: () => signal.notify(),
    runOnce: async () => {
      const claim = await runner.take({ sweep: true })
      if (claim) await runner.work(claim)
      return claim?.documentIds.length ?? 0
    },
    close: async () => {
      isClosing = true
      signal.notify()
      const grace = setTimeout(runner.letGo, closeMs)
      await loop
      await Promise.all(inFlight)
      clearTimeout(grace)
    },
  }
}

function pause(delayMs: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, delayMs, undefined))
}
