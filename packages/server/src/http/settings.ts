import type { InlayError } from '@inlay/protocol'
import type { CallerLimit, FairTurns } from '@inlay/scheduling'
import type { SharedCapacity } from '../limits/shared-capacity.ts'
import type { McpCalls } from './mcp-calls.ts'
import type { Reply } from './replies.ts'

/** Maximum sizes of request bodies. JSON is parsed synchronously, so larger bodies block other requests longer. */
export interface BodyLimits {
  /** Chat messages. Default 10 MiB. */
  readonly maxChatBytes: number
  /** Documents, sent alone or as one line of a batch. Default 128 MiB. */
  readonly maxIngestionBytes: number
  /** Uploads, all files together; the agent limits single files. Default 2 GiB. */
  readonly maxUploadBytes: number
  /** Other JSON bodies. Default 1 MiB. */
  readonly maxOtherBytes: number
}

/** Concurrent reads per caller while other callers are active. */
export const readsPerCaller = 2

/** Runs `callback` once after a delay; the returned function cancels it. */
export type Timer = (delayMs: number, callback: () => void) => () => void

/** A failed request, without user content. */
export interface FailedRequest {
  readonly requestId: string
  readonly method: string
  /** Path of the route with `{name}` placeholders; undefined when no route matched. */
  readonly route: string | undefined
}

/** An answered request, without user content. */
export interface AnsweredRequest extends FailedRequest {
  readonly status: number
  /** Milliseconds until the response was ready, or until a stream started. */
  readonly durationMs: number
  /** Id of the caller; undefined for public routes and unknown keys. */
  readonly callerId: string | undefined
}

/** Runs the work of a request of a known route, and returns its response unchanged. */
export type WrapRequest = (request: Request, route: string, work: () => Promise<Response>) => Promise<Response>

/** Settings of a server with all defaults applied. */
export interface ServerSettings {
  readonly basePath: string
  readonly streamFormat: 'sse' | 'lines'
  readonly corsOrigins: readonly string[] | '*'
  /** Whether a refused origin is seen for the first time. */
  readonly isNewlyRefused: (origin: string) => boolean
  readonly limits: BodyLimits
  readonly webSearchService: string
  /** Request headers that actions may forward, in lower case. */
  readonly passHeaders: readonly string[]
  /** Whether a preflight of an allowed origin gets all headers that it asks for. */
  readonly allowsAskedHeaders: boolean
  readonly toErrorReply: (error: InlayError, requestId: string) => Reply
  readonly ingestionWaitMs: number
  /** Requests waiting for their documents, per caller. */
  readonly maxWaitingCalls: CallerLimit
  readonly bodyBudget: SharedCapacity
  /** Limits concurrent calls per caller while several callers are active. */
  readonly turns: FairTurns
  /** Lets a few calls of paced routes begin in each pass of the event loop. */
  readonly pace: () => Promise<void>
  /** Limits concurrent reads per caller until their response is ready. */
  readonly readTurns: FairTurns
  /** Running and queued reads per caller. */
  readonly reads: CallerLimit
  readonly serves: 'everything' | 'knowledge' | 'search'
  readonly mcpCalls: McpCalls
  readonly heartbeatMs: number
  readonly timer: Timer
  readonly onError: (error: unknown, request: FailedRequest) => void
  readonly onAnswered: ((request: AnsweredRequest) => void) | undefined
  readonly wrapRequest: WrapRequest | undefined
  readonly isEnding: () => boolean
  /** Days after which sessions are deleted; null: never. */
  readonly retentionDays: number | null
  readonly version: string
}
