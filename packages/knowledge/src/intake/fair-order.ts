/** Gives accepted documents their place in the queue, so that a flood of one caller does not hold up the others. */
export interface FairOrder {
  /** The time that a document waits since, as the queue orders; at most `now`. */
  placeOf(caller: string, characters: number, now: number): number
  /** Says which documents were taken last: what the last of them waited since, and whether more are due. */
  noteTaken(taken: { readonly waitedSince: number; readonly isCutShort: boolean }): void
}

/** About what indexing takes, in milliseconds: only how callers compare depends on it. */
const perDocumentMs = 0.5
const perCharacterMs = 0.0005
const mostCallers = 10_000

/**
 * Start-time fair queueing: while documents wait, one of a caller who has none in the queue goes in where the queue is
 * worked off now, and each further one of the same caller as much later as the one before takes.
 */
export function createFairOrder(): FairOrder {
  /** Where the queue is worked off; Infinity when nothing waits. */
  let current = Infinity
  /** When the last document of each caller has had its turn. */
  const ends = new Map<string, number>()

  return {
    placeOf: (caller, characters, now) => {
      const place = Math.min(now, Math.max(current, ends.get(caller) ?? -Infinity))
      if (ends.size >= mostCallers) for (const [each, end] of ends) if (end <= current) ends.delete(each)
      if (ends.size >= mostCallers) ends.clear()
      ends.set(caller, place + perDocumentMs + characters * perCharacterMs)
      return Math.floor(place)
    },
    noteTaken: ({ waitedSince, isCutShort }) => {
      // Before what came in the same moment, which may be thousands; never back to an earlier one.
      const place = waitedSince - 1
      current = !isCutShort ? Infinity : current === Infinity ? place : Math.max(current, place)
    },
  }
}
