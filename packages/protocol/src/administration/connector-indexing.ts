import * as v from 'valibot'
import { boolean, integer, model, orNull, text, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { accessTypes, type AccessType } from '../resources/pairs.ts'
import { pairStatuses, type PairStatus } from './pair-detail.ts'

/** Body of `POST /manage/admin/connector/indexing-status`: every field is optional. */
export interface IndexingStatusQuery {
  /** Source, as documents name theirs. */
  readonly source: string | null
  /** Only pairs of these access types; empty: of all. */
  readonly access_type_filters: readonly string[]
  /** Only pairs whose `last_status` is one of these; empty: all. */
  readonly last_status_filters: readonly string[]
  /** How `docs_count_value` is compared. */
  readonly docs_count_operator: '>' | '<' | '=' | null
  /** Compared with the documents that can be found. */
  readonly docs_count_value: number | null
  /** Only pairs whose name holds this. */
  readonly name_filter: string | null
  /** Source → page from 1, ten pairs each. */
  readonly source_to_page: Readonly<Record<string, number>>
  /** Whether pages are left out. */
  readonly get_all_connectors: boolean
}

export const indexingStatusQuerySchema: WireSchema<IndexingStatusQuery> = model('IndexingStatusQuery', {
  source: orNull(text),
  access_type_filters: v.nullish(v.array(text), () => []),
  last_status_filters: v.nullish(v.array(text), () => []),
  docs_count_operator: orNull(v.picklist(['>', '<', '='])),
  docs_count_value: orNull(integer),
  name_filter: orNull(text),
  source_to_page: v.nullish(v.record(v.string(), v.pipe(integer, v.minValue(1))), () => ({})),
  get_all_connectors: v.nullish(boolean, false),
})

/** How the documents of a pair fare. */
export interface ConnectorIndexing {
  /** Number of the pair. */
  readonly cc_pair_id: number
  /** What people call it. */
  readonly name: string
  /** Source, as documents name theirs. */
  readonly source: string
  /** Who may see the documents: `public`, or `private`. */
  readonly access_type: AccessType
  /** Where the pair stands. */
  readonly cc_pair_status: PairStatus
  /** Whether documents wait or are being indexed. */
  readonly in_progress: boolean
  /** Always false here. */
  readonly in_repeated_error_state: boolean
  /** How the latest work ended; null while some goes on. */
  readonly last_finished_status: string | null
  /** `in_progress`, `success` or `completed_with_errors`. */
  readonly last_status: string | null
  /** When all documents were last indexed; ISO 8601 with `Z`. */
  readonly last_success: string | null
  /** Whether the caller may change it. */
  readonly is_editable: boolean
  /** What the caller may do with it. */
  readonly permissions: Readonly<Record<string, boolean>>
  /** Documents that can be found. */
  readonly docs_indexed: number
  /** Documents that can be found. */
  readonly latest_index_attempt_docs_indexed: number | null
}

/** Figures of the pairs of a source. */
export interface SourceSummary {
  /** Pairs of the source. */
  readonly total_connectors: number
  /** Those that are not paused. */
  readonly active_connectors: number
  /** Those that everybody may see. */
  readonly public_connectors: number
  /** Documents of all of them that can be found. */
  readonly total_docs_indexed: number
}

/** Answer of `POST /manage/admin/connector/indexing-status`: an entry for each source. */
export interface SourceIndexing {
  /** Source, as documents name theirs. */
  readonly source: string
  /** Figures of the source. */
  readonly summary: SourceSummary
  /** Page that is shown, from 1. */
  readonly current_page: number
  /** How many pages there are. */
  readonly total_pages: number
  /** The pairs of the page. */
  readonly indexing_statuses: readonly ConnectorIndexing[]
}

export const sourceIndexingSchema: WireSchema<SourceIndexing> = model('SourceIndexing', {
  source: v.string(),
  summary: model('SourceSummary', {
    total_connectors: integer,
    active_connectors: integer,
    public_connectors: integer,
    total_docs_indexed: integer,
  }),
  current_page: integer,
  total_pages: integer,
  indexing_statuses: v.array(
    model('ConnectorIndexing', {
      cc_pair_id: integer,
      name: v.string(),
      source: v.string(),
      access_type: v.picklist(accessTypes),
      cc_pair_status: v.picklist(pairStatuses),
      in_progress: boolean,
      in_repeated_error_state: boolean,
      last_finished_status: orNull(v.string()),
      last_status: orNull(v.string()),
      last_success: orNull(answeredTime),
      is_editable: boolean,
      permissions: v.record(v.string(), boolean),
      docs_indexed: integer,
      latest_index_attempt_docs_indexed: orNull(integer),
    }),
  ),
})
