import type { LogEntry } from './run.ts'

/** A run as every process knows it. */
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
  /** Whether no line follows. */
  readonly finished: boolean
}

/**
 * Runs that every process of an installation can read and stop. One object belongs to one process and owns the runs that
 * it opened or took over. Calls may come at once and twice. `sharedRunsConformance` tests it.
 */
export interface SharedRuns {
  /** How often lines are written and, without `subscribe`, looked for; in milliseconds. */
  readonly paceMs: number
  /**
   * Whether no other process reads or writes here now. Short runs then are not written at all, and long ones now and then,
   * for whoever takes them over. Default: there are others.
   */
  readonly isAlone?: () => Promise<boolean>
  /** Makes a run known as the newest of its session. */
  open(run: Omit<SharedRun, 'finished'>): Promise<void>
  /**
   * Adds lines to own runs; lines that are there already stay. Also without lines it says that their process lives.
   * @returns ids of runs that this process no longer owns, to which nothing was added
   */
  append(lines: readonly RunLines[]): Promise<readonly number[]>
  /**
   * Runs that the store itself lost, e.g. in a restart without persistence, and that nobody removed or took over. Their
   * process opens them again and writes all their lines. Default: a store that loses nothing.
   */
  readonly forgotten?: (messageIds: readonly number[]) => Promise<readonly number[]>
  /** The runs of a session, oldest first. */
  ofSession(sessionId: string): Promise<readonly SharedRun[]>
  /**
   * The lines after the cursor, or the first megabyte or so of them; `finished` says that the last line is among them. An
   * unknown run has none and is finished.
   */
  read(messageId: number, cursor: number): Promise<RunLines>
  /**
   * Asks the processes that make the runs of some sessions to stop them.
   * @returns ids of the unfinished runs
   */
  requestStop(sessionIds: readonly string[]): Promise<readonly number[]>
  /** Ids of own unfinished runs that were asked to stop. */
  stopRequests(): Promise<readonly number[]>
  /**
   * Takes over unfinished runs of other processes: those not heard of for `leaseMs`, and those known to be gone. Each is
   * given to one process only.
   */
  takeAbandoned(leaseMs: number): Promise<readonly SharedRun[]>
  /** Forgets runs that finished `ageMs` ago. */
  removeFinished(ageMs: number): Promise<void>
  /** Forgets the runs of some sessions. */
  remove(sessionIds: readonly string[]): Promise<void>
  /**
   * Tells of new lines and stop requests as they come.
   * @param onChange receives the runs' ids; undefined when changes may have been missed
   * @returns ends it; undefined when this cannot be had, and changes are looked for
   */
  subscribe(onChange: (messageIds?: readonly number[]) => void): Promise<(() => Promise<void>) | undefined>
  close(): Promise<void>
}
