import {
  type BatchLine,
  type DocMinimalInfo,
  type DocumentChunksView,
  documentChunksSchema,
  type DocumentChange,
  documentListingSchema,
  type DocumentOrder,
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

export interface IngestOptions extends CallOptions {
  /** Connector/credential pair. Default: the public default pair. */
  readonly ccPairId?: number
  /** Maximum seconds to wait until the document is searchable or failed. Default 0. */
  readonly waitSeconds?: number
}

export interface IngestFileOptions extends CallOptions {
  /** Id of the document. Default: the path of the file, if it has one, else derived from its name. */
  readonly id?: string
  /** Default: the title in the file, otherwise its name. */
  readonly title?: string
  /** URL of the document for readers. */
  readonly link?: string
  /** Time of the last change, used if the file contains no date. Default: that of a `File`. */
  readonly updatedAt?: Date
  /** Connector/credential pair. Default: the public default pair. */
  readonly ccPairId?: number
}

export interface DocumentsQuery extends CallOptions {
  readonly state?: DocumentStateName
  readonly ccPairId?: number
  readonly source?: SourceValue
  /** Only the document with this id; an empty page if it does not exist. */
  readonly documentId?: string
  /** 1 to 1000; default 100. */
  readonly limit?: number
  /** `next` of the previous page. */
  readonly after?: string
  /** By id, time of acceptance, start of the title (ignoring case) or size. Default `id`. */
  readonly order?: DocumentOrder
  /** Part of the title or the id, ignoring case. */
  readonly match?: string
  /** Only documents in the document set with this id. */
  readonly documentSet?: number
  /** Only searchable documents with this metadata entry: `key=value`, with `%` and `=` in the key percent-encoded. */
  readonly tag?: string
  /** Whether entries include `details`: size, times, reason of a failure, tags. */
  readonly details?: boolean
}

export interface DocumentChunksOptions extends CallOptions {
  /** Index of the first chunk; default 0. */
  readonly first?: number
  /** 1 to 64; default 32. */
  readonly limit?: number
}

export interface DocumentsPage {
  readonly documents: readonly DocMinimalInfo[]
  /** Cursor of the next page; null on the last page. */
  readonly next: string | null
}

export interface DocumentsClient {
  /** Adds or updates a document; it becomes searchable shortly afterwards. */
  ingest(document: IngestionDocumentInput, options?: IngestOptions): Promise<IngestionResponse>
  /**
   * Adds or updates a document from a file: PDF, Office, HTML, mail, CSV, Markdown or text. @throws INVALID_INPUT
   * (file)
   */
  ingestFile(file: FileToUpload, options?: IngestFileOptions): Promise<IngestionResponse>
  /** Returns failed documents to the queue, one or all that the caller may see. @returns their number */
  requeue(documentId?: string, options?: CallOptions): Promise<number>
  /**
   * Adds or updates many documents. One result per document, in order, numbered from 1. A failing document does not
   * affect others.
   */
  ingestBatch(
    documents: Iterable<IngestionDocumentInput> | AsyncIterable<IngestionDocumentInput>,
    options?: BatchOptions,
  ): AsyncIterable<BatchLine>
  /** Indexing state of a document. @throws DOCUMENT_NOT_FOUND */
  documentState(documentId: string, options?: CallOptions): Promise<IngestionState>
  /**
   * Sets metadata entries of a document, and removes those that are null; it is indexed again.
   * @throws DOCUMENT_NOT_FOUND, CONFLICT
   */
  changeMetadata(
    documentId: string,
    metadata: NonNullable<DocumentChange['metadata']>,
    options?: CallOptions,
  ): Promise<void>
  /**
   * Sets all connector/credential pairs of a document, at least one. Who sees none of them no longer finds it at once;
   * who sees an added one finds it once it is indexed again.
   * @throws DOCUMENT_NOT_FOUND, CONNECTOR_NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT
   */
  changePairs(documentId: string, ccPairIds: readonly number[], options?: CallOptions): Promise<void>
  /** Deletes a document; it can no longer be found from this moment on. @throws DOCUMENT_NOT_FOUND */
  deleteDocument(documentId: string, options?: CallOptions): Promise<void>
  documents(query?: DocumentsQuery): Promise<DocumentsPage>
  /** Consecutive chunks of a document, as Markdown. @throws DOCUMENT_NOT_FOUND */
  documentChunks(documentId: string, options?: DocumentChunksOptions): Promise<DocumentChunksView>
  /** Number of documents by state, and length of the queue. Requires the scope `admin`. */
  figures(options?: CallOptions): Promise<IngestionFigures>
}

const documentPath = (documentId: string): string => `/service-api/ingestion/${encodeURIComponent(documentId)}`
/** Cursor of the next page in the `link` header: the value of `after`. */
function nextOf(response: Response): string | null {
  const next = /<([^<>]*)>\s*;\s*rel="?next"?/.exec(response.headers.get('link') ?? '')?.[1]
  return next === undefined ? null : new URLSearchParams(next.slice(next.indexOf('?') + 1)).get('after')
}

function fileForm(file: FileToUpload, fields: Readonly<Record<string, string | number | undefined>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, String(value))
  // Files of a chosen folder are told apart by their paths.
  const path = ('webkitRelativePath' in file && file.webkitRelativePath) || file.name
  form.append('file', 'content' in file ? file.content : file, path)
  return form
}

async function listDocuments(transport: Transport, { signal, ...query }: DocumentsQuery = {}): Promise<DocumentsPage> {
  const { ccPairId, documentId, documentSet, ...named } = query
  const renamed = { cc_pair_id: ccPairId, document_id: documentId, document_set: documentSet }
  const address = `/service-api/ingestion${queryOf({ ...named, ...renamed })}`
  const response = await transport.send(address, { signal })
  return { documents: await bodyOf(documentListingSchema, response), next: nextOf(response) }
}

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
    ingestFile: (file, { signal, ccPairId, updatedAt, ...named } = {}) =>
      read(
        ingestionResponseSchema,
        transport.send('/service-api/ingestion/file', {
          method: 'POST',
          body: fileForm(file, {
            ...named,
            updated_at: (updatedAt ?? lastModifiedOf(file))?.toISOString(),
            cc_pair_id: ccPairId,
          }),
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
    changeMetadata: (documentId, metadata, { signal } = {}) =>
      submit(transport, documentPath(documentId), { method: 'PATCH', json: { metadata }, signal }),
    changePairs: (documentId, ccPairIds, { signal } = {}) =>
      submit(transport, documentPath(documentId), { method: 'PATCH', json: { cc_pair_ids: ccPairIds }, signal }),
    deleteDocument: (documentId, { signal } = {}) =>
      submit(transport, documentPath(documentId), { method: 'DELETE', signal }),
    documents: (query) => listDocuments(transport, query),
    documentChunks: (documentId, { first, limit, signal } = {}) =>
      read(
        documentChunksSchema,
        transport.send(`/document/chunks${queryOf({ document_id: documentId, first, limit })}`, { signal }),
      ),
    figures: ({ signal } = {}) =>
      read(ingestionFiguresSchema, transport.send('/service-api/ingestion-figures', { signal })),
  }
}

const lastModifiedOf = (file: FileToUpload): Date | undefined =>
  'lastModified' in file ? new Date(file.lastModified) : undefined
