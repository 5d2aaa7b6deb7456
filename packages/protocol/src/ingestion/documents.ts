import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { tagSchema } from '../chat/filters.ts'
import {
  boolean,
  closedModel,
  exactText,
  fault,
  integer,
  model,
  orNull,
  rule,
  type Wire,
  type WireSchema,
} from '../fields.ts'
import { queryBoolean, queryInteger } from '../query.ts'
import { sourceSchema } from '../sources.ts'
import { metadataChangeSchema } from './ingestion-document.ts'

export const ingestionResponseSchema = model('IngestionResponse', {
  /** Id of the document, given or generated. */
  document_id: v.string(),
  /** True when the id already existed and was not deleted. */
  already_existed: boolean,
})

/** Answer for an accepted document. */
export type IngestionResponse = Wire<typeof ingestionResponseSchema>

/** States of a document: accepted, being indexed, searchable, failed with a reason. */
export const documentStates = ['pending', 'indexing', 'indexed', 'failed'] as const

export type DocumentStateName = (typeof documentStates)[number]

/** Orders of a listing of documents. */
export const documentOrders = [
  'id',
  'id_desc',
  'newest',
  'oldest',
  'title',
  'title_desc',
  'largest',
  'smallest',
] as const

export type DocumentOrder = (typeof documentOrders)[number]

export const ingestionStateSchema = model('IngestionState', {
  /** Id of the document. */
  document_id: v.string(),
  /** Indexing state. */
  state: v.picklist(documentStates),
  /** Error of the last attempt. */
  reason: orNull(v.string()),
  /** Number of indexing attempts. */
  attempts: integer,
  /** Time of the next attempt; null when none is scheduled. */
  next_try_at: orNull(answeredTime),
  /** Time when the current content was accepted. */
  accepted_at: answeredTime,
  /** Time when the current content became searchable. */
  indexed_at: orNull(answeredTime),
  /** Number of chunks. */
  chunk_count: orNull(integer),
  /** Connector/credential pairs the document belongs to. */
  cc_pair_ids: v.array(integer),
  /** Only if parts of the file of a searchable document could not be read: which, in plain English. */
  unread: v.optional(v.string()),
})

/** Answer of `GET /service-api/ingestion/{document_id}`. Times are ISO 8601 with `Z`. */
export type IngestionState = Wire<typeof ingestionStateSchema>

const documentDetailsSchema = model('DocumentDetails', {
  /** Kind of source. */
  source: v.string(),
  /** Size of the content as stored, in bytes. */
  bytes: integer,
  /** Number of chunks; null until the document is searchable. */
  chunk_count: orNull(integer),
  /** Time when the current content was accepted. */
  accepted_at: answeredTime,
  /** Time when the current content became searchable. */
  indexed_at: orNull(answeredTime),
  /** Error of the last attempt. */
  reason: orNull(v.string()),
  /** Connector/credential pairs the document belongs to. */
  cc_pair_ids: v.array(integer),
  /** Metadata of a searchable document: at most 200 entries. */
  tags: v.array(tagSchema),
})

/** A document in a listing with `details=true`. */
export type DocumentDetails = Wire<typeof documentDetailsSchema>

export const docMinimalInfoSchema = model('DocMinimalInfo', {
  /** Id of the document. */
  document_id: v.string(),
  /** Its display title. */
  semantic_id: v.string(),
  /** First link of the document; "" if there is none. */
  link: orNull(v.string()),
  /** Indexing state. */
  state: v.picklist(documentStates),
  /** Only in listings with `details=true`. */
  details: v.optional(documentDetailsSchema),
})

/** A document in a listing. */
export type DocMinimalInfo = Wire<typeof docMinimalInfoSchema>

/** Schema of the answer of `GET /service-api/ingestion`: a page of documents. */
export const documentListingSchema: WireSchema<readonly DocMinimalInfo[]> = v.array(docMinimalInfoSchema)

