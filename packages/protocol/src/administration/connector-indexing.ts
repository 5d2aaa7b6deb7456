import * as v from 'valibot'
import { always, boolean, integer, model, orNull, text, type Wire } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { accessTypes } from '../resources/pairs.ts'
import { pairStatuses } from './pair-detail.ts'

export const indexingStatusQuerySchema = model('IndexingStatusQuery', {
  /** Source, as documents name theirs. */
  source: orNull(text),
  /** Only pairs with one of these access types; empty: all pairs. */
  access_type_filters: v.nullish(v.array(text), () => []),
  /** Only pairs whose `last_status` is one of these; empty: all pairs. */
  last_status_filters: v.nullish(v.array(text), () => []),
  /** Operator that compares `docs_count_value` with the document count. */
  docs_count_operator: orNull(v.picklist(['>', '<', '='])),
  /** Compared with the number of searchable documents. */
  docs_count_value: orNull(integer),
  /** Only pairs whose name contains this text. */
  name_filter: orNull(text),
  /** Page number (from 1) by source, ten pairs per page. */
  source_to_page: v.nullish(v.record(v.string(), v.pipe(integer, v.minValue(1))), () => ({})),
  /** Whether to return all pairs without paging. */
  get_all_connectors: v.nullish(boolean, false),
})

/** Body of `POST /manage/admin/connector/indexing-status`: every field is optional. */
export type IndexingStatusQuery = Wire<typeof indexingStatusQuerySchema>

/** Totals for the pairs of one source. */
const sourceSummarySchema = model('SourceSummary', {
  /** Number of pairs. */
  total_connectors: integer,
  /** Number of pairs that are not paused. */
  active_connectors: integer,
  /** Number of public pairs. */
  public_connectors: integer,
  /** Number of searchable documents in all pairs. */
  total_docs_indexed: integer,
})

export const connectorIndexingSchema = model('ConnectorIndexing', {
  /** Number of the pair. */
  cc_pair_id: integer,
  /** Display name. */
  name: v.string(),
  /** Source, as documents name theirs. */
  source: v.string(),
  /** Access to the documents: `public` or `private`. */
  access_type: v.picklist(accessTypes),
  /** State of the pair. */
  cc_pair_status: v.picklist(pairStatuses),
  /** Whether documents are waiting or being indexed. */
  in_progress: boolean,
  in_repeated_error_state: always(false, boolean),
  /** Result of the last finished indexing; null while indexing is in progress. */
  last_finished_status: orNull(v.string()),
  /** `in_progress`, `success` or `completed_with_errors`. */
  last_status: orNull(v.string()),
  /** Time when all documents were last indexed; ISO 8601 with `Z`. */
  last_success: orNull(answeredTime),
  /** Whether the caller can edit it. */
  is_editable: boolean,
  /** Permissions of the caller, by action. */
  permissions: v.record(v.string(), boolean),
  /** Number of searchable documents. */
  docs_indexed: integer,
  /** Number of searchable documents. */
  latest_index_attempt_docs_indexed: orNull(integer),
})

/** Indexing status of a pair. */
export type ConnectorIndexing = Wire<typeof connectorIndexingSchema>

export const sourceIndexingSchema = model('SourceIndexing', {
  /** Source, as documents name theirs. */
  source: v.string(),
  /** Totals for the source. */
  summary: sourceSummarySchema,
  /** Current page, from 1. */
  current_page: integer,
  /** Number of pages. */
  total_pages: integer,
  /** Pairs on this page. */
  indexing_statuses: v.array(connectorIndexingSchema),
})

/** Answer of `POST /manage/admin/connector/indexing-status`: one entry per source. */
export type SourceIndexing = Wire<typeof sourceIndexingSchema>
