import { InlayError } from '@inlay/protocol'
import { createCallerLimit } from '@inlay/protocol/concurrency'

export interface SearchGateOptions {
  /** Searches of the index at a time. */
  readonly limit: number
  /** Searches of one caller that may run or wait. */
  readonly limitPerCaller: number
}

/**
 * Lets so many searches at a time through to the index. Callers take turns, so that one caller's flood holds up nobody
 * else, and a search whose caller has left never begins.
 */
export interface SearchGate {
  /**
   * @param caller names who searches; undefined for the host itself, which is not limited
   * @throws RATE_LIMITED beyond a caller's share; the reason of the signal when it aborts while waiting
   */
  run<Result>(caller: string | undefined, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

export function createSearchGate({ limit, limitPerCaller }: SearchGateOptions): SearchGate {
  const callers = createCallerLimit(limitPerCaller)
  /** Who waits, by caller; callers in the order of their turns. */
  const waiting = new Map<string, Set<() => void>>()
  let running = 0

  const wait = (caller: string, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const queue = waiting.get(caller) ?? new Set()
      const admit = (): void => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      const abort = (): void => {
        queue.delete(admit)
        if (queue.size === 0 && waiting.get(caller) === queue) waiting.delete(caller)
        reject(signal!.reason)
      }
      waiting.set(caller, queue.add(admit))
      signal?.addEventListener('abort', abort, { once: true })
    })
  /** Hands the place to the caller whose turn it is, who then comes last. */
  const leave = (): void => {
    const [next] = waiting
    if (!next) {
      running--
      return
    }
    const [caller, queue] = next
    const [admit] = queue
    queue.delete(admit!)
    waiting.delete(caller)
    if (queue.size > 0) waiting.set(caller, queue)
    admit!()
  }
  return {
    run: async (caller, work, signal) => {
      signal?.throwIfAborted()
      const release = caller === undefined ? () => {} : callers.enter(caller)
      if (!release)
        throw new InlayError('RATE_LIMITED', {
          message: 'Too many searches of this caller are under way: send the next one when they have answered.',
          data: { retryAfterSeconds: 1 },
        })
      try {
        if (running < limit) running++
        else await wait(caller ?? '', signal)
        try {
          return await work()
        } finally {
          leave()
        }
      } finally {
        release()
      }
    },
  }
}
