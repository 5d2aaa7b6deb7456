import type { EmbedderFigures, KnowledgeFigures } from '@inlay/knowledge'
import {
  exactText,
  ingestionFiguresSchema,
  InlayError,
  requeueDocumentsQuerySchema,
  requeuedSchema,
  reindexRequestSchema,
  reindexedSchema,
  type EmbedderState,
  type IngestionFigures,
} from '@inlay/protocol'
import * as v from 'valibot'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Ingestion', { scope: 'ingest', owner: 'pair' })

export const ingestionQueueRoutes: readonly Route[] = [
  route('POST /service-api/ingestion/requeue', 'requeueDocuments', 'Retry failed documents', {
    aliases: ['/onyx-api/ingestion/requeue'],
    description: 'Retries all failed documents that the caller can see, or those of a pair or source.',
    input: { query: requeueDocumentsQuerySchema },
    answer: { description: 'Number of documents back in the queue.', schema: requeuedSchema },
    async handle({ query, caller, parts }) {
      const wanted = { pairId: query.cc_pair_id, source: query.source }
      return { requeued: await parts.knowledge.requeue(wanted, { caller }) }
    },
  }),
  route('POST /service-api/ingestion/{document_id}/requeue', 'requeueDocument', 'Retry a failed document', {
    aliases: ['/onyx-api/ingestion/{document_id}/requeue'],
    description: 'Does nothing to a document that has not failed.',
    input: { path: v.object({ document_id: exactText }) },
    answer: { description: '1 if the document is back in the queue.', schema: requeuedSchema },
    errors: ['DOCUMENT_NOT_FOUND'],
    async handle({ path, caller, parts }) {
      const { document_id: documentId } = path
      if ((await parts.knowledge.status(documentId, { caller })) === undefined)
        throw new InlayError('DOCUMENT_NOT_FOUND')
      return { requeued: await parts.knowledge.requeue({ documentId }, { caller }) }
    },
  }),
  route('POST /service-api/ingestion-reindex', 'reindex', 'Reindex all documents', {
    aliases: ['/onyx-api/ingestion-reindex'],
    scope: 'admin',
    owner: 'any',
    description:
      'Rebuilds the index from the records while search continues. With `change_embedder`, the ' +
      'documents are embedded again with the embedding model of the process that handles the request ' +
      '(or none); does nothing if they already are. Any process with that model continues the work.',
    input: { body: reindexRequestSchema },
    answer: { description: 'Number of documents to reindex.', schema: reindexedSchema },
    errors: ['CONFLICT', 'UNSUPPORTED'],
    async handle({ body, parts }) {
      const { documents } = await parts.knowledge.reindex({ embedder: body.change_embedder === true })
      return { documents, embedder: toEmbedder(await parts.knowledge.embedder()) }
    },
  }),
  route('GET /service-api/ingestion-figures', 'ingestionFigures', 'Get ingestion statistics', {
    aliases: ['/onyx-api/ingestion-figures'],
    scope: 'admin',
    owner: 'any',
    description: 'Length and age of the queue, failures, and index statistics; for alerts and dashboards.',
    answer: { description: 'Current statistics.', schema: ingestionFiguresSchema },
    handle: async ({ parts }) => toFigures(await parts.knowledge.figures()),
  }),
]

function toEmbedder({ recorded, configured, isUsed, indexes }: EmbedderFigures): EmbedderState {
  return { recorded, configured, is_used: isUsed, indexes }
}

function toFigures({ documents, oldestWaitingMs, index, embedder, rebuild }: KnowledgeFigures): IngestionFigures {
  return {
    documents,
    queue_depth: documents.pending + documents.indexing,
    oldest_waiting_seconds: oldestWaitingMs / 1000,
    index: { rows: index.rows, unindexed_rows: index.unindexedRows, bytes: index.bytes ?? null },
    embedder: toEmbedder(embedder),
    rebuild: rebuild ?? null,
  }
}
