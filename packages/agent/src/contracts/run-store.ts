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
  /** The lines of the finished run, one JSON each; undefined while it runs, or if its process ended first. */
  readonly lines: readonly string[] | undefined
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
}

/**
 * Stores sends by `Idempotency-Key`, separately for each caller. The record of a send is stored by
 * `ConversationStore.open`, together with the messages. `runStoreConformance` tests it.
 */
export interface RunStore {
  /** The send with a key; keys expire after a day. */
  find(ownerId: string, key: string): Promise<SendRecord | undefined>
  /** Stores the lines of a finished run with its key, unless another answer has replaced it there. */
  complete(ownerId: string, key: string, run: Pick<SendRecord, 'messageId' | 'lines'>): Promise<void>
  /** Throws SESSION_NOT_FOUND when there is no such answer. */
  answer(messageId: number): Promise<StoredAnswer>
}
