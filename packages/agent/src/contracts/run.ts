import type { ChatFullResponse } from '@inlay/protocol'

/** One line of a run as its log keeps it: numbered from 1, encoded once for all readers. */
export interface LogEntry {
  readonly sequence: number
  /** The line's JSON, without a line end; see `encodeLine` of the protocol. */
  readonly json: string
}

/** One answer in the making, detached from any socket. */
export interface Run {
  readonly sessionId: string
  /** Id of the (first) answer. */
  readonly messageId: number
  readonly finished: boolean
  /**
   * Reads the log after `cursor` (0: from the first line), then tails it. Each step gives all lines that are ready;
   * it ends after the last line. Any number of readers, each at its own pace; leaving does not end the run.
   */
  read(cursor?: number, signal?: AbortSignal): AsyncIterable<readonly LogEntry[]>
  /** The whole answer, once the run has ended; the fold of the same lines. Never rejects: a failure is `error_msg`. */
  whole(): Promise<ChatFullResponse>
}
