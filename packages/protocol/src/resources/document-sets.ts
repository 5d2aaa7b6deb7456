import * as v from 'valibot'
import { boolean, closedModel, integer, model, orNull, spelledModel, text, type WireSchema } from '../fields.ts'
import { queryBoolean } from '../query.ts'
import { groupNames, nameList, recordName } from './pairs.ts'

/** A connector/credential pair inside a document set. */
export interface PairSummary {
  /** Number of the pair. */
  readonly id: number
  /** Name of the pair. */
  readonly name: string | null
  /** Source of the documents. */
  readonly source: string
  /** `public` or `private`. */
  readonly access_type: string
}

/** A document set as seen by people who can search it. */
export interface DocumentSetSummary {
  /** Number of the set. */
  readonly id: number
  /** Name, used in `internal_search_filters.document_set`. */
  readonly name: string
  /** Purpose of the set. */
  readonly description: string | null
  /** Pairs whose documents are in the set. */
  readonly cc_pair_summaries: readonly PairSummary[]
  /** Always true: changes take effect immediately. */
  readonly is_up_to_date: boolean
  /** Whether everybody can search it. */
  readonly is_public: boolean
  /** People who can search the set while it is private. */
  readonly users: readonly string[]
  /** Groups that can search the set while it is private. */
  readonly groups: readonly string[]
  /** Permissions of the caller, by action. */
  readonly permissions: Readonly<Record<string, boolean>>
  /** Always empty here. */
  readonly federated_connector_summaries: readonly unknown[]
}

export const documentSetSummarySchema: WireSchema<DocumentSetSummary> = model('DocumentSetSummary', {
  id: integer,
  name: v.string(),
  description: orNull(v.string()),
  cc_pair_summaries: v.array(
    model('PairSummary', { id: integer, name: orNull(v.string()), source: v.string(), access_type: v.string() }),
  ),
  is_up_to_date: boolean,
  is_public: boolean,
  users: v.array(v.string()),
  groups: v.array(v.string()),
  permissions: v.record(v.string(), boolean),
  federated_connector_summaries: v.array(v.unknown()),
})

/** Schema of the answer of `POST /manage/admin/document-set`: the id, or the set if the client prefers it. */
export const documentSetCreatedSchema: WireSchema<number | DocumentSetSummary> = v.union([
  integer,
  documentSetSummarySchema,
])

/** Body of `POST /manage/admin/document-set`. */
export interface DocumentSetCreation {
  /** Unique name. */
  readonly name: string
  /** Purpose of the set. */
  readonly description: string
  /** Pairs whose documents are in the set. */
  readonly cc_pair_ids: readonly number[]
  /** Whether everybody can search it. */
  readonly is_public: boolean
  /** Ids or e-mail addresses of people with access while it is private. */
  readonly users: readonly string[]
  /** Names of groups with access while it is private. */
  readonly groups: readonly string[]
  /** Must be empty: federated connectors are not supported. */
  readonly federated_connectors: readonly unknown[]
}

const pairIds: WireSchema<number[], number[]> = v.pipe(v.array(integer), v.maxLength(1000))

export const documentSetCreationSchema: WireSchema<DocumentSetCreation> = spelledModel('DocumentSetCreation', {
  name: recordName,
  description: v.nullish(text, ''),
  cc_pair_ids: v.nullish(pairIds, () => []),
  is_public: v.nullish(boolean, true),
  users: v.nullish(nameList, () => []),
  groups: v.nullish(groupNames, () => []),
  federated_connectors: v.nullish(v.array(v.unknown()), () => []),
})

/** Body of `PATCH /manage/admin/document-set/{document_set_id}`. Absent and null fields stay unchanged. */
export type DocumentSetUpdate = { readonly [Name in keyof DocumentSetCreation]: DocumentSetCreation[Name] | null }

const updateFields = {
  name: orNull(recordName),
  description: orNull(text),
  cc_pair_ids: orNull(pairIds),
  is_public: orNull(boolean),
  users: orNull(nameList),
  groups: orNull(groupNames),
  federated_connectors: orNull(v.array(v.unknown())),
}

export const documentSetUpdateSchema: WireSchema<DocumentSetUpdate> = closedModel('DocumentSetUpdate', updateFields)

/** Body of `PATCH /manage/admin/document-set`, which identifies the set in the body. */
export interface NamedDocumentSetUpdate extends DocumentSetUpdate {
  /** Number of the set. */
  readonly id: number
}

export const namedDocumentSetUpdateSchema: WireSchema<NamedDocumentSetUpdate> = spelledModel('NamedDocumentSetUpdate', {
  id: integer,
  ...updateFields,
})

/** Query of `GET /manage/document-set`. */
export interface DocumentSetQuery {
  /** Whether to list only sets the caller can edit. */
  readonly get_editable: boolean
}

export const documentSetQuerySchema: WireSchema<DocumentSetQuery> = model('DocumentSetQuery', {
  get_editable: v.optional(queryBoolean, 'false'),
})

/** Answer of `GET /manage/indexed-sources`. */
export interface IndexedSources {
  /** Sorted. */
  readonly sources: readonly string[]
}

export const indexedSourcesSchema: WireSchema<IndexedSources> = model('IndexedSources', {
  sources: v.array(v.string()),
})
