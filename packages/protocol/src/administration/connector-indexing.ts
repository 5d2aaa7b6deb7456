import * as v from 'valibot'
import { integer, model, orNull, text, type WireSchema } from '../fields.ts'
import { accessTypes, type AccessType } from '../resources/pairs.ts'
import { pairStatuses, type PairStatus } from './connectors.ts'

/** Body of `POST /manage/admin/connector/indexing-status`: every field is optional. */
export interface IndexingStatusQuery {
  readonly source: string | null
  readonly access_type_filters: readonly string[]
  readonly last_status_filters: readonly string[]
  readonly docs_count_operator: '>' | '<' | '=' | null
  readonly docs_count_value: number | null
  readonly name_filter: string | null
  /** Source → page from 1, ten pairs each. */
  readonly source_to_page: Readonly<Record<string, number>>
  /** Whether pages are left out. */
  readonly get_all_connectors: boolean
}

/** Schema of {@link IndexingStatusQuery}. */
export const indexingStatusQuerySchema: WireSchema<IndexingStatusQuery> = model({
  source: orNull(text),
  access_type_filters: v.nullish(v.array(text), () => []),
  last_status_filters: v.nullish(v.array(text), () => []),
  docs_count_operator: orNull(v.picklist(['>', '<', '='])),
  docs_count_value: orNull(integer),
  name_filter: orNull(text),
  source_to_page: v.nullish(v.record(v.string(), v.pipe(integer, v.minValue(1))), () => ({})),
  get_all_connectors: v.nullish(v.boolean(), false),
})

/** How the documents of a pair fare. */
export interface ConnectorIndexing {
  readonly cc_pair_id: number
  readonly name: string
  readonly source: string
  readonly access_type: AccessType
  readonly cc_pair_status: PairStatus
  readonly in_progress: boolean
  readonly in_repeated_error_state: boolean
  readonly last_finished_status: string | null
  readonly last_status: string | null
  readonly last_success: string | null
  readonly is_editable: boolean
  readonly permissions: Readonly<Record<string, boolean>>
  readonly docs_indexed: number
  readonly latest_index_attempt_docs_indexed: number | null
}

/** Answer of `POST /manage/admin/connector/indexing-status`: an entry for each source. */
export interface SourceIndexing {
  readonly source: string
  readonly summary: {
    readonly total_connectors: number
    readonly active_connectors: number
    readonly public_connectors: number
    readonly total_docs_indexed: number
  }
  readonly current_page: number
  readonly total_pages: number
  readonly indexing_statuses: readonly ConnectorIndexing[]
}

/** Schema of {@link SourceIndexing}. */
export const sourceIndexingSchema: WireSchema<SourceIndexing> = model({
  source: v.string(),
  summary: model({
    total_connectors: integer,
    active_connectors: integer,
    public_connectors: integer,
    total_docs_indexed: integer,
  }),
  current_page: integer,
  total_pages: integer,
  indexing_statuses: v.array(
    model({
      cc_pair_id: integer,
      name: v.string(),
      source: v.string(),
      access_type: v.picklist(accessTypes),
      cc_pair_status: v.picklist(pairStatuses),
      in_progress: v.boolean(),
      in_repeated_error_state: v.boolean(),
      last_finished_status: orNull(v.string()),
      last_status: orNull(v.string()),
      last_success: orNull(v.string()),
      is_editable: v.boolean(),
      permissions: v.record(v.string(), v.boolean()),
      docs_indexed: integer,
      latest_index_attempt_docs_indexed: orNull(integer),
    }),
  ),
})
