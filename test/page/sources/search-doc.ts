import type { SearchDoc } from '@inlay/protocol'
import { document } from '../../protocol/fixtures/documents.ts'

/** A found document for tests, with what matters to them. */
export const searchDoc = (fields: Partial<SearchDoc> = {}): SearchDoc =>
  document({
    document_id: 'handbook/leave',
    semantic_identifier: 'Leave policy',
    link: 'https://wiki.example/leave',
    blurb: 'Full-time staff receive 25 days of paid leave.',
    source_type: 'file',
    metadata: {},
    score: 0.9,
    match_highlights: [],
    updated_at: null,
    primary_owners: null,
    ...fields,
  })
