import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Principal, StarterMessage } from '@inlay/protocol'

/** Answers messages in place of Inlay's own loop, such as an agent of another framework. */
export interface Responder {
  /**
   * Answers one message. The iterable ends with the answer and throws its failure. When `signal` aborts, all work has to
   * end; parts that still come are dropped.
   */
  respond(turn: ResponderTurn): AsyncIterable<ResponderPart>
}

/** An agent of the host that people can choose, beside the personas that are stored. */
export interface HostAgent extends Responder {
  /** A stable number above 0. Default: made from the name. */
  readonly id?: number
  /** The name people read. */
  readonly name: string
  /** Description for users. Default: none. */
  readonly description?: string
  /** Messages that people may begin with. Default: none. */
  readonly starterMessages?: readonly StarterMessage[]
  /** Inlay's actions that it is offered, by name; `all`, or none by default. */
  readonly actions?: 'all' | readonly string[]
}

/** One message to answer. */
export interface ResponderTurn {
  readonly caller: Principal
  readonly sessionId: string
  /** Id of the answer being written. */
  readonly messageId: number
  /** Earlier messages and the newest user message, oldest first, without instructions. */
  readonly prompt: LanguageModelV4Prompt
  /** Inlay's actions that it may call; their packets, citations and results are Inlay's own work. */
  readonly tools: readonly ResponderTool[]
  /** How to cite results of the tools; undefined when there is nothing to cite. */
  readonly citing: string | undefined
  readonly signal: AbortSignal
}

/** An action of Inlay as a responder calls it. */
export interface ResponderTool {
  readonly name: string
  readonly description: string
  /** JSON Schema, draft 7. */
  readonly inputSchema: Record<string, unknown>
  /** Runs a call and returns the text that the model reads. Rejects only when the run was stopped. */
  run(callId: string, input: unknown): Promise<string>
}

/** Events while a responder answers; `parentId` is the call of the sub-agent an event belongs to. */
export type ResponderPart =
  /** A model step begins. */
  | { readonly type: 'step' }
  | { readonly type: 'text' | 'reasoning'; readonly delta: string; readonly parentId?: string }
  | {
      readonly type: 'call'
      readonly callId: string
      readonly name: string
      readonly input: unknown
      /** Makes it the call of a sub-agent with this task. */
      readonly task?: string
      readonly parentId?: string
    }
  | { readonly type: 'result'; readonly callId: string; readonly text: string; readonly parentId?: string }
  /** The call failed; the answer goes on. */
  | { readonly type: 'failure'; readonly callId: string; readonly message: string; readonly parentId?: string }
  /** Tokens used since the last part of this kind; null when unknown. */
  | {
      readonly type: 'usage'
      readonly inputTokens: number | null
      readonly outputTokens: number | null
      readonly reasoningTokens: number | null
      readonly cachedInputTokens: number | null
    }
