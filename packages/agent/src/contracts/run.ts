import type { ChatFullResponse } from '@inlay/protocol'

/** One line of a run's log: numbered from 1, encoded once for all readers. */
export interface LogEntry {
  readonly sequence: number
  /** The line's JSON, without a line end; see `encodeLine` of the protocol. */
  readonly json: string
}

/** A reader of a run that asks for lines when it can use them. */
export interface RunTail {
  /** The next lines; [] while there are none, undefined after the last one. */
  take(): readonly LogEntry[] | undefined
  leave(): void
}

/** A running answer, independent of any connection. */
export interface Run {
  readonly sessionId: string
  /** Id of the (first) answer. */
  readonly messageId: number
  readonly finished: boolean
  /**
   * Reads the log after `cursor` (0: from the first line) and follows it. Each iteration returns available lines, some 16 kB at most;
   * it ends after the last one. Readers are independent of each other, and leaving does not end the run.
   */
  read(cursor?: number, signal?: AbortSignal): AsyncIterable<readonly LogEntry[]>
  /**
   * Reads as `read` does, without a promise for each step. Default: the server uses `read`.
   * @param onReady called once after a `take` that gave no lines, when there are some or the run has ended
   */
  readonly tail?: (cursor: number, onReady: () => void) => RunTail
  /** The whole answer once the run has ended: the fold of the same lines. Never rejects; a failure is `error_msg`. */
  whole(): Promise<ChatFullResponse>
}
