import type { ResolvedModel } from './model.ts'
import type { ChatSessionCreationRequest, FileDescriptor, LlmOverride, PacketBody, SearchDoc } from '@inlay/protocol'

/** A session as a turn needs it. */
export interface SessionRecord {
  readonly id: string
  readonly ownerId: string
  /** Default: the default persona, 0. */
  readonly personaId?: number
  /** Default: it is in none. */
  readonly projectId?: number | null
  /** Model pinned to the session. Default: the default model. */
  readonly modelOverride?: LlmOverride | null
  /** Default: the model's own. */
  readonly temperature?: number | null
  /** Default: that of the model. */
  readonly reasoningEffort?: string | null
  /** Whether any message of the session came with files. Default: none did. */
  readonly hasFiles?: boolean
}

/**
 * How an answer stands: `running` while it is made; `done`; `failed` (with an error); `cancelled` by its user;
 * `terminated` when the process that made it ended first. All but `running` keep what was said.
 */
export type AnswerStatus = 'running' | 'done' | 'failed' | 'cancelled' | 'terminated'

/** Which model answers, as stored with its message. */
export interface AnswerModel {
  readonly provider: string
  readonly name: string
  readonly displayName: string
  /** Model parameters besides the prompt. */
  readonly params: Readonly<Record<string, unknown>>
}

/** Input for starting a turn. */
export interface TurnOpening {
  /** The session to go on with; null makes one from `creation`. */
  readonly session: SessionRecord | null
  readonly creation: ChatSessionCreationRequest | null
  readonly ownerId: string
  /** `parent_message_id` as the request gives it: -1 appends, null starts anew. */
  readonly parentId: number | null
  readonly text: string
  readonly files: readonly FileDescriptor[]
  readonly origin: string
  /** One for each answer that is made side by side. */
  readonly models: readonly AnswerModel[]
  readonly history: HistoryLimits
  /** Makes the send happen once: stored in the same transaction, see {@link RunStore}. */
  readonly key?: {
    readonly key: string
    readonly bodyHash: string
    /** The answer of an earlier send under the key, whose place this send takes. Another answer there rejects. */
    readonly replaces?: number
  }
}

/** How much of earlier messages is read. */
export interface HistoryLimits {
  /** Most characters of texts and results; the newest count. */
  readonly chars: number
  /** Shortens a result; the shortened one is kept and counted. Must be idempotent. Default: keeps all of it. */
  readonly shorten?: (result: string) => string
  /** Names of actions whose calls are left out. */
  readonly withoutCallsOf: readonly string[]
}

/** A turn whose messages are stored. */
export interface OpenedTurn extends BranchHistory {
  readonly sessionId: string
  readonly isNewSession: boolean
  readonly userMessageId: number
  /** Text of the user; for a regeneration, the stored text. */
  readonly userText: string
  readonly files: readonly FileDescriptor[]
  readonly answerIds: readonly number[]
}

/** Earlier messages of a branch, as included in a prompt. */
export interface BranchHistory {
  /** Summary of the messages before `messages`; null if there are none. */
  readonly summary: string | null
  /** Files that came with what is summed up, oldest first; their content is in no summary. */
  readonly summaryFiles: readonly FileDescriptor[]
  /** Earlier messages of the branch, oldest first, beginning with a question. */
  readonly messages: readonly PastMessage[]
}

/** A message of the branch that leads to the new answer, with the calls that led to it. */
export interface PastMessage {
  readonly id: number
  readonly role: 'user' | 'assistant'
  readonly status: AnswerStatus
  readonly text: string
  readonly files: readonly FileDescriptor[]
  /** Calls at the top of the answer, those left out by {@link HistoryLimits} excepted. */
  readonly toolCalls: readonly PastToolCall[]
  /** All calls at the top of the answer. */
  readonly callCount: number
  /** Model parameters of an answer; null for a question. */
  readonly params: Readonly<Record<string, unknown>> | null
}

/** A call as a later turn may remind the model of it. */
export type PastToolCall = Pick<ToolCallRecord, 'step' | 'callId' | 'name' | 'arguments' | 'result'>

