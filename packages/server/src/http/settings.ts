import type { Budget, CallerLimit, FairTurns } from '@inlay/protocol/concurrency'
import type { McpCalls } from './mcp-calls.ts'

/** Most bytes of a request body. JSON is read in one go: the larger a body may be, the longer others wait for it. */
export interface BodyLimits {
  /** Of a chat message. Default 10 MiB. */
  readonly chatBytes: number
  /** Of a document, alone or as one line of a batch. Default 128 MiB. */
  readonly ingestionBytes: number
  /** Of an upload, all its files together; the bound of one file is the agent's. Default 2 GiB. */
  readonly uploadBytes: number
  /** Of any other JSON body. Default 1 MiB. */
  readonly otherBytes: number
}

/** Reads of one caller at a time while others call too. */
export const readsPerCaller = 2

/** Runs `callback` once after a delay; the result calls it off. */
export type Timer = (delayMs: number, callback: () => void) => () => void

/** Which request failed: nothing of it that a user wrote. */
export interface FailedRequest {
  readonly requestId: string
  readonly method: string
  /** Path of the route, with `{name}` in place of values; undefined when no route matched. */
  readonly route: string | undefined
}

/** A request that has been answered: nothing of it that a user wrote. */
export interface AnsweredRequest extends FailedRequest {
  readonly status: number
  /** Time until the answer was ready, in milliseconds; of a stream, until it began. */
  readonly durationMs: number
  /** Who asked; undefined for everybody, and for a key that is not known. */
  readonly callerId: string | undefined
}

/** What a server does beyond its parts, every value filled in. */
export interface ServerSettings {
  readonly basePath: string
  readonly streamFormat: 'sse' | 'lines'
  readonly corsOrigins: readonly string[] | '*'
  /** Whether an origin that is not among them is seen for the first time. */
  readonly isNewlyRefused: (origin: string) => boolean
  readonly limits: BodyLimits
  /** Headers of a message that actions may pass on, lower case. */
  readonly passHeaders: readonly string[]
  /** How long an ingestion call waits for the document to be searchable when it does not say, in milliseconds. */
  readonly ingestionWaitMs: number
  /** Calls that wait for their documents, counted for each caller. */
  readonly waitingCalls: CallerLimit
  /** Bytes of JSON bodies that are being worked on. */
  readonly bodyBudget: Budget
  /** Lets calls begin, a few of each caller at a time while several are at work. */
  readonly turns: FairTurns
  /** Lets calls read, each until its answer is there, so that a caller's many reads are not all under way at once. */
  readonly readTurns: FairTurns
  /** Reads that each caller has under way or waiting. */
  readonly reads: CallerLimit
  /** Calls of MCP clients that are under way. */
  readonly mcpCalls: McpCalls
  /** Silence on a stream after which a heartbeat is sent, in milliseconds. */
  readonly heartbeatMs: number
  readonly timer: Timer
  readonly onError: (error: unknown, request: FailedRequest) => void
  readonly onAnswered: ((request: AnsweredRequest) => void) | undefined
  /** Whether the process is about to end: it is not ready any more. */
  readonly isEnding: () => boolean
  /** Days after which sessions are erased; null where they are kept. */
  readonly retentionDays: number | null
  readonly version: string
}
