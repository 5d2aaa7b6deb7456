import type { SearchDoc } from '@inlay/protocol'

/** A found document for tests, with what matters to them. */
export function searchDoc(fields: Partial<SearchDoc> = {}): SearchDoc {
  return {
    document_id: 'handbook/leave',
    chunk_ind: 0,
    semantic_identifier: 'Leave policy',
    link: 'https://wiki.example/leave',
    blurb: 'Full-time staff receive 25 days of paid leave.',
    source_type: 'file',
    boost: 0,
    hidden: false,
    metadata: {},
    score: 0.9,
    is_relevant: null,
    relevance_explanation: null,
    match_highlights: [],
    updated_at: null,
    primary_owners: null,
    secondary_owners: null,
    is_internet: false,
    file_id: null,
    ...fields,
  }
}