/** Schema of the query of `GET /service-api/ingestion`. */
export const documentListingQuerySchema = model('DocumentListingQuery', {
  /** Only documents in this state. */
  state: v.optional(v.picklist(documentStates)),
  /** Only documents of this connector/credential pair. */
  cc_pair_id: v.optional(queryInteger({})),
  /** Only documents from this kind of source. */
  source: v.optional(sourceSchema),
  /** Only the document with this id. */
  document_id: v.optional(exactText),
  /** 1 to 1000. */
  limit: v.optional(queryInteger({ least: 1, most: 1000 }), '100'),
  /** Cursor from the `link` header of the previous page. */
  after: v.optional(exactText),
  /**
   * Sort order: by id, by time of acceptance (`newest`, `oldest`), by the start of the title, ignoring case, or by
   * `details.bytes` (`largest`, `smallest`). Default `id`.
   */
  order: v.optional(v.picklist(documentOrders)),
  /** Case-insensitive part of the title or id. */
  match: v.optional(exactText),
  /** Only documents in the document set with this id. */
  document_set: v.optional(queryInteger({ least: 1 })),
  /** Only searchable documents with this metadata entry: `key=value`, with `%` and `=` in the key percent-encoded. */
  tag: v.optional(exactText),
  /** True: entries include `details`. */
  details: v.optional(queryBoolean),
})

const documentChangeFields = closedModel('DocumentChange', {
  /** Metadata entries to set, a text or a list of texts each; null removes an entry. Others stay as they are. */
  metadata: v.optional(metadataChangeSchema),
  /**
   * All connector/credential pairs that the document belongs to from now on, 1 to 1000. Who sees none of them no longer
   * finds it with the next search; who sees an added one finds it once it is indexed again.
   */
  cc_pair_ids: v.optional(
    v.pipe(
      v.array(v.pipe(integer, v.minValue(1))),
      v.minLength(1, fault('too_short', 'must name a pair: DELETE removes the document')),
      v.maxLength(1000),
    ),
  ),
})

/** Body of `PATCH /service-api/ingestion/{document_id}`: `metadata`, `cc_pair_ids`, or both. */
export type DocumentChange = Wire<typeof documentChangeFields>

export const documentChangeSchema: WireSchema<DocumentChange> = v.pipe(
  documentChangeFields,
  rule('value_error', 'must hold "metadata" or "cc_pair_ids"', (change) => Object.keys(change).length > 0),
)

/** Form of `POST /service-api/ingestion/file`. Documentation only: the body is read as a stream. */
export const ingestionFormSchema = model('IngestionForm', {
  /** The file. */
  file: v.pipe(v.string(), v.metadata({ format: 'binary' })),
  /** Id of the document; default: derived from the file name. */
  id: v.optional(v.string()),
  /** Display title; default: the title in the file, otherwise its name. */
  title: v.optional(v.string()),
  /** URL of the document for readers. */
  link: v.optional(v.string()),
  /** When the file was last changed, in ISO 8601; used when the file itself has no date. */
  updated_at: v.optional(v.pipe(v.string(), v.metadata({ format: 'date-time' }))),
  /** Connector/credential pair that the document belongs to; default 1. */
  cc_pair_id: v.optional(v.pipe(v.string(), v.metadata({ type: 'integer' }))),
})

/** Schema of the query of `GET /service-api/connector-docs/{cc_pair_id}`. */
export const pairDocumentsQuerySchema = model('PairDocumentsQuery', {
  /** Only documents in this state. */
  state: v.optional(v.picklist(documentStates)),
  /** 1 to 1000; absent: all documents at once. */
  limit: v.optional(queryInteger({ least: 1, most: 1000 })),
  /** Cursor from the `link` header of the previous page. */
  after: v.optional(exactText),
})

/** Schema of the query of `POST /service-api/ingestion/requeue`. */
export const requeueDocumentsQuerySchema = model('RequeueDocumentsQuery', {
  /** Only documents of this connector/credential pair. */
  cc_pair_id: v.optional(queryInteger({})),
  /** Only documents from this kind of source. */
  source: v.optional(sourceSchema),
})

export const batchLineSchema = model('BatchLine', {
  /** Line number in the request, from 1. */
  line: integer,
  /** HTTP status that a single request would have had. */
  status: integer,
  /** Id of the accepted document. */
  document_id: v.optional(v.string()),
  /** True when the id already existed and was not deleted. */
  already_existed: v.optional(boolean),
  /** Error code. */
  error_code: v.optional(v.string()),
  /** Error message, or the list of issues of a 422. */
  detail: v.optional(v.unknown()),
})

/** One line of the answer of `POST /service-api/ingestion/batch`: the line it belongs to, its status and its body. */
export type BatchLine = Wire<typeof batchLineSchema>
