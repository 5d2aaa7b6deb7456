import * as v from 'valibot'
import { boolean, integer, model, orNull, text, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { accessTypes, type AccessType } from '../resources/pairs.ts'
import { pairStatuses, type PairStatus } from './pair-detail.ts'

/** Body of `POST /manage/admin/connector/indexing-status`: every field is optional. */
export interface IndexingStatusQuery {
  /** Source, as documents name theirs. */
  readonly source: string | null
  /** Only pairs with one of these access types; empty: all pairs. */
  readonly access_type_filters: readonly string[]
  /** Only pairs whose `last_status` is one of these; empty: all pairs. */
  readonly last_status_filters: readonly string[]
  /** Operator that compares `docs_count_value` with the document count. */
  readonly docs_count_operator: '>' | '<' | '=' | null
  /** Compared with the number of searchable documents. */
  readonly docs_count_value: number | null
  /** Only pairs whose name contains this text. */
  readonly name_filter: string | null
  /** Page number (from 1) by source, ten pairs per page. */
  readonly source_to_page: Readonly<Record<string, number>>
  /** Whether to return all pairs without paging. */
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

/** Indexing status of a pair. */
export interface ConnectorIndexing {
  /** Number of the pair. */
  readonly cc_pair_id: number
  /** Display name. */
  readonly name: string
  /** Source, as documents name theirs. */
  readonly source: string
  /** Access to the documents: `public` or `private`. */
  readonly access_type: AccessType
  /** State of the pair. */
  readonly cc_pair_status: PairStatus
  /** Whether documents are waiting or being indexed. */
  readonly in_progress: boolean
  /** Always false here. */
  readonly in_repeated_error_state: boolean
  /** Result of the last finished indexing; null while indexing is in progress. */
  readonly last_finished_status: string | null
  /** `in_progress`, `success` or `completed_with_errors`. */
  readonly last_status: string | null
  /** Time when all documents were last indexed; ISO 8601 with `Z`. */
  readonly last_success: string | null
  /** Whether the caller can edit it. */
  readonly is_editable: boolean
  /** Permissions of the caller, by action. */
  readonly permissions: Readonly<Record<string, boolean>>
  /** Number of searchable documents. */
  readonly docs_indexed: number
  /** Number of searchable documents. */
  readonly latest_index_attempt_docs_indexed: number | null
}

/** Totals for the pairs of one source. */
export interface SourceSummary {
  /** Number of pairs. */
  readonly total_connectors: number
  /** Number of pairs that are not paused. */
  readonly active_connectors: number
  /** Number of public pairs. */
  readonly public_connectors: number
  /** Number of searchable documents in all pairs. */
  readonly total_docs_indexed: number
}

/** Answer of `POST /manage/admin/connector/indexing-status`: one entry per source. */
export interface SourceIndexing {
  /** Source, as documents name theirs. */
  readonly source: string
  /** Totals for the source. */
  readonly summary: SourceSummary
  /** Current page, from 1. */
  readonly current_page: number
  /** Number of pages. */
  readonly total_pages: number
  /** Pairs on this page. */
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
