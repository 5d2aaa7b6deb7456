import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamResult } from '@ai-sdk/provider'
import type {
  BaseFilters,
  ChatFullResponse,
  LlmOverride,
  PacketBody,
  Principal,
  SearchDoc,
  SendMessageRequest,
} from '@inlay/protocol'
import type { Files, FileSection, IncomingFile, OpenedFile, StoredFile } from './files/contracts.ts'
import type { Memories } from './memories/contracts.ts'
import type { Personas } from './personas/contracts.ts'
import type { Projects } from './projects/contracts.ts'
import type { Sessions } from './sessions/contracts.ts'
import type { StoredTools } from './stored-tools/contracts.ts'

/** Receives what a model writes, delta by delta, at the moment it arrives. */
export interface StreamListener {
  onText(delta: string): void
  onReasoning(delta: string): void
}

/** A model with a streaming tap: its text reaches a listener ahead of the stream of parts. */
export interface TappedModel extends LanguageModelV4 {
  /**
   * Like `doStream`, but the listener gets every delta of text and reasoning once and in order, as soon as it arrives,
   * even before the promise resolves. After an abort it gets nothing. The parts of the stream hold the same text joined,
   * later.
   */
  doStreamTapped(
    options: LanguageModelV4CallOptions,
    listener: StreamListener,
  ): PromiseLike<LanguageModelV4StreamResult>
}

/** A language model ready for one run. */
export interface ResolvedModel {
  readonly model: LanguageModelV4 | TappedModel
  /** Configured name of the provider, as a client gives it in `llm_override.model_provider`. */
  readonly provider: string
  /** Name of the model, as a client gives it in `llm_override.model_version`. */
  readonly name: string
  /** What a person reads, e.g. `Built-in extractive model`. */
  readonly displayName: string
  readonly temperature?: number
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number
  readonly takesImages: boolean
  /** It answers with words of documents alone, so it is not asked to sum anything up. Default: false. */
  readonly quotesOnly?: boolean
}

/** One model a client may choose. */
export interface ModelListing {
  readonly provider: string
  /** Type of the provider, e.g. `openai`, `anthropic`, `openai_compatible`, `extractive`. */
  readonly providerType: string
  readonly providerDisplayName: string
  readonly name: string
  readonly displayName: string
  readonly contextTokens: number
  readonly takesImages: boolean
  readonly isDefault: boolean
}

/** Finds the model of a run. Rejects with VALIDATION_ERROR when provider and version do not match; never a silent default. */
export interface ModelProvider {
  resolve(override?: LlmOverride | null): Promise<ResolvedModel>
  list(): Promise<readonly ModelListing[]>
}

/** A passage found: what clients show, and the text the model reads. */
export interface Passage {
  readonly document: SearchDoc
  /** The matched text, possibly with its neighbours; Markdown or plain text. */
  readonly content: string
  /** Title and headings above the text, outermost first. */
  readonly headings?: readonly string[]
  /** Where it stands in its document; absent when that is not known. */
  readonly span?: Span
}

/** A search without an answer. */
export interface PassageQuery {
  readonly text: string
  readonly filters: BaseFilters | null
  readonly caller: Principal
  /** Agent whose document sets and start date bound the search, and whose model helps. Default: the default one. */
  readonly personaId: number
  /** Model that thinks of further queries; null: that of the agent. */
  readonly model: { readonly provider: string; readonly version: string } | null
  /** Whether the text alone is searched for. */
  readonly skipsExpansion: boolean
  /** Most passages, 1 to 200. */
  readonly limit: number
  readonly signal: AbortSignal
}

/** A stretch of a document by the numbers of its chunks, from 0, both ends inclusive. */
export interface Span {
  readonly first: number
  readonly last: number
}

/** A stretch of a document as one text. */
export interface Excerpt {
  readonly content: string
  /** Title and headings above its beginning, outermost first. */
  readonly headings?: readonly string[]
  readonly span: Span
}

/**
 * Reads a stretch of a document as it is now, as far as it has the link of the chunk `around`, so that a citation of the
 * excerpt never leads elsewhere. Undefined when there is no such document that the caller may see.
 */
export type ExcerptReader = (
  query: Span & {
    readonly documentId: string
    readonly around: number
    readonly caller: Principal
    readonly signal?: AbortSignal
  },
) => Promise<Excerpt | undefined>

/** Finds passages. Filters and the caller's access bind inside the search; results come best first. */
export type PassageSearch = (query: {
  readonly text: string
  readonly filters?: BaseFilters | null
  readonly caller: Principal
  readonly limit: number
  readonly signal?: AbortSignal
}) => Promise<readonly Passage[]>

