import type { ResolvedModel } from './model.ts'
import type {
  ChatSessionCreationRequest,
  FileDescriptor,
  LlmOverride,
  PacketBody,
  SearchDoc,
  Usage,
} from '@inlay/protocol'

/** A session as a turn needs it. */
export interface SessionRecord {
  readonly id: string
  readonly ownerId: string
  /** Default: the default persona, 0. */
  readonly personaId?: number
  /** Default: none. */
  readonly projectId?: number | null
  /** Model pinned to the session. Default: the default model. */
  readonly modelOverride?: LlmOverride | null
  /** Default: the model's own. */
  readonly temperature?: number | null
  /** Default: that of the model. */
  readonly reasoningEffort?: string | null
  /** Whether any message of the session has files. Default: false. */
  readonly hasFiles?: boolean
}

/**
 * Status of an answer: `running`, `done`, `failed` (with an error), `cancelled` by its user, or `terminated` when its
 * process ended first. All but `running` keep the text written so far.
 */
export type AnswerStatus = 'running' | 'done' | 'failed' | 'cancelled' | 'terminated'

/** The model of an answer, as stored with its message. */
export interface AnswerModel {
  readonly provider: string
  readonly name: string
  readonly displayName: string
  /** Model parameters besides the prompt. */
  readonly params: Readonly<Record<string, unknown>>
}

export interface TurnOpening {
  /** Session to continue; null creates one from `creation`. */
  readonly session: SessionRecord | null
  readonly creation: ChatSessionCreationRequest | null
  /** Id of a created session, unless there is one. Default: a random one. */
  readonly newSessionId?: string | undefined
  readonly ownerId: string
  /** `parent_message_id` of the request: -1 appends, null starts a new branch at the root. */
  readonly parentId: number | null
  /** Whether it decides calls of that answer: a CONFLICT unless the answer is the last of the chat, and done. */
  readonly decides?: boolean
  readonly text: string
  readonly files: readonly FileDescriptor[]
  readonly origin: string
  /** One per parallel answer. */
  readonly models: readonly AnswerModel[]
  readonly history: HistoryLimits
  /** Makes the send idempotent: stored in the same transaction, see {@link RunStore}. */
  readonly key?: {
    readonly key: string
    readonly bodyHash: string
    /** Answer of an earlier send with the key that this send replaces. Rejects if the key has another answer. */
    readonly replaces?: number
  }
}

/** Limits for reading earlier messages. */
export interface HistoryLimits {
  /** Maximum characters of texts and results; the newest are kept. */
  readonly chars: number
  /** Shortens a result before it is kept and counted. Must be idempotent. Default: keeps it whole. */
  readonly shorten?: (result: string) => string
  /** Names of actions whose calls are omitted. */
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
  /** Files of the summarised messages, oldest first; summaries do not include file contents. */
  readonly summaryFiles: readonly FileDescriptor[]
  /** Earlier messages of the branch, oldest first, beginning with a question. */
  readonly messages: readonly PastMessage[]
}

/** A message on the way to the new answer, with its calls. */
export interface PastMessage {
  readonly id: number
  readonly role: 'user' | 'assistant'
  readonly status: AnswerStatus
  readonly text: string
  readonly files: readonly FileDescriptor[]
  /** Top-level calls of the answer, except those omitted by {@link HistoryLimits}. */
  readonly toolCalls: readonly PastToolCall[]
  /** Number of top-level calls of the answer, including omitted ones. */
  readonly callCount: number
  /** Model parameters of an answer; null for a question. */
  readonly params: Readonly<Record<string, unknown>> | null
  /** See {@link AnswerOutcome}. */
  readonly modelSteps?: string | null
}

/** A call as later turns remember it. */
export type PastToolCall = Pick<ToolCallRecord, 'step' | 'callId' | 'name' | 'arguments' | 'result'>

