import type { LogEntry } from './run.ts'

/** A run as every process sees it. */
export interface SharedRun {
  readonly sessionId: string
  /** Id of the (first) answer. */
  readonly messageId: number
  /** Public id: the answer, or the question when several models answer. */
  readonly runId: number
  /** Milliseconds since 1970 UTC. */
  readonly openedAt: number
  /** Whether its last line is written. */
  readonly finished: boolean
}

/** Lines of a run in order, without gaps. */
export interface RunLines {
  readonly messageId: number
  readonly entries: readonly LogEntry[]
  /** Whether no more lines follow. */
  readonly finished: boolean
}

/**
 * Runs that every process of an installation can read and stop. An object belongs to one process and owns the runs that
 * it opened or took over. Calls may be concurrent and repeated. `sharedRunsConformance` tests it.
 */
export interface SharedRuns {
  /** Interval of writing lines and, without `subscribe`, of polling, in milliseconds. */
  readonly paceMs: number
  /**
   * Whether no other process reads or writes here now. Then short runs are not written at all and long ones rarely, for
   * a process that may take them over. Default: there are others.
   */
  readonly isAlone?: () => Promise<boolean>
  /** Registers a run as the newest of its session. */
  open(run: Omit<SharedRun, 'finished'>): Promise<void>
  /**
   * Appends lines to own runs; existing lines stay. Also called without lines, as a sign of life.
   * @returns ids of runs that this process no longer owns, to which nothing was appended
   */
  append(lines: readonly RunLines[]): Promise<readonly number[]>
  /**
   * Runs that the store itself lost, for example in a restart without persistence, and that were neither removed nor
   * taken over. Their process registers them again and writes all their lines. Default: a store that loses nothing.
   */
  readonly forgotten?: (messageIds: readonly number[]) => Promise<readonly number[]>
  /** The runs of a session, oldest first. */
  ofSession(sessionId: string): Promise<readonly SharedRun[]>
  /**
   * The lines after the cursor, about a megabyte at most; `finished` means that the last line is included. An unknown
   * run has no lines and is finished.
   */
  read(messageId: number, cursor: number): Promise<RunLines>
  /**
   * Asks the processes that own the runs of some sessions to stop them.
   * @returns ids of the unfinished runs
   */
  requestStop(sessionIds: readonly string[]): Promise<readonly number[]>
  /** Ids of own unfinished runs that should be stopped. */
  stopRequests(): Promise<readonly number[]>
  /**
   * Takes over unfinished runs of other processes: those without a sign of life for `leaseMs`, and those of processes
   * known to have ended. Each goes to one process only. A sign of life more than `leaseMs` in the future was written
   * before the clock was set back, and counts as given now.
   */
  takeAbandoned(leaseMs: number): Promise<readonly SharedRun[]>
  /** Deletes runs that finished `ageMs` ago. */
  removeFinished(ageMs: number): Promise<void>
  remove(sessionIds: readonly string[]): Promise<void>
  /**
   * Reports new lines and stop requests as they come.
   * @param onChange receives the runs' ids; undefined when changes may have been missed
   * @returns a function that ends it; undefined when the store cannot notify, so changes are polled
   */
  subscribe(onChange: (messageIds?: readonly number[]) => void): Promise<(() => Promise<void>) | undefined>
  close(): Promise<void>
}