/** One call of an action that led to an answer. */
export interface ToolCallRecord {
  /** Which step of the answer asked for it, from 0: calls of one step ran in parallel. */
  readonly step: number
  readonly turnIndex: number
  readonly tabIndex: number
  readonly callId: string
  readonly actionId: number
  readonly name: string
  readonly failed: boolean
  readonly arguments: Readonly<Record<string, unknown>>
  /** Result as passed to the model. */
  readonly result: string
  /** Reasoning of the model before the call. */
  readonly reasoning: string | null
  /** Packets of the call but its `section_end`, for replay. */
  readonly packets: readonly PacketBody[]
  readonly documents: readonly SearchDoc[] | null
  readonly images: readonly { file_id: string; url: string; revised_prompt: string; shape: string | null }[] | null
  /** The research agent's call that made this one. Default: it stands at the top. */
  readonly parentCallId?: string
  /** The step of that agent. */
  readonly subTurnIndex?: number
}

/** Result of a finished answer. */
export interface AnswerOutcome {
  readonly status: Exclude<AnswerStatus, 'running'>
  readonly text: string
  readonly reasoning: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly citations: readonly { readonly number: number; readonly documentId: string }[]
  /** Gathered for the answer, as in `message_start.final_documents`; null when nothing searched. */
  readonly documents: readonly SearchDoc[] | null
  readonly toolCalls: readonly ToolCallRecord[]
  readonly durationMs: number
}

/** Error text of an answer whose process ended before it was complete. */
export const terminatedText = 'The answer was cut off because the server stopped; ask again for a whole one.'

/**
 * Stored conversations, as far as a turn reads and writes them. Each session is a tree of messages under a hidden root;
 * ids rise along a branch. `conversationStoreConformance` tests it.
 */
export interface ConversationStore {
  /** SESSION_NOT_FOUND when it is unknown, deleted or someone else's. */
  session(id: string, ownerId: string): Promise<SessionRecord>
  /** Stores the user message and the empty answers in one transaction. VALIDATION_ERROR when the parent does not fit. */
  open(opening: TurnOpening): Promise<OpenedTurn>
  /** Stores what became of an answer; once it resolves it is durable. SESSION_NOT_FOUND when its session is gone. */
  finish(answerId: number, outcome: AnswerOutcome): Promise<void>
  /** Stores what running answers have said by now, and that their process lives. */
  checkpoint(answers: readonly { readonly answerId: number; readonly text: string }[]): Promise<void>
  /**
   * Ends answers whose process has not been heard of for `leaseMs`; what was said is kept.
   * @returns milliseconds until the oldest of the others would be due; undefined when nothing else runs
   */
  terminateAbandoned(leaseMs: number): Promise<number | undefined>
  /**
   * Messages of a branch up to and including its end.
   * @param messageId the end of the branch; null: that of the active branch
   */
  branch(sessionId: string, messageId: number | null, limits: HistoryLimits): Promise<BranchHistory>
  /**
   * Keeps a summary of a branch up to a message; the first one of a message stays. Without this method long histories
   * are cut instead.
   */
  readonly saveSummary?: (summary: {
    readonly sessionId: string
    readonly messageId: number
    readonly text: string
  }) => Promise<void>
  /** Hears of each answer that was stored, to name a session after its first one. Without this method none is named. */
  readonly nameSession?: (answer: NewAnswer) => Promise<void>
  /** Ids of files that actions made for these messages, the newest first. Needed beside a `FileStore`. */
  readonly generatedFileIds?: (messageIds: readonly number[]) => Promise<readonly string[]>
}

/** An answer that was stored, for the name of its session. */
export interface NewAnswer {
  readonly sessionId: string
  /** The answered question. */
  readonly question: string
  /** The answer; "" when it failed. */
  readonly text: string
  /** Finds the model that may be asked for a name. */
  readonly model: () => Promise<ResolvedModel>
  /** Aborts when the process ends. */
  readonly signal: AbortSignal
}
