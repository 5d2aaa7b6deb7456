import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { boolean, exactText, integer, model, orNull, type WireSchema } from '../fields.ts'
import { queryInteger } from '../query.ts'
import { sourceSchema, type SourceValue } from '../sources.ts'

/** Answer for an accepted document. */
export interface IngestionResponse {
  /** Id of the document, given or generated. */
  readonly document_id: string
  /** True when the id already existed and was not deleted. */
  readonly already_existed: boolean
}

export const ingestionResponseSchema: WireSchema<IngestionResponse> = model('IngestionResponse', {
  document_id: v.string(),
  already_existed: boolean,
})

/** States of a document: accepted, being indexed, searchable, failed with a reason. */
export const documentStates = ['pending', 'indexing', 'indexed', 'failed'] as const

/** One of {@link documentStates}. */
export type DocumentStateName = (typeof documentStates)[number]

/** Answer of `GET /service-api/ingestion/{document_id}`. Times are ISO 8601 with `Z`. */
export interface IngestionState {
  /** Id of the document. */
  readonly document_id: string
  /** Indexing state. */
  readonly state: DocumentStateName
  /** Error of the last attempt. */
  readonly reason: string | null
  /** Number of indexing attempts. */
  readonly attempts: number
  /** Time of the next attempt; null when none is scheduled. */
  readonly next_try_at: string | null
  /** Time when the current content was accepted. */
  readonly accepted_at: string
  /** Time when the current content became searchable. */
  readonly indexed_at: string | null
  /** Number of chunks. */
  readonly chunk_count: number | null
  /** Connector/credential pairs the document belongs to. */
  readonly cc_pair_ids: readonly number[]
}

export const ingestionStateSchema: WireSchema<IngestionState> = model('IngestionState', {
  document_id: v.string(),
  state: v.picklist(documentStates),
  reason: orNull(v.string()),
  attempts: integer,
  next_try_at: orNull(answeredTime),
  accepted_at: answeredTime,
  indexed_at: orNull(answeredTime),
  chunk_count: orNull(integer),
  cc_pair_ids: v.array(integer),
})

/** A document in a listing. */
export interface DocMinimalInfo {
  /** Id of the document. */
  readonly document_id: string
  /** Its display title. */
  readonly semantic_id: string
  /** First link of the document; "" if there is none. */
  readonly link: string | null
  /** Indexing state. */
  readonly state: DocumentStateName
}

export const docMinimalInfoSchema: WireSchema<DocMinimalInfo> = model('DocMinimalInfo', {
  document_id: v.string(),
  semantic_id: v.string(),
  link: orNull(v.string()),
  state: v.picklist(documentStates),
})

/** Schema of the answer of `GET /service-api/ingestion`: a page of documents. */
export const documentListingSchema: WireSchema<readonly DocMinimalInfo[]> = v.array(docMinimalInfoSchema)

/** Filters for a listing of documents. */
export interface DocumentListingQuery {
  /** Only documents in this state. */
  readonly state?: DocumentStateName
  /** Only documents of this connector/credential pair. */
  readonly cc_pair_id?: number
  /** Only documents from this kind of source. */
  readonly source?: SourceValue
  /** Only the document with this id. */
  readonly document_id?: string
  /** 1 to 1000. */
  readonly limit: number
  /** Cursor from the `link` header of the previous page. */
  readonly after?: string
  /** Sort order: by id, or the most recently accepted first. Default `id`. */
  readonly order?: 'id' | 'newest'
  /** Case-insensitive part of the title or id. */
  readonly match?: string
}

/** Schema of the query of `GET /service-api/ingestion`. */
export const documentListingQuerySchema: WireSchema<DocumentListingQuery> = model('DocumentListingQuery', {
  state: v.optional(v.picklist(documentStates)),
  cc_pair_id: v.optional(queryInteger({})),
  source: v.optional(sourceSchema),
  document_id: v.optional(exactText),
  limit: v.optional(queryInteger({ least: 1, most: 1000 }), '100'),
  after: v.optional(exactText),
  order: v.optional(v.picklist(['id', 'newest'])),
  match: v.optional(exactText),
})

/** Form of `POST /service-api/ingestion/file`. Documentation only: the body is read as a stream. */
export interface IngestionForm {
  /** The file. */
  readonly file: string
  /** Id of the document; default: derived from the file name. */
  readonly id?: string
  /** Display title; default: the title in the file, otherwise its name. */
  readonly title?: string
  /** URL of the document for readers. */
  readonly link?: string
  /** Connector/credential pair that the document belongs to; default 1. */
  readonly cc_pair_id?: number
}

export const ingestionFormSchema: v.GenericSchema = model('IngestionForm', {
  file: v.pipe(v.string(), v.metadata({ format: 'binary' })),
  id: v.optional(v.string()),
  title: v.optional(v.string()),
  link: v.optional(v.string()),
  cc_pair_id: v.optional(v.pipe(v.string(), v.metadata({ type: 'integer' }))),
})

/** Filters for the documents of a pair. */
export interface PairDocumentsQuery {
  /** Only documents in this state. */
  readonly state?: DocumentStateName
  /** 1 to 1000; absent: all documents at once. */
  readonly limit?: number
  /** Cursor from the `link` header of the previous page. */
  readonly after?: string
}

/** Schema of the query of `GET /service-api/connector-docs/{cc_pair_id}`. */
export const pairDocumentsQuerySchema: WireSchema<PairDocumentsQuery> = model('PairDocumentsQuery', {
  state: v.optional(v.picklist(documentStates)),
  limit: v.optional(queryInteger({ least: 1, most: 1000 })),
  after: v.optional(exactText),
})

/** Filters for failed documents to retry. */
export interface RequeueDocumentsQuery {
  /** Only documents of this connector/credential pair. */
  readonly cc_pair_id?: number
  /** Only documents from this kind of source. */
  readonly source?: SourceValue
}

/** Schema of the query of `POST /service-api/ingestion/requeue`. */
export const requeueDocumentsQuerySchema: WireSchema<RequeueDocumentsQuery> = model('RequeueDocumentsQuery', {
  cc_pair_id: v.optional(queryInteger({})),
  source: v.optional(sourceSchema),
})

/** One line of the answer of `POST /service-api/ingestion/batch`: the line it belongs to, its status and its body. */
export interface BatchLine {
  /** Line number in the request, from 1. */
  readonly line: number
  /** HTTP status that a single request would have had. */
  readonly status: number
  /** Id of the accepted document. */
  readonly document_id?: string
  /** True when the id already existed and was not deleted. */
  readonly already_existed?: boolean
  /** Error code. */
  readonly error_code?: string
  /** Error message, or the list of issues of a 422. */
  readonly detail?: unknown
}

export const batchLineSchema: WireSchema<BatchLine> = model('BatchLine', {
  line: integer,
  status: integer,
  document_id: v.optional(v.string()),
  already_existed: v.optional(boolean),
  error_code: v.optional(v.string()),
  detail: v.optional(v.unknown()),
})
