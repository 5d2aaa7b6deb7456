import type { IndexFigures } from '../contracts/vector-index.ts'

/** Decides when the index needs upkeep. Times are milliseconds. */
export interface UpkeepSchedule {
  /** Says that a commit of so many rows went in; answers whether something is due sooner than `restMs` said. */
  noteAppend(rows: number): boolean
  /** Says that rows became invisible; answers likewise. */
  noteRemoval(): boolean
  /** How long nothing will be due unless something is noted. */
  restMs(): number
  /** What is due, if anything. @param countDead counts rows that nobody can see; asked only when it matters */
  due(countDead: () => Promise<number>): Promise<{ idle: boolean } | undefined>
  /** Begins a round: what is noted from here on belongs to the next. @returns whether rows were appended since the last */
  startRound(): boolean
  /** Ends a round. @param result figures of the index, and when it has something to do again; undefined when it was not touched */
  endRound(result: { figures: IndexFigures; dueMs: number } | undefined): void
  /** Whether rows were appended since the last round. */
  hasAppended(): boolean
  /** Says that a round failed. */
  failRound(): void
}

/** Without a write for this long, everything that waits is worth doing. */
const idleMs = 1000
/** Each commit leaves a small file and a version behind, which every search reads. */
const mostCommits = 100
/** Rows not yet folded into the full-text index cost every search 20 to 40 µs each. */
const mostFreshRows = 1000
const freshShare = 0.02
/**
 * So many rows at once are a flood. A fold costs some 35 µs for each row there is and would take a third of the time of
 * indexing: it waits for the end of the flood, but not for long.
 */
const floodRows = 1200
const longestFloodMs = 5000
const mostDeadRows = 2000
/** While writes go on, a round is followed by a rest so many times as long: it takes its share of the processors. */
const restAfterRound = 4
/** Longest rest: other processes remove documents too. */
const longestRestMs = 60_000

export function createUpkeepSchedule(now: () => number): UpkeepSchedule {
  let rows = 0
  let commits = 0
  let freshRows = 0
  let mayHaveDead = true
  let lastWriteAt = -Infinity
  /** When what the last round left behind is old enough to go. */
  let agedAt = Infinity
  let begunAt = 0
  let [floodSince, restUntil] = [0, -Infinity]
  const isDirty = (): boolean => commits > 0 || mayHaveDead
  const isCrowded = (): boolean => commits >= mostCommits || freshRows > Math.max(mostFreshRows, rows * freshShare)

  /** How long a flood may still keep a fold waiting. */
  const floodMs = (): number => (freshRows >= floodRows ? floodSince + longestFloodMs - now() : 0)

  const noteRemoval = (): boolean => {
    const wasDirty = isDirty()
    mayHaveDead = true
    lastWriteAt = now()
    return !wasDirty
  }

  return {
    noteAppend: (appended) => {
      const wasDirty = isDirty()
      commits++
      if (freshRows < floodRows) floodSince = now()
      freshRows += appended
      lastWriteAt = now()
      return !wasDirty || isCrowded()
    },
    noteRemoval,
    restMs: () => {
      if (isCrowded()) return within(Math.max(restUntil - now(), floodMs()), 0, idleMs)
      if (isDirty()) return within(lastWriteAt + idleMs - now(), 1, idleMs)
      return within(agedAt - now(), 1, longestRestMs)
    },
    due: async (countDead) => {
      const idle = now() - lastWriteAt >= idleMs
      if (idle && (isDirty() || now() >= agedAt)) return { idle }
      if (now() < restUntil || floodMs() > 0) return undefined
      if (isCrowded()) return { idle }
      return mayHaveDead && (await countDead()) > Math.max(mostDeadRows, rows) ? { idle } : undefined
    },
    startRound: () => {
      const wrote = commits > 0
      ;[commits, freshRows, mayHaveDead] = [0, 0, false]
      agedAt = Infinity
      begunAt = now()
      return wrote
    },
    endRound: (result) => {
      restUntil = now() + (now() - begunAt) * restAfterRound
      if (result) [rows, agedAt] = [result.figures.rows, now() + result.dueMs]
    },
    hasAppended: () => commits > 0,
    failRound: () => void noteRemoval(),
  }
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
