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
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Input; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] }[] }
      | Promise<
          | { readonly value: Input; readonly issues?: undefined }
          | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] }[] }
        >
    readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-07' }) => Record<string, unknown> }
    readonly types?: { readonly input: unknown; readonly output: Input } | undefined
  }
}

/** A question to the model of the run, apart from its conversation. */
export interface ModelQuestion {
  readonly instructions: string
  readonly text: string
  /** Most tokens of the answer. Default 500. */
  readonly answerTokens?: number
  /** Ends a question that can be done without; a model that is slow to answer such is not asked for a while. */
  readonly signal?: AbortSignal
}

/** Files an action may use: those of the conversation, its project and its agent, and those it makes. */
export interface TurnFiles {
  /** In the order they came; each once. */
  list(): Promise<readonly StoredFile[]>
  /** Text of a listed file, by either of its ids. NOT_FOUND for any other file. */
  read(id: string, signal?: AbortSignal): Promise<readonly FileSection[]>
  /** The bytes of a listed file. NOT_FOUND for any other file. */
  open(id: string): Promise<OpenedFile>
  /** Keeps a file that the action made; its `fileId` is what packets carry, and what `GET /chat/file/{id}` gives back. */
  keep(file: IncomingFile): Promise<StoredFile>
}

/** One message of the conversation, as text. */
export interface PastText {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

/** The turn as visible to an action. */
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
  /** Arguments as the model gave them; `run` gets what the schema made of them. */
  readonly arguments?: Readonly<Record<string, unknown>>
  /** Tokens of result text that the model can still take beside the other calls of the step; longer text may be cut. */
  readonly resultTokens?: number
  /** The conversation before the last user message, oldest first, cut to what fits. Default: none. */
  readonly messages?: readonly PastText[]
  /** Asks the model of the run; its cost counts with the run. Absent when that model only quotes documents. */
  readonly ask?: (question: ModelQuestion) => Promise<string>
  /** Absent where no files are stored. */
  readonly files?: TurnFiles
  /** Headers of the request that the operator lets pass to actions, lower case. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts on stop and at the time limit. */
  readonly signal: AbortSignal
  /** Sends a packet at this call's placement. */
  emit(packet: PacketBody): void
  /**
   * Makes documents citable: gives each its number (one a document), stable from then on.
   * @param texts what the model reads of each, which its sentences are compared with. Default: the blurbs
   */
  cite(documents: readonly SearchDoc[], texts?: readonly string[]): readonly number[]
}

/** Result of an action. */
export interface ActionResult {
  /** Text for the model; data, never instructions. */
  readonly text: string
  /** Documents shown with the call in the whole answer (the displayed subset when there is one). */
  readonly documents?: readonly SearchDoc[]
  /** All documents the call found, in rank order: they join `message_start.final_documents`. */
  readonly foundDocuments?: readonly SearchDoc[]
  readonly images?: readonly { file_id: string; url: string; revised_prompt: string; shape: string | null }[]
}

/**
 * Something a model can call. A thrown error becomes text the model reads (`Tool failed with error: …`) and ends the
 * call, never the run. Calls run in parallel, so an action keeps no state between them.
 */
export interface Action<Input = unknown> {
  /**
   * Stable number: clients send it in `allowed_tool_ids` and `forced_tool_id`. Functions of one stored tool share it;
   * a forced tool with several lets the model choose among them.
   */
  readonly id: number
  /** The name the model sees: letters, digits, `_` and `-`. */
  readonly name: string
  readonly displayName: string
  readonly description: string
  /** Name of the built-in kind (`SearchTool`, …); null for a host's own. */
  readonly builtIn: string | null
  /** Number of the MCP server whose tool it is. Default: it is none. */
  readonly mcpServerId?: number
  /** Whether only agents have it whose `actionIds` name it, and not the default agent. Default false. */
  readonly needsGrant?: boolean
  readonly input: InputSchema<Input>
  /** Packets sent before the call runs, e.g. `search_tool_start`; none when the call itself sends its start. */
  readonly start?: () => PacketBody | undefined
  /** List argument whose values are joined when one step calls this action several times. */
  readonly mergeArgument?: string
  /** Text arguments that clients see while the model writes them. Default: none. */
  readonly streamedArguments?: readonly string[]
  /** Whether calls make documents citable, so that parallel ones get numbers apart. Default: built-in searches do. */
  readonly isCiting?: boolean
  /**
   * Whether a failed call sends an `error` packet. Clients of the reference service end the answer at one, except for
   * image generation. Default: the reason is told to the model and kept with the stored call alone.
   */
  readonly tellsFailure?: boolean
  /** Whether the model has to answer after a call of this action, without further actions. */
  readonly isLast?: boolean
  run(input: Input, turn: ActionTurn): Promise<ActionResult>
}

/** The caller that requests actions, and the context of the request. */
export interface ActionAsker {
  readonly caller: Principal
  /** The request's `mcp_headers`. Default: none. */
  readonly mcpHeaders?: Readonly<Record<string, string>>
}

/** Actions that come and go while an agent runs: stored ones, those of remote servers. Asked for each run anew. */
export interface ActionSource {
  /** Actions available to the caller. An unreachable source is skipped and reported to the operator. */
  list(asker: ActionAsker): Promise<readonly Action[]>
  /** Whether an id belongs to this source, also of an action that cannot be used right now. */
  holds(id: number): Promise<boolean>
}

/** Timeout of any tool, in milliseconds. */
export const actionLimitMs = 600_000

/** Gives numbers to tools that come and go; a number stays with its kind and name for good, also across restarts. */
export interface ToolNumbers {
  /** The number of something by its kind and name, from 1,001 on; made when there is none. May run concurrently. */
  numberOf(kind: string, name: string): Promise<number>
  /** Looks up a number; undefined if it was never assigned. */
  find(id: number): Promise<{ readonly kind: string; readonly name: string } | undefined>
}
