import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { boolean, exactText, integer, model, orNull, type WireSchema } from '../fields.ts'
import { queryInteger } from '../query.ts'
import { sourceSchema, type SourceValue } from '../sources.ts'

/** Answer to an accepted document. */
export interface IngestionResponse {
  /** Id of the document, given or made. */
  readonly document_id: string
  /** True when the id was accepted before and not deleted since. */
  readonly already_existed: boolean
}

export const ingestionResponseSchema: WireSchema<IngestionResponse> = model('IngestionResponse', {
  document_id: v.string(),
  already_existed: boolean,
})

/** The states of a document: accepted, being worked on, searchable, given up with a reason. */
export const documentStates = ['pending', 'indexing', 'indexed', 'failed'] as const

/** One of {@link documentStates}. */
export type DocumentStateName = (typeof documentStates)[number]

/** Answer of `GET /service-api/ingestion/{document_id}`; times are ISO 8601 with `Z`. */
export interface IngestionState {
  /** Id of the document. */
  readonly document_id: string
  /** How far its indexing is. */
  readonly state: DocumentStateName
  /** Why the last attempt failed. */
  readonly reason: string | null
  /** How often indexing was tried. */
  readonly attempts: number
  /** When it is tried again; null when it is not. */
  readonly next_try_at: string | null
  /** When its present content was accepted. */
  readonly accepted_at: string
  /** When its present content became searchable. */
  readonly indexed_at: string | null
  /** Into how many chunks it was split. */
  readonly chunk_count: number | null
  /** Connector/credential pairs it belongs to. */
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
  /** First link of the document; "" when it has none. */
  readonly link: string | null
  /** How far its indexing is. */
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

/** What narrows a listing of documents. */
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
  /** Where the page before ended, taken from its `link` header. */
  readonly after?: string
  /** By id, or the last accepted first. Default `id`. */
  readonly order?: 'id' | 'newest'
  /** Part of the title or the id, in any case. */
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

/** Form of `POST /service-api/ingestion/file`, for the documentation: it is read as a stream. */
export interface IngestionForm {
  /** The file. */
  readonly file: string
  /** Id of the document; default: made from the name of the file. */
  readonly id?: string
  /** Title for people; default: what the file calls itself, else its name. */
  readonly title?: string
  /** Where people open the document. */
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

/** What narrows the documents of a pair. */
export interface PairDocumentsQuery {
  /** Only documents in this state. */
  readonly state?: DocumentStateName
  /** 1 to 1000; absent: all documents at once. */
  readonly limit?: number
  /** Where the page before ended, taken from its `link` header. */
  readonly after?: string
}

/** Schema of the query of `GET /service-api/connector-docs/{cc_pair_id}`. */
export const pairDocumentsQuerySchema: WireSchema<PairDocumentsQuery> = model('PairDocumentsQuery', {
  state: v.optional(v.picklist(documentStates)),
  limit: v.optional(queryInteger({ least: 1, most: 1000 })),
  after: v.optional(exactText),
})

/** What narrows the failed documents that are tried again. */
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

/** One line of the answer of `POST /service-api/ingestion/batch`: where it came from, its status, its own body. */
export interface BatchLine {
  /** Number of the request's line, from 1. */
  readonly line: number
  /** Status the single call would have had. */
  readonly status: number
  /** Id of the document that was accepted. */
  readonly document_id?: string
  /** True when the id was accepted before and not deleted since. */
  readonly already_existed?: boolean
  /** Code of the failure. */
  readonly error_code?: string
  /** Sentence, or the list of issues of a 422. */
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
