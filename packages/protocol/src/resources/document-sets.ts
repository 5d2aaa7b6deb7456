import * as v from 'valibot'
import {
  always,
  boolean,
  closedModel,
  integer,
  model,
  orNull,
  spelledModel,
  text,
  type Wire,
  type WireSchema,
} from '../fields.ts'
import { queryBoolean } from '../query.ts'
import { groupNames, nameList, recordName } from './pairs.ts'

const pairSummarySchema = model('PairSummary', {
  /** Number of the pair. */
  id: integer,
  /** Name of the pair. */
  name: orNull(v.string()),
  /** Source of the documents. */
  source: v.string(),
  /** `public` or `private`. */
  access_type: v.string(),
})

/** A connector/credential pair inside a document set. */
export type PairSummary = Wire<typeof pairSummarySchema>

export const documentSetSummarySchema = model('DocumentSetSummary', {
  /** Number of the set. */
  id: integer,
  /** Name, used in `internal_search_filters.document_set`. */
  name: v.string(),
  /** Purpose of the set. */
  description: orNull(v.string()),
  /** Pairs whose documents are in the set. */
  cc_pair_summaries: v.array(pairSummarySchema),
  /** Always true: changes take effect immediately. */
  is_up_to_date: always(true, boolean),
  /** Whether everybody can search it. */
  is_public: boolean,
  /** People who can search the set while it is private. */
  users: v.array(v.string()),
  /** Groups that can search the set while it is private. */
  groups: v.array(v.string()),
  /** Permissions of the caller, by action. */
  permissions: v.record(v.string(), boolean),
  federated_connector_summaries: always([], v.array(v.unknown())),
})

/** A document set as seen by people who can search it. */
export type DocumentSetSummary = Wire<typeof documentSetSummarySchema>

const pairIds: WireSchema<number[], number[]> = v.pipe(v.array(integer), v.maxLength(1000))

export const documentSetCreationSchema = spelledModel('DocumentSetCreation', {
  /** Unique name. */
  name: recordName,
  /** Purpose of the set. */
  description: v.nullish(text, ''),
  /** Pairs whose documents are in the set. */
  cc_pair_ids: v.nullish(pairIds, () => []),
  /** Whether everybody can search it. */
  is_public: v.nullish(boolean, true),
  /** Ids or e-mail addresses of people with access while it is private. */
  users: v.nullish(nameList, () => []),
  /** Names of groups with access while it is private. */
  groups: v.nullish(groupNames, () => []),
  /** Must be empty: federated connectors are not supported. */
  federated_connectors: v.nullish(v.array(v.unknown()), () => []),
})

/** Body of `POST /manage/admin/document-set`. */
export type DocumentSetCreation = Wire<typeof documentSetCreationSchema>

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
export const documentSetQuerySchema = model('DocumentSetQuery', {
  /** Whether to list only sets the caller can edit. */
  get_editable: v.optional(queryBoolean, 'false'),
})

export const indexedSourcesSchema = model('IndexedSources', {
  /** Sorted. */
  sources: v.array(v.string()),
})

/** Answer of `GET /manage/indexed-sources`. */
export type IndexedSources = Wire<typeof indexedSourcesSchema>
