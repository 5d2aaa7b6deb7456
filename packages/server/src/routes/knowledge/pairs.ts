import type { Pair, PairChange, PairProgress } from '@inlay/knowledge'
import {
  docMinimalInfoSchema,
  hasScope,
  pairCreationSchema,
  pairDescriptorSchema,
  pairDocumentsQuerySchema,
  pairIndexingStatusSchema,
  pairUpdateSchema,
  queryInteger,
  toUserNames,
  type AccessType,
  type PairDescriptor,
  type PairIndexingStatus,
  type PairUpdate,
  type Principal,
} from '@inlay/protocol'
import * as v from 'valibot'
import { toDate } from '../../http/dates.ts'
import { jsonReply, reply } from '../../http/replies.ts'
import { routesOf, type Route } from '../../http/route.ts'
import { nextPageHeaders, toMinimalInfo, wholeListing } from './document-listing.ts'

const route = routesOf('Connector/credential pairs', { scope: 'ingest', owner: 'pair' })
const pairPath = v.object({ cc_pair_id: queryInteger({ least: 1 }) })

export const pairRoutes: readonly Route[] = [
  route('GET /manage/cc-pair', 'listPairs', 'List pairs', {
    description: 'Pairs that the caller can ingest into. Documents without a pair go into pair 1.',
    answer: { description: 'The pairs, by id.', schema: v.array(pairDescriptorSchema) },
    async handle({ caller, parts }) {
      return (await parts.knowledge.pairs.list({ caller })).map((pair) => toDescriptor(pair, caller))
    },
  }),
  route('GET /manage/indexing-status', 'listIndexingStatus', 'List indexing status of pairs', {
    description: 'For each pair: documents by state, last activity, and the latest failures with reasons.',
    answer: { description: 'The pairs, by id.', schema: v.array(pairIndexingStatusSchema) },
    async handle({ caller, parts }) {
      return (await parts.knowledge.pairs.progress({ caller })).map((pair) => toIndexingStatus(pair, caller))
    },
  }),
  route('POST /manage/admin/cc-pair', 'createPair', 'Make a pair', {
    scope: 'admin',
    owner: 'any',
    description: 'Public by default. Only people named in a private pair can find its documents.',
    input: { body: pairCreationSchema },
    answer: { description: 'The new pair.', schema: pairDescriptorSchema },
    async handle({ body, caller, parts }) {
      return toDescriptor(await parts.knowledge.pairs.create({ ...toChange(body), name: body.name }), caller)
    },
  }),
  route('PATCH /manage/admin/cc-pair/{cc_pair_id}', 'changePair', 'Change a pair', {
    scope: 'admin',
    owner: 'any',
    description:
      'Changes of access take effect with the next search; no reindexing needed. A paused pair still ' +
      'accepts documents; they wait.',
    input: { path: pairPath, body: pairUpdateSchema },
    answer: { description: 'The changed pair.', schema: pairDescriptorSchema },
    errors: ['CONNECTOR_NOT_FOUND'],
    async handle({ path, body, caller, parts }) {
      return toDescriptor(await parts.knowledge.pairs.update(path.cc_pair_id, toChange(body)), caller)
    },
  }),
  route('DELETE /manage/admin/cc-pair/{cc_pair_id}', 'deletePair', 'Delete a pair', {
    scope: 'admin',
    owner: 'any',
    description: 'Also deletes documents that are in no other pair; they can no longer be found from this moment on.',
    input: { path: pairPath },
    answer: { description: 'Deleted.', schema: v.null() },
    errors: ['CONNECTOR_NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path, parts }) {
      await parts.knowledge.pairs.remove(path.cc_pair_id)
      await parts.workspace?.remove('link', path.cc_pair_id)
    },
  }),
  route('GET /service-api/connector-docs/{cc_pair_id}', 'listDocumentsOfPair', 'List documents of a pair', {
    aliases: ['/onyx-api/connector-docs/{cc_pair_id}'],
    description: 'All documents, or pages if a `limit` is given.',
    input: { path: v.object({ cc_pair_id: queryInteger({ least: 0 }) }), query: pairDocumentsQuerySchema },
    answer: {
      description: 'Documents with their states, by id.',
      schema: v.array(docMinimalInfoSchema),
      headers: { link: '`rel="next"`: the next page, relative to this address.' },
    },
    errors: ['CONNECTOR_NOT_FOUND'],
    async handle({ path, query, caller, url, parts }) {
      const { knowledge } = parts
      const { id: pairId } = await knowledge.pairs.get(path.cc_pair_id || 1, { caller })
      const listing = { pairId, phase: query.state }
      const first = await knowledge.list({ ...listing, after: query.after, limit: query.limit ?? 1000 }, { caller })
      if (query.limit !== undefined)
        return jsonReply(first.documents.map(toMinimalInfo), { headers: nextPageHeaders(url, first.next) })
      const whole = wholeListing(first, (after) => knowledge.list({ ...listing, after, limit: 1000 }, { caller }))
      return reply(whole, { headers: { 'content-type': 'application/json' } })
    },
  }),
]

function toDescriptor(pair: Pair, caller: Principal): PairDescriptor {
  // Only administrators see who a pair is shared with.
  const named = hasScope(caller, 'admin') ? pair : { users: [], groups: [] }
  return {
    id: pair.id,
    name: pair.name,
    access_type: accessTypeOf(pair),
    users: toUserNames(named.users),
    groups: named.groups,
    is_paused: pair.isPaused,
    created_at: new Date(pair.createdAt).toISOString(),
  }
}

export function accessTypeOf(pair: Pick<Pair, 'isPublic'>): AccessType {
  return pair.isPublic ? 'public' : 'private'
}

function toIndexingStatus(pair: PairProgress, caller: Principal): PairIndexingStatus {
  return {
    ...toDescriptor(pair, caller),
    documents: pair.documents,
    last_accepted_at: toDate(pair.lastAcceptedAt),
    last_indexed_at: toDate(pair.lastIndexedAt),
    failures: pair.failures.map((document) => ({
      document_id: document.documentId,
      semantic_id: document.semanticIdentifier,
      reason: document.reason,
      attempts: document.attempts,
    })),
  }
}

function toChange(body: PairUpdate): PairChange {
  return {
    name: body.name ?? undefined,
    isPublic: body.access_type === null ? undefined : body.access_type === 'public',
    users: body.users ?? undefined,
    groups: body.groups ?? undefined,
    isPaused: body.is_paused ?? undefined,
  }
}