/** One call of an action that led to an answer. */
export interface ToolCallRecord {
  /** Step of the answer that requested it, from 0; calls of one step ran in parallel. */
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
  /** Packets of the call except `section_end`, for replay. */
  readonly packets: readonly PacketBody[]
  readonly documents: readonly SearchDoc[] | null
  readonly images: readonly { file_id: string; url: string; revised_prompt: string; shape: string | null }[] | null
  /** The call of the research agent that made this one. Default: a top-level call. */
  readonly parentCallId?: string
  /** Step of that agent. */
  readonly subTurnIndex?: number
}

/** An answer without an outcome. */
export interface RunningAnswer {
  readonly sessionId: string
  readonly answerId: number
  /** The question. */
  readonly parentId: number | null
  /** Milliseconds since 1970 UTC. */
  readonly openedAt: number
}

/** Result of a finished answer. */
export interface AnswerOutcome {
  readonly status: Exclude<AnswerStatus, 'running'>
  readonly text: string
  readonly reasoning: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly citations: readonly { readonly number: number; readonly documentId: string }[]
  /** Documents gathered for the answer, as in `message_start.final_documents`; null when nothing was searched. */
  readonly documents: readonly SearchDoc[] | null
  readonly toolCalls: readonly ToolCallRecord[]
  readonly durationMs: number
  /** Tokens of its model calls, as the provider counted them. Absent: unknown. */
  readonly usage?: Usage
  /** What its model has to get back with later messages, such as signed thoughts; kept as it is. Absent: nothing. */
  readonly modelSteps?: string | undefined
  /** The lines of its run, to be shown again by `recordedPackets`; without line feeds. Absent: too many to be kept. */
  readonly lines?: readonly string[]
}

/** Error text of an answer whose process ended before it was complete. */
export const terminatedText = 'The answer was cut off because the server stopped; ask again for a whole one.'

/**
 * Stored conversations, as a turn reads and writes them. Each session is a tree of messages under a hidden root; ids
 * increase along a branch. `conversationStoreConformance` tests it.
 */
export interface ConversationStore {
  /** Throws SESSION_NOT_FOUND when the session is unknown, deleted or another caller's. */
  session(id: string, ownerId: string): Promise<SessionRecord>
  /** Stores the user message and the empty answers in one transaction. VALIDATION_ERROR for an unsuitable parent. */
  open(opening: TurnOpening): Promise<OpenedTurn>
  /**
   * Stores the outcome of an answer, durably once it resolves. The outcome `terminated` changes nothing of an answer that
   * has one already. SESSION_NOT_FOUND when the session was deleted.
   */
  finish(answerId: number, outcome: AnswerOutcome): Promise<void>
  /** Cancels the newest answer of a session if it waits for a person to approve its calls. Default: it goes on waiting. */
  readonly cancelWaiting?: (sessionId: string) => Promise<void>
  /** The answers without an outcome, oldest first: they run, or their process ended. */
  running(): Promise<readonly RunningAnswer[]>
  /**
   * Messages of a branch up to and including its end.
   * @param messageId end of the branch; null for the active branch
   */
  branch(sessionId: string, messageId: number | null, limits: HistoryLimits): Promise<BranchHistory>
  /** Stores a summary of a branch up to a message; the first of a message wins. Default: long histories are cut. */
  readonly saveSummary?: (summary: {
    readonly sessionId: string
    readonly messageId: number
    readonly text: string
  }) => Promise<void>
  /** Called for each stored answer, to name a session after its first one. Default: sessions get no names. */
  readonly nameSession?: (answer: NewAnswer) => Promise<void>
  /** Ids of files that actions created for these messages, newest first. Required together with a `FileStore`. */
  readonly generatedFileIds?: (messageIds: readonly number[]) => Promise<readonly string[]>
}

/** A stored answer, for naming its session. */
export interface NewAnswer {
  readonly sessionId: string
  /** The question that was answered. */
  readonly question: string
  /** The answer; "" when it failed. */
  readonly text: string
  /** Finds the model to ask for a name. */
  readonly model: () => Promise<ResolvedModel>
  /** Aborts when the process ends. */
  readonly signal: AbortSignal
}
