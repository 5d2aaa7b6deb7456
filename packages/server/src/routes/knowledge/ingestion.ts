import type { DocumentStatus } from '@inlay/knowledge'
import {
  docMinimalInfoSchema,
  documentListingQuerySchema,
  exactText,
  InlayError,
  ingestionRequestSchema,
  ingestionResponseSchema,
  ingestionStateSchema,
  type IngestionResponse,
  type IngestionState,
} from '@inlay/protocol'
import * as v from 'valibot'
import { toDate } from '../../http/dates.ts'
import { jsonReply, type Reply } from '../../http/replies.ts'
import { routesOf, type Route } from '../../http/route.ts'
import { nextPageHeaders, toMinimalInfo } from './document-listing.ts'

const route = routesOf('Ingestion', { scope: 'ingest', owner: 'pair' })
const documentPath = v.object({ document_id: exactText })

/** Ingesting documents, reading their state, deleting them. */
export const ingestionRoutes: readonly Route[] = [
  route('POST /service-api/ingestion', 'ingestDocument', 'Add or update a document', {
    aliases: ['/onyx-api/ingestion'],
    description:
      'The answer means that the document is stored durably; it becomes searchable, or visibly `failed`, a moment later. ' +
      'A document whose id is known is updated.',
    input: {
      body: { kind: 'json', schema: ingestionRequestSchema, limit: 'ingestionBytes' },
      headers: { prefer: '`wait=N` answers once the document is searchable or failed, after N seconds at the latest.' },
    },
    answer: {
      description: 'Accepted.',
      schema: ingestionResponseSchema,
      headers: { 'preference-applied': 'The wait that was granted.' },
    },
    errors: ['CONNECTOR_NOT_FOUND', 'RATE_LIMITED'],
    async handle({ body, caller, request, parts, settings }): Promise<Reply> {
      const preferred = waitOf(request)
      const waitMs = preferred ?? settings.ingestionWaitMs
      const leave = waitMs > 0 ? settings.waitingCalls.enter(caller.id) : undefined
      // A wait that only the default asked for is skipped instead of refused.
      if (leave === undefined && (preferred ?? 0) > 0) throw tooManyWait()
      const accepted = await parts.knowledge
        .accept(body, { caller, ...(leave === undefined ? {} : { waitMs, signal: request.signal }) })
        .finally(leave)
      const answer: IngestionResponse = {
        document_id: accepted.documentId,
        already_existed: accepted.alreadyExisted,
      }
      return jsonReply(answer, {
        headers: preferred === undefined ? {} : { 'preference-applied': `wait=${preferred / 1000}` },
      })
    },
  }),
  route('GET /service-api/ingestion', 'listDocuments', 'List documents', {
    aliases: ['/onyx-api/ingestion'],
    input: { query: documentListingQuerySchema },
    answer: {
      description: 'A page of documents.',
      schema: v.array(docMinimalInfoSchema),
      headers: { link: '`rel="next"`: the next page, relative to this address.' },
    },
    errors: ['INVALID_INPUT'],
    async handle({ query, caller, url, parts }): Promise<Reply> {
      const { documents, next } = await parts.knowledge.list(
        {
          phase: query.state,
          pairId: query.cc_pair_id,
          source: query.source,
          documentId: query.document_id,
          limit: query.limit,
          after: query.after,
          order: query.order,
          match: query.match,
        },
        { caller },
      )
      return jsonReply(documents.map(toMinimalInfo), {
        headers: nextPageHeaders(url, next),
      })
    },
  }),
  route('GET /service-api/ingestion/{document_id}', 'getDocumentState', 'Where a document stands', {
    aliases: ['/onyx-api/ingestion/{document_id}'],
    input: { path: documentPath },
    answer: { description: 'Its state.', schema: ingestionStateSchema },
    errors: ['DOCUMENT_NOT_FOUND'],
    async handle({ path, caller, parts }): Promise<IngestionState> {
      const status = await parts.knowledge.status(path.document_id, { caller })
      if (status === undefined) throw new InlayError('DOCUMENT_NOT_FOUND')
      return toState(status)
    },
  }),
  route('DELETE /service-api/ingestion/{document_id}', 'deleteDocument', 'Delete a document', {
    aliases: ['/onyx-api/ingestion/{document_id}'],
    description: 'The document can no longer be found from this moment on, even if it was being indexed.',
    input: { path: documentPath },
    answer: { description: 'Deleted.', schema: v.null() },
    errors: ['DOCUMENT_NOT_FOUND'],
    async handle({ path, caller, parts }): Promise<null> {
      await parts.knowledge.remove(path.document_id, { caller })
      return null
    },
  }),
]

/** Maximum wait in seconds: proxies close a silent connection at about this time. */
const longestWaitSeconds = 600

/**
 * The wait requested with `Prefer: wait=N` (RFC 7240), in milliseconds and at most ten minutes; undefined without one
 * or for an unreadable one, which a server must ignore.
 */
function waitOf(request: Request): number | undefined {
  const header = request.headers.get('prefer')
  if (header === null) return undefined
  for (const preference of header.split(/[,;]/)) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*$/i.exec(preference)?.[1]
    if (seconds !== undefined) return Math.min(Number(seconds), longestWaitSeconds) * 1000
  }
  return undefined
}

function tooManyWait(): InlayError {
  return new InlayError('RATE_LIMITED', {
    message: 'Too many calls wait for their documents: send this one later, or without "Prefer: wait".',
    data: { retryAfterSeconds: 1, of: 'caller' },
  })
}

function toState(status: DocumentStatus): IngestionState {
  return {
    document_id: status.documentId,
    state: status.phase,
    reason: status.reason,
    attempts: status.attempts,
    next_try_at: toDate(status.nextTryAt),
    accepted_at: new Date(status.acceptedAt).toISOString(),
    indexed_at: toDate(status.indexedAt),
    chunk_count: status.chunkCount,
    cc_pair_ids: status.pairIds,
  }
}
