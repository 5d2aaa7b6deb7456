import type { BaseFilters, PacketBody, Principal, SearchDoc } from '@inlay/protocol'
import type { FileSection, IncomingFile, OpenedFile, StoredFile } from './file-store.ts'

/**
 * A tool's input schema: any Standard Schema that also gives JSON Schema (wrap valibot by `toStandardJsonSchema`).
 * `Input` is its output type: arguments after defaults, coercion and transforms.
 */
export interface InputSchema<Input = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Input> | Promise<Validated<Input>>
    readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-07' }) => Record<string, unknown> }
    readonly types?: { readonly input: unknown; readonly output: Input } | undefined
  }
}

type Validated<Input> =
  | { readonly value: Input; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] }[] }

/** A question to the model of the run, outside of its conversation. */
export interface ModelQuestion {
  readonly instructions: string
  readonly text: string
  /** Maximum tokens of the answer. Default 500. */
  readonly answerTokens?: number
  /**
   * Marks the question as optional and ends it. A model that was slow to answer one is not asked such questions for a
   * while.
   */
  readonly signal?: AbortSignal
}

/** Files that an action may use: those of the conversation, its project and its agent, and those it creates. */
export interface TurnFiles {
  /** In order of arrival, without repeats. */
  list(): Promise<readonly StoredFile[]>
  /** Text of a listed file, by either of its ids. NOT_FOUND for any other file. */
  read(id: string, signal?: AbortSignal): Promise<readonly FileSection[]>
  /** The bytes of a listed file. NOT_FOUND for any other file. */
  open(id: string): Promise<OpenedFile>
  /** Stores a file that the action created; packets carry its `fileId`, and `GET /chat/file/{id}` returns it. */
  keep(file: IncomingFile): Promise<StoredFile>
}

/**
 * Which calls a person has to approve: `writes`, those of actions that are known not to be read-only (MCP tools without
 * `readOnlyHint`, OpenAPI operations other than GET and HEAD); `always`, all but those of built-in actions; `never`, only
 * those whose action asks itself.
 */
export type ToolApprovalPolicy = 'never' | 'writes' | 'always'

/** What happened to a call that a person has to approve. */
export interface ToolApprovalEvent {
  readonly kind: 'requested' | 'approved' | 'declined' | 'expired'
  readonly caller: Principal
  readonly sessionId: string
  /** The answer that waits. */
  readonly messageId: number
  readonly toolCallId: string
  readonly toolName: string
}

