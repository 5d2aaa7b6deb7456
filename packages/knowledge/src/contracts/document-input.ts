import type { IngestionDocumentInput, IngestionInput } from '@inlay/protocol'

/** A document as a host writes it; only the sections are required. */
export interface DocumentInput
  extends
    Omit<IngestionDocumentInput, 'semantic_identifier' | 'metadata'>,
    Partial<Pick<IngestionDocumentInput, 'metadata'>> {
  /** Display title. Default: `title`, otherwise the first line of the text. */
  readonly semantic_identifier?: string | null | undefined
}

export interface AcceptInput extends Omit<IngestionInput, 'document'> {
  readonly document: DocumentInput
}