/** A tool's input schema: any Standard Schema that also gives JSON Schema (wrap valibot by `toStandardJsonSchema`). */
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
    readonly types?: { readonly input: Input; readonly output: Input } | undefined
  }
}

/** A question to the model of the run, apart from its conversation. */
export interface ModelQuestion {
  readonly instructions: string
  readonly text: string
  /** Most tokens of the answer. Default 500. */
  readonly answerTokens?: number
  readonly signal?: AbortSignal
}

/** Files an action may use: those of the conversation, its project and its agent, and those it makes. */
export interface TurnFiles {
  /** In the order they came; each once. */
  list(): Promise<readonly StoredFile[]>
  /** What a listed file says, by either of its ids. NOT_FOUND for any other file. */
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

/** What an action sees of the turn it runs in. */
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
  /** Makes documents citable: gives each its number (one a document), stable from then on. */
  cite(documents: readonly SearchDoc[]): readonly number[]
}

/** What an action gives back. */
export interface ActionResult {
  /** What the model reads; data, never instructions. */
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
  readonly input: InputSchema<Input>
  /** Packets sent before the call runs, e.g. `search_tool_start`; none when the call itself sends its start. */
  start?(): PacketBody | undefined
  /** List argument whose values are joined when one step calls this action several times. */
  readonly mergeArgument?: string
  /** Text arguments that clients see while the model writes them. Default: none. */
  readonly streamedArguments?: readonly string[]
  /** Whether calls make documents citable, so that parallel ones get numbers apart. Default: built-in searches do. */
  readonly isCiting?: boolean
  /** Whether the model has to answer after a call of this action, without further actions. */
  readonly isLast?: boolean
  run(input: Input, turn: ActionTurn): Promise<ActionResult>
}

/** Who asks for actions, and with what. */
export interface ActionAsker {
  readonly caller: Principal
  /** The request's `mcp_headers`. Default: none. */
  readonly mcpHeaders?: Readonly<Record<string, string>>
}

/** Actions that come and go while an agent runs: stored ones, those of remote servers. Asked for each run anew. */
export interface ActionSource {
  /** What the caller may use now; a part that cannot be reached is left out, and told to the operator. */
  list(asker: ActionAsker): Promise<readonly Action[]>
  /** Whether an id belongs to this source, also of an action that cannot be used right now. */
  holds(id: number): Promise<boolean>
}

/** What a tool of any kind may cost in time, in milliseconds. Ten minutes as in the reference. */
export const actionLimitMs = 600_000

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

/** Conversations and the runs that answer them. Everything is owned by the caller who made it. */
export interface Agent {
  /**
   * Stores the user message and an empty answer, then starts the run. Whatever can be known before the run starts
   * rejects: SESSION_NOT_FOUND, VALIDATION_ERROR (parent, override, forced tool), PERSONA_NOT_FOUND, NOT_FOUND (file,
   * project), INSUFFICIENT_PERMISSIONS (document set), CONFLICT (idempotency key).
   */
  send(
    request: SendMessageRequest,
    options: {
      caller: Principal
      requestId?: string
      idempotencyKey?: string
      /** Headers of the request that actions may pass on, lower case. Default: none. */
      headers?: Readonly<Record<string, string>>
    },
  ): Promise<Run>
  /** The session's newest run, while it is resumable. SESSION_NOT_FOUND, NOT_FOUND. */
  resume(sessionId: string, caller: Principal): Promise<Run>
  /** Ends what runs in the session, if anything; what was said is kept. SESSION_NOT_FOUND. */
  stop(sessionId: string, caller: Principal): Promise<void>
  /** The actions a caller may use now; with `evenOff` also those an administrator switched off. */
  actions(caller: Principal, options?: { readonly evenOff?: boolean }): Promise<readonly Action[]>
  /** Stored conversations. */
  readonly sessions: Sessions
  /** Uploads, and files that actions made. */
  readonly files: Files
  /** Agents: the assistant in a role. */
  readonly personas: Personas
  /** What is remembered about callers. */
  readonly memories: Memories
  /** Custom actions of the administrators. */
  readonly tools: StoredTools
  /** Files and instructions for some chats. */
  readonly projects: Projects
  models(): Promise<readonly ModelListing[]>
  /**
   * Finds passages without an answer, within the bounds of an agent. PERSONA_NOT_FOUND, NOT_FOUND (provider),
   * VALIDATION_ERROR (model), INSUFFICIENT_PERMISSIONS (document set), NOT_IMPLEMENTED without a search.
   */
  search(query: PassageQuery): Promise<readonly Passage[]>
  /** Takes up what an earlier process left: answers to be ended, files to be read. The first use does so too. */
  start(): Promise<void>
  /** Stops every run (what was said is kept) and releases everything. Idempotent. */
  close(): Promise<void>
}
