import type { DocumentStatus } from '@inlay/knowledge'
import {
  describeUnread,
  docMinimalInfoSchema,
  documentChangeSchema,
  documentListingQuerySchema,
  exactText,
  InlayError,
  ingestionRequestSchema,
  ingestionResponseSchema,
  ingestionStateSchema,
  unreadPartsOf,
  type IngestionResponse,
  type IngestionState,
} from '@inlay/protocol'
import * as v from 'valibot'
import { toDate } from '../../http/dates.ts'
import { jsonReply } from '../../http/replies.ts'
import { routesOf, type Route } from '../../http/route.ts'
import { nextPageHeaders, toDetailedInfo, toMinimalInfo } from './document-listing.ts'
import { listDocumentSets } from './document-sets.ts'

const route = routesOf('Ingestion', { scope: 'ingest', owner: 'pair' })
const documentPath = v.object({ document_id: exactText })

export const ingestionRoutes: readonly Route[] = [
  route('POST /service-api/ingestion', 'ingestDocument', 'Add or update a document', {
    aliases: ['/onyx-api/ingestion'],
    description:
      'HTTP 200 means the document is durable: it becomes searchable or is reported as `failed`. A ' +
      'document with a known id is updated.',
    input: {
      body: { kind: 'json', schema: ingestionRequestSchema, limit: 'maxIngestionBytes' },
      headers: {
        prefer: '`wait=N` delays the response until the document is searchable or failed, at most N seconds.',
      },
    },
    answer: {
      description: 'Accepted.',
      schema: ingestionResponseSchema,
      headers: { 'preference-applied': 'The wait that was applied.' },
    },
    errors: ['CONNECTOR_NOT_FOUND', 'RATE_LIMITED'],
    async handle({ body, caller, request, parts, settings }) {
      const preferred = waitOf(request)
      const waitMs = preferred ?? settings.ingestionWaitMs
      const leave = waitMs > 0 ? settings.maxWaitingCalls.enter(caller.id) : undefined
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
    errors: ['INVALID_INPUT', 'DOCUMENT_SET_NOT_FOUND'],
    async handle({ query, caller, url, parts }) {
      const { document_set: setId } = query
      const sets = setId === undefined ? [] : await listDocumentSets(parts, caller)
      const set = sets.find(({ id }) => id === setId)
      if (setId !== undefined && !set) throw new InlayError('DOCUMENT_SET_NOT_FOUND')
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
          ...(set && { pairIds: set.cc_pair_summaries.map(({ id }) => id) }),
          ...(query.tag !== undefined && { tag: query.tag }),
          ...(query.details && { withTags: true }),
        },
        { caller },
      )
      return jsonReply(documents.map(query.details ? toDetailedInfo : toMinimalInfo), {
        headers: nextPageHeaders(url, next),
      })
    },
  }),
  route('GET /service-api/ingestion/{document_id}', 'getDocumentState', 'Get the state of a document', {
    aliases: ['/onyx-api/ingestion/{document_id}'],
    input: { path: documentPath },
    answer: { description: 'Its state.', schema: ingestionStateSchema },
    errors: ['DOCUMENT_NOT_FOUND'],
    async handle({ path, caller, parts }) {
      const status = await parts.knowledge.status(path.document_id, { caller, withTags: true })
      if (status === undefined) throw new InlayError('DOCUMENT_NOT_FOUND')
      return toState(status)
    },
  }),
  route('PATCH /service-api/ingestion/{document_id}', 'changeDocument', 'Change metadata or pairs of a document', {
    aliases: ['/onyx-api/ingestion/{document_id}'],
    description:
      'The document is indexed again; searches find it with its old metadata until then. Who sees none of ' +
      'its new pairs no longer finds it at once. 409 if it changes at the same time.',
    input: { path: documentPath, body: documentChangeSchema },
    answer: { description: 'Accepted.', schema: ingestionResponseSchema },
    errors: ['DOCUMENT_NOT_FOUND', 'CONNECTOR_NOT_FOUND', 'CONFLICT', 'RATE_LIMITED'],
    async handle({ path, body: { metadata, cc_pair_ids: pairIds }, caller, parts }) {
      const accepted = await parts.knowledge.changeDocument(path.document_id, { metadata, pairIds }, { caller })
      return { document_id: accepted.documentId, already_existed: accepted.alreadyExisted }
    },
  }),
  route('DELETE /service-api/ingestion/{document_id}', 'deleteDocument', 'Delete a document', {
    aliases: ['/onyx-api/ingestion/{document_id}'],
    description: 'The document can no longer be found from this moment on, even if it was being indexed.',
    input: { path: documentPath },
    answer: { description: 'Deleted.', schema: v.null() },
    errors: ['DOCUMENT_NOT_FOUND'],
    handle: ({ path, caller, parts }) => parts.knowledge.remove(path.document_id, { caller }),
  }),
]

/** Maximum wait in seconds. Proxies close an idle connection at about this time. */
const maxWaitSeconds = 600

/**
 * The wait requested with `Prefer: wait=N` (RFC 7240), in milliseconds and at most ten minutes; undefined without one
 * or for an unreadable one, which a server must ignore.
 */
function waitOf(request: Request): number | undefined {
  const header = request.headers.get('prefer')
  if (header === null) return undefined
  for (const preference of header.split(/[,;]/)) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*$/i.exec(preference)?.[1]
    if (seconds !== undefined) return Math.min(Number(seconds), maxWaitSeconds) * 1000
  }
  return undefined
}

function tooManyWait(): InlayError {
  return new InlayError('RATE_LIMITED', {
    message: 'Too many requests are waiting for their documents: try again later, or without "Prefer: wait".',
    data: { retryAfterSeconds: 1, of: 'caller' },
  })
}

function toState(status: DocumentStatus): IngestionState {
  const unread = unreadPartsOf((status.tags ?? []).map(({ key, value }) => [key, value]))
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
    ...(unread && { unread: describeUnread(unread) }),
  }
}
