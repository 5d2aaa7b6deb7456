import { InlayError } from './errors/error-codes.ts'

/** Runs at most so many calls at a time; the others wait in order. */
export interface Limiter {
  /** Waits for a free place, then runs. An abort while waiting rejects with its reason and never calls `work`. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /** Calls that run or wait. */
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

  /** Hands the place on, so that nobody who comes later overtakes. */
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

/** How much of a resource is in use, together and for each caller. */
export interface Budget {
  /** Begins a share that holds nothing yet. */
  open(caller: string): BudgetShare
}

/** What one call holds of a budget. */
export interface BudgetShare {
  /**
   * Takes what is missing to the amount. Where nothing else is held, everything is given, however large.
   * @throws RATE_LIMITED with `retryAfterSeconds` when it does not fit; what is held stays
   */
  grow(amount: number): void
  /** Gives everything back, once and for all. */
  release(): void
}

/** What a budget holds at most. */
export interface BudgetOptions {
  readonly total: number
  readonly perCaller: number
  /** Says to the caller what there is too much of. */
  readonly message: string
}

/** Creates a budget, such as of the bytes of requests that are being read. */
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
