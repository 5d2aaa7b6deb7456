import type { IngestionDocument, IngestionRequest, Section } from '@inlay/protocol'

/** A text of a document, as validation hands it on. */
export function section(text: string, link: string | null = null): Section {
  return { type: 'text', text, link, image_file_id: null, heading: null }
}

/** A request as validation hands it on. */
export function request(
  document: Partial<Omit<IngestionDocument, 'sections'>> & {
    text?: string
    sections?: IngestionDocument['sections']
  } = {},
  pairId = 1,
): IngestionRequest {
  const { text = 'some text', ...rest } = document
  return {
    cc_pair_id: pairId,
    document: {
      id: 'document',
      semantic_identifier: 'A document',
      sections: [section(text)],
      metadata: {},
      source: 'file',
      title: null,
      doc_updated_at: null,
      doc_created_at: null,
      primary_owners: null,
      secondary_owners: null,
      file_id: null,
      ...rest,
    },
  }
}
