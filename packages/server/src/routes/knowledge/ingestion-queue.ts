import type { KnowledgeFigures } from '@inlay/knowledge'
import {
  exactText,
  ingestionFiguresSchema,
  InlayError,
  requeueDocumentsQuerySchema,
  requeuedSchema,
  type IngestionFigures,
  type Requeued,
} from '@inlay/protocol'
import * as v from 'valibot'
import { defineRoute, type Route } from '../../http/route.ts'
import { ingestionPaths } from './ingestion.ts'

const topic = 'Ingestion'

/** The queue of documents: trying again what failed, and figures of the whole. */
export const ingestionQueueRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    ...ingestionPaths('/ingestion/requeue'),
    operationId: 'requeueDocuments',
    scope: 'ingest',
    owner: 'pair',
    topic,
    summary: 'Try failed documents again',
    description: 'All that failed and that the caller may see, or those of a pair or a source.',
    input: { query: requeueDocumentsQuerySchema },
    answer: { description: 'How many are in the queue again.', schema: requeuedSchema },
    async handle({ query, caller, parts }): Promise<Requeued> {
      const wanted = { pairId: query.cc_pair_id, source: query.source }
      return { requeued: await parts.knowledge.requeue(wanted, { caller }) }
    },
  }),
  defineRoute({
    method: 'POST',
    ...ingestionPaths('/ingestion/{document_id}/requeue'),
    operationId: 'requeueDocument',
    scope: 'ingest',
    owner: 'pair',
    topic,
    summary: 'Try a failed document again',
    description: 'A document that has not failed is left alone.',
    input: { path: v.object({ document_id: exactText }) },
    answer: { description: '1 when it is in the queue again.', schema: requeuedSchema },
    errors: ['DOCUMENT_NOT_FOUND'],
    async handle({ path, caller, parts }): Promise<Requeued> {
      const { document_id: documentId } = path
      if ((await parts.knowledge.status(documentId, { caller })) === undefined)
        throw new InlayError('DOCUMENT_NOT_FOUND')
      return { requeued: await parts.knowledge.requeue({ documentId }, { caller }) }
    },
  }),
  defineRoute({
    method: 'GET',
    ...ingestionPaths('/ingestion-figures'),
    operationId: 'ingestionFigures',
    scope: 'admin',
    owner: 'any',
    topic,
    summary: 'Figures of the ingestion',
    description: 'How long the queue is and how old, what failed, and what the index holds; for alerts and dashboards.',
    answer: { description: 'The figures, as of now.', schema: ingestionFiguresSchema },
    async handle({ parts }): Promise<IngestionFigures> {
      return toFigures(await parts.knowledge.figures())
    },
  }),
]

function toFigures({ documents, oldestWaitingMs, index }: KnowledgeFigures): IngestionFigures {
  return {
    documents,
    queue_depth: documents.pending + documents.indexing,
    oldest_waiting_seconds: oldestWaitingMs / 1000,
    index: { rows: index.rows, unindexed_rows: index.unindexedRows, bytes: index.bytes ?? null },
  }
}
