import type { IngestionDocument } from '@inlay/protocol'
import type { DocumentInput } from './document-input.ts'
import type { Caller } from './pairs.ts'

/** A document that is about to be accepted; nothing of it is stored yet. */
export interface ComingDocument {
  readonly document: IngestionDocument
  /** Connector/credential pair. */
  readonly pairId: number
  /** Absent: the host itself. */
  readonly caller: Caller | undefined
}

/** Verdict of a hook on a document; undefined lets it pass. */
export interface DocumentVerdict {
  /** Why the document is refused, for the one who sent it. */
  readonly reject?: string | undefined
  /** Accepted in its place, for example without names of people. */
  readonly document?: DocumentInput | undefined
}

/** A document that is searchable, or that failed for good. */
export interface EndedDocument {
  readonly documentId: string
  readonly phase: 'indexed' | 'failed'
  /** Why it failed; null when it did not. */
  readonly reason: string | null
  readonly chunkCount: number | null
}

/** Callbacks of the host around documents. Not called for files uploaded to a single chat. */
export interface DocumentHooks {
  /**
   * Called for each document before it is stored; the sender waits. An InlayError it throws is the answer as it is,
   * anything else is HOOK_EXECUTION_FAILED.
   */
  readonly beforeDocument?:
    | ((coming: ComingDocument) => Promise<DocumentVerdict | void> | DocumentVerdict | void)
    | undefined
  /**
   * Called in the process that indexed a document, after each indexing; only `close` waits for it. After a crash it may
   * not be called, or twice. What it throws goes to `onError`.
   */
  readonly afterDocument?: ((ended: EndedDocument) => Promise<void> | void) | undefined
}
