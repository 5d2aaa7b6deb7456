import type { IngestionDocument } from '@inlay/protocol'

/** Metadata of a document, displayed and used for filters. */
export type DocumentMetadata = Readonly<Record<string, string | readonly string[]>>

/** A document as stored: its content, without the times and ids of its ingestion. */
export type StoredDocument = Omit<IngestionDocument, 'id'>

/** A large document as stored: the texts of its sections are "" here and stored separately, concatenated. */
export interface LargeDocument extends StoredDocument {
  /** Number of characters of each section's text. */
  readonly textLengths: readonly number[]
}
