import { InlayError } from '@inlay/protocol'
import { createCallerLimit, createFairTurns } from '@inlay/protocol/concurrency'

export interface SearchGateOptions {
  /** Searches of the index at a time. */
  readonly limit: number
  /** Searches of one caller that may run or wait. */
  readonly limitPerCaller: number
}

/**
 * Lets so many searches at a time through to the index. Callers take turns and none holds more than a quarter of the
 * places beside another, so that one caller's flood holds up nobody else. A search whose caller has left never begins.
 */
export interface SearchGate {
  /**
   * @param caller names who searches; undefined for the host itself, which is not limited
   * @throws RATE_LIMITED beyond a caller's share; the reason of the signal when it aborts while waiting
   */
  run<Result>(caller: string | undefined, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /** Whether somebody waits for a search who sends no more of them than a person does. */
  isAwaited(): boolean
}

/** More searches at a time are no single person's. */
const mostOfPerson = 2

export function createSearchGate({ limit, limitPerCaller }: SearchGateOptions): SearchGate {
  const turns = createFairTurns({ limit, limitPerCaller: Math.ceil(limit / 4), givesWay: true })
  const callers = createCallerLimit(limitPerCaller)
  return {
    isAwaited: () => [...callers.counts.values()].some((count) => count <= mostOfPerson),
    run: async (caller, work, signal) => {
      signal?.throwIfAborted()
      const release = caller === undefined ? () => {} : callers.enter(caller)
      if (!release)
        throw new InlayError('RATE_LIMITED', {
          message: 'Too many searches of this caller are under way: send the next one when they have answered.',
          data: { retryAfterSeconds: 1, of: 'caller' },
        })
      try {
        const leave = await turns.enter(caller ?? '', signal)
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
