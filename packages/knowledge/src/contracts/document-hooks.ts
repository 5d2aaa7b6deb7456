import type { IngestionDocument } from '@inlay/protocol'
import type { DocumentInput } from './document-input.ts'
import type { Caller } from './pairs.ts'

/** A document that is about to be accepted; nothing is stored yet. */
export interface ComingDocument {
  readonly document: IngestionDocument
  readonly pairId: number
  /** Absent for the host itself. */
  readonly caller: Caller | undefined
}

/** Decision of a hook about a document; undefined accepts it. */
export interface DocumentVerdict {
  /** Reason why the document is refused, shown to the sender. */
  readonly reject?: string | undefined
  /** Accepted instead of the original, for example without names of people. */
  readonly document?: DocumentInput | undefined
}

/** A document that became searchable or failed permanently. */
export interface EndedDocument {
  readonly documentId: string
  readonly phase: 'indexed' | 'failed'
  /** Reason of the failure; null if indexing succeeded. */
  readonly reason: string | null
  readonly chunkCount: number | null
}

/** Callbacks of the host around documents. Not called for files uploaded to a single chat. */
export interface DocumentHooks {
  /**
   * Called for each document before it is stored, while the sender waits. If it throws an InlayError, that error is
   * returned; any other error becomes HOOK_EXECUTION_FAILED.
   */
  readonly beforeDocument?:
    | ((coming: ComingDocument) => Promise<DocumentVerdict | void> | DocumentVerdict | void)
    | undefined
  /**
   * Called after each indexing of a document, in the process that indexed it; only `close` waits for it. After a crash
   * it may be called twice or not at all. Errors it throws go to `onError`.
   */
  readonly afterDocument?: ((ended: EndedDocument) => Promise<void> | void) | undefined
}
