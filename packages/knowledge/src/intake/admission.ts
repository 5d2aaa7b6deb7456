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