/** One message of the conversation, as text. */
export interface PastText {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

export interface ModelPicture {
  /** Such as `image/png`. */
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** The turn as an action sees it. */
export interface ActionTurn {
  readonly caller: Principal
  readonly sessionId: string
  /** Id of the answer being written. */
  readonly messageId: number
  /** The last user message of the conversation. */
  readonly userMessage: string
  /** The request's filters; an action may narrow them, never widen. */
  readonly filters?: BaseFilters | null
  readonly toolCallId: string
  /** Arguments as the model wrote them; `run` gets the output of the schema. */
  readonly arguments?: Readonly<Record<string, unknown>>
  /** Tokens of result text available for this call, after the other calls of the step; longer text may be cut. */
  readonly resultTokens?: number
  /** Maximum number of passages of a search. Default: what the search itself has. */
  readonly maxPassages?: number | undefined
  /** The conversation before the last user message, oldest first, cut to fit. Default: none. */
  readonly messages?: readonly PastText[]
  /** Asks the model of the run; the tokens count with the run. Absent when that model only quotes documents. */
  readonly ask?: (question: ModelQuestion) => Promise<string>
  /** Absent where no files are stored. */
  readonly files?: TurnFiles
  /** Shows a picture to the model with its next step. Absent for models that do not see. */
  readonly showModel?: (picture: ModelPicture) => void
  /** Request headers that the operator passes on to actions, in lower case. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts when the run is stopped and at the timeout. */
  readonly signal: AbortSignal
  /** Sends a packet at this call's placement. */
  emit(packet: PacketBody): void
  /**
   * Makes documents citable: returns one number per document, stable from then on.
   * @param texts the text of each document that the model reads; its sentences are compared with it. Default: the
   * blurbs
   */
  cite(documents: readonly SearchDoc[], texts?: readonly string[]): readonly number[]
}

export interface ActionResult {
  /** Text for the model; data, never instructions. */
  readonly text: string
  /** Documents shown with the call in the whole answer (the displayed subset when there is one). */
  readonly documents?: readonly SearchDoc[]
  /** All documents the call found, in rank order; added to `message_start.final_documents`. */
  readonly foundDocuments?: readonly SearchDoc[]
  readonly images?: readonly { file_id: string; url: string; revised_prompt: string; shape: string | null }[]
}

/**
 * A tool. A thrown error becomes text for the model (`Tool failed with error: …`) and ends the call, never the run.
 * Calls run in parallel, so an action keeps no state between them.
 */
export interface Action<Input = unknown> {
  /**
   * Stable number that clients send in `allowed_tool_ids` and `forced_tool_id`. Functions of one stored tool share it;
   * when such a tool is forced, the model chooses the function.
   */
  readonly id: number
  /** The name the model sees: letters, digits, `_` and `-`. */
  readonly name: string
  readonly displayName: string
  readonly description: string
  /** Built-in kind (`SearchTool`, …); null for actions of a host. */
  readonly builtIn: string | null
  /** Number of its MCP server. Default: it has none. */
  readonly mcpServerId?: number
  /** Whether only agents that list it in `actionIds` may use it, which the default agent does not. Default false. */
  readonly needsGrant?: boolean
  readonly input: InputSchema<Input>
  /** Returns the packet sent before the call runs, e.g. `search_tool_start`; none when the call sends it itself. */
  readonly start?: () => PacketBody | undefined
  /** List argument whose values are joined when one step calls this action several times. */
  readonly mergeArgument?: string
  /** Text arguments that clients see while the model writes them. Default: none. */
  readonly streamedArguments?: readonly string[]
  /**
   * Whether calls make documents citable, so that parallel calls number them separately. Default: built-in searches do.
   */
  readonly isCiting?: boolean
  /**
   * Whether a failed call sends an `error` packet. Clients of the reference service end the answer at one, except for
   * image generation. Default: the error is only given to the model and stored with the call.
   */
  readonly tellsFailure?: boolean
  /**
   * Whether a person has to approve a call before it runs, also by its arguments. Default: only where the setting
   * `toolApproval` asks.
   */
  // Typed as a method, so that an action of any input is an `Action`.
  readonly needsApproval?: boolean | { asks(input: Input): boolean | Promise<boolean> }['asks']
  /** Whether calls change nothing, as `readOnlyHint` of MCP. Default: not known. */
  readonly isReadOnly?: boolean
  /** Name of its MCP server or custom tool, for people. Default: none. */
  readonly serverName?: string
  /** Whether the model has to answer after a call of this action, without calling others. */
  readonly isLast?: boolean
  run(input: Input, turn: ActionTurn): Promise<ActionResult>
}

/** The caller, and the context of the request. */
export interface ActionAsker {
  readonly caller: Principal
  /** The request's `mcp_headers`. Default: none. */
  readonly mcpHeaders?: Readonly<Record<string, string>>
}

/** Actions that may change while an agent runs: stored ones, and those of remote servers. Read for each run. */
export interface ActionSource {
  /** Actions available to the caller. An unreachable source is skipped and reported to the operator. */
  list(asker: ActionAsker): Promise<readonly Action[]>
  /** Whether an id belongs to this source, including actions that cannot be used right now. */
  holds(id: number): Promise<boolean>
}

/** Assigns numbers to tools that come and go. A number stays with its kind and name permanently. */
export interface ToolNumbers {
  /** The number for a kind and name, from 1,001; assigned at first use. May be called concurrently. */
  numberOf(kind: string, name: string): Promise<number>
  /** Looks up a number; undefined if it was never assigned. */
  find(id: number): Promise<{ readonly kind: string; readonly name: string } | undefined>
}
