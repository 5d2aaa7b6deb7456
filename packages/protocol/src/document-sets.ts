import * as v from 'valibot'
import { integer, model, orNull, type WireSchema } from './fields.ts'

/** A connector/credential pair inside a document set. */
export interface PairSummary {
  readonly id: number
  readonly name: string | null
  readonly source: string
  /** `public` or `private`. */
  readonly access_type: string
}

/** A document set as those see it who may search it. */
export interface DocumentSetSummary {
  readonly id: number
  /** For `internal_search_filters.document_set`. */
  readonly name: string
  readonly description: string | null
  readonly cc_pair_summaries: readonly PairSummary[]
  readonly is_up_to_date: boolean
  readonly is_public: boolean
  readonly users: readonly string[]
  readonly groups: readonly string[]
  readonly permissions: Readonly<Record<string, boolean>>
  readonly federated_connector_summaries: readonly unknown[]
}

/** Schema of {@link DocumentSetSummary}. */
export const documentSetSummarySchema: WireSchema<DocumentSetSummary> = model({
  id: integer,
  name: v.string(),
  description: orNull(v.string()),
  cc_pair_summaries: v.array(
    model({ id: integer, name: orNull(v.string()), source: v.string(), access_type: v.string() }),
  ),
  is_up_to_date: v.boolean(),
  is_public: v.boolean(),
  users: v.array(v.string()),
  groups: v.array(v.string()),
  permissions: v.record(v.string(), v.boolean()),
  federated_connector_summaries: v.array(v.unknown()),
})

/** Answer of `GET /manage/indexed-sources`. */
export interface IndexedSources {
  /** Sorted. */
  readonly sources: readonly string[]
}

/** Schema of {@link IndexedSources}. */
export const indexedSourcesSchema: WireSchema<IndexedSources> = model({ sources: v.array(v.string()) })
