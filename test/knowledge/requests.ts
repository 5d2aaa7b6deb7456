import type { IngestionDocument, IngestionRequest } from '@inlay/protocol'

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
      sections: [{ type: 'text', text, link: null, image_file_id: null, heading: null }],
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
