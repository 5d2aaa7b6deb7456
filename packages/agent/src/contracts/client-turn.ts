import type { JsonObject } from '@inlay/protocol'

/** A message of a client that keeps its conversations itself, as those that speak OpenAI's API do. */
export interface ClientTurn {
  /**
   * The conversation before the message, oldest first, in place of what is stored; empty for none. Default: the
   * messages of the session.
   */
  readonly history?: readonly ClientMessage[]
  /** Whether the message and its answer are stored. Default: true. */
  readonly isStored?: boolean
  /** Id of a session to create where there is none of the caller with it; a UUID. */
  readonly sessionId?: string
  /** The agent that answers, also in a session of another one. Default: that of the session. */
  readonly personaId?: number
  /** Added to the instructions of the agent. */
  readonly instructions?: string
  /** Files of its messages, in memory: pictures, and documents that are read. Their ids are those of descriptors. */
  readonly files?: readonly ClientFile[]
  /** Tools that the client runs. The calls of a step that has any end the answer, as packets `client_tool_call`. */
  readonly tools?: readonly ClientTool[]
  /** A tool of the client that must be called, `required` for any of them. `none` offers no tool at all. Default `auto`. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string }
  /**
   * Steps of this very answer that ended with calls of the client's tools, with the results, oldest first. What was
   * searched before them is known again by the ids of their calls, for an hour in this process.
   */
  readonly steps?: readonly ClientStep[]
  readonly parameters?: AnswerParameters
  /** Maximum number of passages of a search of documents. Default: that of the search. */
  readonly maxPassages?: number | undefined
}

/** A message as the client remembers it. */
export interface ClientMessage {
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** Ids of {@link ClientTurn.files}. */
  readonly fileIds?: readonly string[]
  /** Steps of an answer that called tools of the client. */
  readonly steps?: readonly ClientStep[]
}

/** Calls of the client's tools that were made together, with their results. */
export interface ClientStep {
  /** Text of the answer before the calls. */
  readonly text: string
  readonly calls: readonly ClientCall[]
}

export interface ClientCall {
  readonly id: string
  readonly name: string
  /** JSON as the client gives it back: blanks and order of fields may differ from what it was sent. */
  readonly arguments: string
  readonly result: string
}

export interface ClientTool {
  readonly name: string
  readonly description?: string | undefined
  /** JSON Schema of an object. Default: no parameters. */
  readonly parameters?: JsonObject | undefined
  readonly strict?: boolean | undefined
}

export interface ClientFile {
  readonly id: string
  readonly name: string
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** Parameters of the model for one answer; those that the model does not take are left out. */
export interface AnswerParameters {
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly maxOutputTokens?: number | undefined
  readonly stopSequences?: readonly string[] | undefined
  readonly seed?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly reasoning?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | undefined
  /** The answer is JSON, of this schema if there is one, and has no citations. */
  readonly responseFormat?:
    | {
        readonly name?: string | undefined
        readonly description?: string | undefined
        readonly schema?: JsonObject | undefined
      }
    | undefined
}
