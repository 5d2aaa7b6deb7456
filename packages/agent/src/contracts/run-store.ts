import type { SearchDoc } from '@inlay/protocol'
import type { AnswerStatus, ToolCallRecord } from './conversation-store.ts'

/** A send with an idempotency key. */
export interface SendRecord {
  /** SHA-256 of the request, hexadecimal. */
  readonly bodyHash: string
  readonly sessionId: string
  /** The (first) answer. */
  readonly messageId: number
  /** Whether the send opened the session. */
  readonly openedSession: boolean
}

/** A stored answer, from which a run can be rebuilt. */
export interface StoredAnswer {
  /** The question. */
  readonly parentId: number | null
  readonly status: AnswerStatus
  readonly text: string
  readonly error: { readonly code: string | null; readonly message: string } | null
  readonly documents: readonly SearchDoc[] | null
  readonly toolCalls: readonly ToolCallRecord[]
  /** See `AnswerOutcome.lines`; null while it runs, or if they were not kept. */
  readonly lines: readonly string[] | null
}

/**
 * Stores sends by `Idempotency-Key`, separately for each caller. The record of a send is stored by
 * `ConversationStore.open`, together with the messages. `runStoreConformance` tests it.
 */
export interface RunStore {
  /** The send with a key; keys expire after a day. */
  find(ownerId: string, key: string): Promise<SendRecord | undefined>
  /** Throws SESSION_NOT_FOUND when there is no such answer. */
  answer(messageId: number): Promise<StoredAnswer>
}
