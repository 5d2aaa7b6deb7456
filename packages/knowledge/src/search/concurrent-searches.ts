import { InlayError } from '@inlay/protocol'
import { createCallerLimit, createFairTurns, type FairTurns } from '@inlay/scheduling'

export interface SearchGateOptions {
  /** Maximum number of concurrent searches of the index. */
  readonly limit: number
  /** Maximum number of running and waiting searches per caller. */
  readonly limitPerCaller: number
}

/**
 * Limits concurrent searches of the index. Callers take turns, and while others search, each gets at most a quarter of
 * the slots, so that many searches of one caller do not delay the others. The assistants of a process take turns in the
 * same way. A search whose caller has disconnected is not started.
 */
export interface SearchGate {
  /**
   * @param caller id of the caller; undefined for the host itself, which is not limited
   * @throws RATE_LIMITED above a caller's limit; the reason of the signal if it aborts while waiting
   */
  run<Result>(caller: string | undefined, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /** Whether a caller with no more searches than a person would send is waiting. */
  isAwaited(): boolean
}

/** More concurrent searches do not come from a single person. */
const maxPerPerson = 2
/** A turn in the process ends after this time: a longer search waits for an engine, not for a processor. */
const maxTurnMs = 250

const turnsOf = (limit: number): FairTurns =>
  createFairTurns({ limit, limitPerCaller: Math.ceil(limit / 4), yieldsToUnqueued: true })
/** Assistants of a process search with the same processors, so they take turns as the callers of each do. */
const turnsByLimit = new Map<number, FairTurns>()
let gates = 0

export function createSearchGate({ limit, limitPerCaller }: SearchGateOptions): SearchGate {
  const turns = turnsOf(limit)
  const ofProcess = turnsByLimit.get(limit) ?? turnsOf(limit)
  turnsByLimit.set(limit, ofProcess)
  const assistant = `${gates++}`
  const inTurn = async <Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> => {
    const leave = await ofProcess.enter(assistant, signal)
    const timer = setTimeout(leave, maxTurnMs)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      leave()
    }
  }
  const callers = createCallerLimit(limitPerCaller)
  return {
    isAwaited: () => [...callers.counts.values()].some((count) => count <= maxPerPerson),
    run: async (caller, work, signal) => {
      signal?.throwIfAborted()
      const release = caller === undefined ? () => {} : callers.enter(caller)
      if (!release)
        throw new InlayError('RATE_LIMITED', {
          message: 'Too many searches of this caller are running: wait for them before sending the next one.',
          data: { retryAfterSeconds: 1, of: 'caller' },
        })
      try {
        const leave = await turns.enter(caller ?? '', signal)
        try {
          return await inTurn(work, signal)
        } finally {
          leave()
        }
      } finally {
        release()
      }
    },
  }
}
