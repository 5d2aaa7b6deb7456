import {
  type BatchLine,
  type DocMinimalInfo,
  documentListingSchema,
  type DocumentStateName,
  type IngestionDocumentInput,
  type IngestionFigures,
  ingestionFiguresSchema,
  type IngestionResponse,
  ingestionResponseSchema,
  type IngestionState,
  ingestionStateSchema,
  requeuedSchema,
  type SourceValue,
} from '@inlay/protocol'
import { type BatchOptions, sendBatch } from './batch.ts'
import { bodyOf, type CallOptions, queryOf, read, submit } from './call.ts'
import type { FileToUpload } from './files.ts'
import type { Transport } from './transport.ts'

/** Options for ingesting a document. */
export interface IngestOptions extends CallOptions {
  /** Connector/credential pair; default the public one. */
  readonly ccPairId?: number
  /** Seconds to wait until the document is searchable or failed; default 0. */
  readonly waitSeconds?: number
}

/** Options for ingesting a file as a document. */
export interface IngestFileOptions extends CallOptions {
  /** Id of the document. Default: made from the name of the file. */
  readonly id?: string
  /** Default: what the file calls itself, else its name. */
  readonly title?: string
  /** URL of the document for readers. */
  readonly link?: string
  /** Connector/credential pair; default the public one. */
  readonly ccPairId?: number
}

/** Filters for a listing of documents. */
export interface DocumentsQuery extends CallOptions {
  readonly state?: DocumentStateName
  readonly ccPairId?: number
  readonly source?: SourceValue
  /** The one document with this id; an empty page when there is none. */
  readonly documentId?: string
  /** 1 to 1000; default 100. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly after?: string
  /** By id, or the last accepted first. Default `id`. */
  readonly order?: 'id' | 'newest'
  /** Part of the title or the id, in any case. */
  readonly match?: string
}

/** A page of documents. */
export interface DocumentsPage {
  readonly documents: readonly DocMinimalInfo[]
  /** Cursor of the next page; null on the last page. */
  readonly next: string | null
}

/** The part of a client for documents. */
export interface DocumentsClient {
  /** Adds or updates a document; it becomes searchable a moment later. */
  ingest(document: IngestionDocumentInput, options?: IngestOptions): Promise<IngestionResponse>
  /** Adds or updates a document from a file: PDF, Office, HTML, mail, CSV, Markdown or text. INVALID_INPUT (file) */
  ingestFile(file: FileToUpload, options?: IngestFileOptions): Promise<IngestionResponse>
  /** Puts failed documents back into the queue, one or all that the caller may see; answers how many. */
  requeue(documentId?: string, options?: CallOptions): Promise<number>
  /** Adds or updates many; one answer each, in their order, numbered from 1. A faulty one holds up no other. */
  ingestBatch(
    documents: Iterable<IngestionDocumentInput> | AsyncIterable<IngestionDocumentInput>,
    options?: BatchOptions,
  ): AsyncIterable<BatchLine>
  /** Indexing state of a document. DOCUMENT_NOT_FOUND */
  documentState(documentId: string, options?: CallOptions): Promise<IngestionState>
  /** Takes a document out at once. DOCUMENT_NOT_FOUND */
  deleteDocument(documentId: string, options?: CallOptions): Promise<void>
  /** Lists documents page by page, in the order of the service. */
  documents(query?: DocumentsQuery): Promise<DocumentsPage>
  /** How many documents are in which state, and how long the queue is; needs the scope `admin`. */
  figures(options?: CallOptions): Promise<IngestionFigures>
}

const documentPath = (documentId: string): string => `/service-api/ingestion/${encodeURIComponent(documentId)}`
/** Address of the next page, as the `link` header tells it: only what stands behind `after` counts. */
function nextOf(response: Response): string | null {
  const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(response.headers.get('link') ?? '')?.[1]
  return next === undefined ? null : new URLSearchParams(next.slice(next.indexOf('?') + 1)).get('after')
}

function fileForm(file: FileToUpload, fields: Readonly<Record<string, string | number | undefined>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, String(value))
  form.append('file', 'content' in file ? file.content : file, file.name)
  return form
}

async function listDocuments(transport: Transport, { signal, ...query }: DocumentsQuery = {}): Promise<DocumentsPage> {
  const { ccPairId, documentId, ...named } = query
  const address = `/service-api/ingestion${queryOf({ ...named, cc_pair_id: ccPairId, document_id: documentId })}`
  const response = await transport.send(address, { signal })
  return { documents: await bodyOf(documentListingSchema, response), next: nextOf(response) }
}

/** Makes the part of a client for documents. */
export function createDocumentsClient(transport: Transport): DocumentsClient {
  return {
    ingest: (document, { ccPairId, waitSeconds = 0, signal } = {}) =>
      read(
        ingestionResponseSchema,
        transport.send('/service-api/ingestion', {
          method: 'POST',
          headers: { ...(waitSeconds > 0 && { prefer: `wait=${waitSeconds}` }) },
          json: { document, cc_pair_id: ccPairId ?? null },
          signal,
        }),
      ),
    ingestFile: (file, { signal, ccPairId, ...named } = {}) =>
      read(
        ingestionResponseSchema,
        transport.send('/service-api/ingestion/file', {
          method: 'POST',
          body: fileForm(file, { ...named, cc_pair_id: ccPairId }),
          signal,
        }),
      ),
    requeue: async (documentId, { signal } = {}) => {
      const path = documentId === undefined ? '/service-api/ingestion' : documentPath(documentId)
      return (await read(requeuedSchema, transport.send(`${path}/requeue`, { method: 'POST', signal }))).requeued
    },
    ingestBatch: (documents, batch = {}) => sendBatch(transport, documents, batch),
    documentState: (documentId, { signal } = {}) =>
      read(ingestionStateSchema, transport.send(documentPath(documentId), { signal })),
    deleteDocument: (documentId, { signal } = {}) =>
      submit(transport, documentPath(documentId), { method: 'DELETE', signal }),
    documents: (query) => listDocuments(transport, query),
    figures: ({ signal } = {}) =>
      read(ingestionFiguresSchema, transport.send('/service-api/ingestion-figures', { signal })),
  }
}
