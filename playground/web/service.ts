import type { DocMinimalInfo, DocumentStateName, StreamLine } from '@inlay/protocol'

/** What the page needs of an Inlay service; everything rejects with an error that `toFailure` puts into words. */
export interface Service {
  /** Asks, and gives the lines of the answer as they come. Leaving the loop does not stop the run; `stop` does. */
  ask(question: string, options: { sessionId: string | null; signal: AbortSignal }): AsyncIterable<StreamLine>
  stop(sessionId: string): Promise<void>
  /** All documents, up to a thousand; `more` says that there are others. */
  documents(signal?: AbortSignal): Promise<{ documents: readonly DocMinimalInfo[]; more: boolean }>
  /** Why a document failed; null when it did not. */
  failureReason(documentId: string): Promise<string | null>
  /** Text of passages of the document with this title, the best for its title first; "" when none is found. */
  passagesOf(title: string, signal?: AbortSignal): Promise<string>
  /** Markdown of the passage of the document with this title that holds this text; null when it is no longer there. */
  passage(title: string, text: string): Promise<string | null>
  ingest(document: TextDocument): Promise<void>
  remove(documentId: string): Promise<void>
}

/** A text a person hands in. */
export interface TextDocument {
  /** The same id again replaces the document. */
  readonly id: string
  readonly title: string
  readonly text: string
}

/** A document in the listing, with the reason once it is known. */
export interface ListedDocument {
  readonly id: string
  readonly title: string
  readonly link: string
  readonly state: DocumentStateName
  readonly reason: string | null
}
