import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Principal, StarterMessage } from '@inlay/protocol'
import type { Instructions } from './coming-turn.ts'

/** Answers messages in place of Inlay's own loop, for example an agent of another framework. */
export interface Responder {
  /**
   * Answers one message. The iterable ends with the answer, or throws its failure. When `signal` aborts, all work has
   * to end; later parts are dropped.
   */
  respond(turn: ResponderTurn): AsyncIterable<ResponderPart>
}

/** An agent of the host that people can choose, like a stored persona. */
export interface HostAgent extends Responder {
  /** A stable number above 0. Default: derived from the name. */
  readonly id?: number
  /** The name people read. */
  readonly name: string
  /** Description for users. Default: none. */
  readonly description?: string
  /** Suggested first messages. Default: none. */
  readonly starterMessages?: readonly StarterMessage[]
  /** Names of Inlay's actions that it is offered, or `all`. Default: none. */
  readonly actions?: 'all' | readonly string[]
}

/** An agent of the host that Inlay answers for, with instructions of its own. */
export interface InstructedAgent extends Omit<HostAgent, 'respond' | 'actions'> {
  /** Added to the built-in instructions. */
  readonly instructions: Instructions
  /** Names of Inlay's actions that it is offered, or `all`. Default: `all`. */
  readonly actions?: HostAgent['actions']
  readonly respond?: undefined
}

export interface ResponderTurn {
  readonly caller: Principal
  readonly sessionId: string
  /** Id of the answer being written. */
  readonly messageId: number
  /** Earlier messages and the newest user message, oldest first, without instructions. */
  readonly prompt: LanguageModelV4Prompt
  /** Inlay's actions that it may call; Inlay sends their packets and citations and stores their results. */
  readonly tools: readonly ResponderTool[]
  /** Instructions for citing results of the tools; undefined when there is nothing to cite. */
  readonly citing: string | undefined
  readonly signal: AbortSignal
}

/** An action of Inlay, as a responder calls it. */
export interface ResponderTool {
  readonly name: string
  readonly description: string
  /** JSON Schema, draft 7. */
  readonly inputSchema: Record<string, unknown>
  /** Runs a call and returns the text for the model. Rejects only when the run was stopped. */
  run(callId: string, input: unknown): Promise<string>
}

/** Events of a responder; `parentId` is the call of the sub-agent that an event belongs to. */
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
  /** Tokens used since the last event of this type; null when unknown. */
  | {
      readonly type: 'usage'
      readonly inputTokens: number | null
      readonly outputTokens: number | null
      readonly reasoningTokens: number | null
      readonly cachedInputTokens: number | null
    }
