import type { IngestionDocument } from '@inlay/protocol'

/** Metadata of a document as it is shown and filtered by. */
export type DocumentMetadata = Readonly<Record<string, string | readonly string[]>>

/** A document as it is stored: every field that makes it what it is, and nothing that depends on when it came. */
export type StoredDocument = Omit<IngestionDocument, 'id'>

/** A large document as it is stored: the texts of its sections are "", and stand elsewhere, one after the other. */
export interface LargeDocument extends StoredDocument {
  /** Characters of the text of each section. */
  readonly textLengths: readonly number[]
}
