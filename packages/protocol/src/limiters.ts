import { InlayError } from './errors/error-codes.ts'

/** Limits the number of concurrent calls; the others wait in order. */
export interface Limiter {
  /** Waits for a free slot, then runs. An abort while waiting rejects with its reason and never calls `work`. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /** Number of running and waiting calls. */
  readonly size: number
}

/** Creates a limiter. @param limit at least 1; 1 makes a mutex */
export function createLimiter(limit: number): Limiter {
  const waiting = new Set<() => void>()
  let running = 0

  function admit(signal: AbortSignal | undefined): Promise<void> | undefined {
    signal?.throwIfAborted()
    if (running < limit) {
      running++
      return undefined
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      const abort = (): void => {
        waiting.delete(enter)
        reject(signal!.reason)
      }
      waiting.add(enter)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  /** Passes the slot on, so that later callers cannot overtake. */
  function leave(): void {
    const [next] = waiting
    if (!next) {
      running--
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    run: async (work, signal) => {
      await admit(signal)
      try {
        return await work()
      } finally {
        leave()
      }
    },
    get size() {
      return running + waiting.size
    },
  }
}

/** Tracks how much of a resource is in use, in total and per caller. */
export interface Budget {
  /** Opens an empty share. */
  open(caller: string): BudgetShare
}

/** The share of a budget held by one call. */
export interface BudgetShare {
  /**
   * Grows the share to the given amount. When nothing else is held, any amount is granted.
   * @throws RATE_LIMITED with `retryAfterSeconds` when it does not fit; the share keeps its size
   */
  grow(amount: number): void
  /** Releases the whole share. */
  release(): void
}

/** Bounds of a budget. */
export interface BudgetOptions {
  readonly total: number
  readonly perCaller: number
  /** Error message that tells the caller what exceeds the budget. */
  readonly message: string
}

/** Creates a budget, for example for the bytes of requests being read. */
export function createBudget({ total, perCaller, message }: BudgetOptions): Budget {
  const used = new Map<string, number>()
  let sum = 0
  return {
    open: (caller) => {
      let held = 0
      let isReleased = false
      return {
        grow: (amount) => {
          const own = used.get(caller) ?? 0
          const more = amount - held
          if (more <= 0 || isReleased) return
          const isOwnShare = own > held && own + more > perCaller
          if (isOwnShare || (sum > held && sum + more > total)) {
            const of = isOwnShare ? 'caller' : 'tenant'
            throw new InlayError('RATE_LIMITED', { message, data: { retryAfterSeconds: 1, of } })
          }
          used.set(caller, own + more)
          sum += more
          held = amount
        },
        release: () => {
          isReleased = true
          sum -= held
          const left = (used.get(caller) ?? 0) - held
          if (left > 0) used.set(caller, left)
          else used.delete(caller)
          held = 0
        },
      }
    },
  }
}
