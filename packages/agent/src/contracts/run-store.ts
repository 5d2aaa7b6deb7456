import type { SearchDoc } from '@inlay/protocol'
import type { AnswerStatus, ToolCallRecord } from './conversation-store.ts'

/** A send that happened under a key. */
export interface SendRecord {
  /** SHA-256 of the request, hexadecimal. */
  readonly bodyHash: string
  readonly sessionId: string
  /** The (first) answer. */
  readonly messageId: number
  /** Whether the send opened the session. */
  readonly openedSession: boolean
  /** The lines of the finished run, one JSON each; undefined while it runs, or when its process ended first. */
  readonly lines: readonly string[] | undefined
}

/** A stored answer, as a run can be made of it again. */
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
 * Remembers sends by their `Idempotency-Key`, each caller's apart. The record of a send is stored by
 * `ConversationStore.open`, together with the messages. `runStoreConformance` tests it.
 */
export interface RunStore {
  /** The send of a key that is not older than its life, a day. */
  find(ownerId: string, key: string): Promise<SendRecord | undefined>
  /** Keeps the lines of a finished run with its key, unless another answer has taken its place there. */
  complete(ownerId: string, key: string, run: Pick<SendRecord, 'messageId' | 'lines'>): Promise<void>
  /** SESSION_NOT_FOUND when there is no such answer. */
  answer(messageId: number): Promise<StoredAnswer>
}
