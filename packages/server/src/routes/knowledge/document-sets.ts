import type { DocumentSet, DocumentSetChange, Pair } from '@inlay/knowledge'
import {
  complete,
  documentSetCreationSchema,
  documentSetSummarySchema,
  documentSetQuerySchema,
  documentSetUpdateSchema,
  hasScope,
  InlayError,
  integer,
  namedDocumentSetUpdateSchema,
  queryInteger,
  toUserNames,
  type DocumentSetSummary,
  type DocumentSetUpdate,
  type Principal,
} from '@inlay/protocol'
import * as v from 'valibot'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import { accessTypeOf } from './pairs.ts'

const route = routesOf('Document sets', { scope: 'admin', owner: 'any' })
const setPath = v.object({ document_set_id: queryInteger({ least: 1 }) })

export const documentSetRoutes: readonly Route[] = [
  route('GET /manage/document-set', 'listDocumentSets', 'List document sets', {
    scope: ['search', 'ingest'],
    owner: 'pair',
    description: 'Sets that the caller can use in filters; with `get_editable=true`, sets it can edit.',
    input: { query: documentSetQuerySchema },
    answer: { description: 'The sets, by name.', schema: v.array(documentSetSummarySchema) },
    async handle({ query, caller, parts }) {
      return query.get_editable && !hasScope(caller, 'admin') ? [] : listDocumentSets(parts, caller)
    },
  }),
  route('POST /manage/admin/document-set', 'createDocumentSet', 'Create a document set', {
    input: { body: documentSetCreationSchema },
    answer: { description: 'Id of the new set.', schema: v.pipe(integer, v.description('Number of the set.')) },
    errors: ['DUPLICATE_RESOURCE', 'CONNECTOR_NOT_FOUND', 'DEPLOYMENT_UNSUPPORTED'],
    async handle({ body, parts }) {
      const { id } = await parts.knowledge.documentSets.create({ ...toChange(body), name: body.name })
      return id
    },
  }),
  route('PATCH /manage/admin/document-set', 'changeNamedDocumentSet', 'Change a document set by the id in the body', {
    description: 'Like the route with the id in the path. Absent and null fields stay unchanged.',
    input: { body: namedDocumentSetUpdateSchema },
    answer: { description: 'Changed.', schema: v.null() },
    errors: ['DOCUMENT_SET_NOT_FOUND', 'DUPLICATE_RESOURCE', 'CONNECTOR_NOT_FOUND', 'DEPLOYMENT_UNSUPPORTED'],
    async handle({ body, parts }) {
      await parts.knowledge.documentSets.update(body.id, toChange(body))
    },
  }),
  route('PATCH /manage/admin/document-set/{document_set_id}', 'changeDocumentSet', 'Change a document set', {
    description: 'Takes effect with the next search; no reindexing needed.',
    input: { path: setPath, body: documentSetUpdateSchema },
    answer: { description: 'The changed set.', schema: documentSetSummarySchema },
    errors: ['DOCUMENT_SET_NOT_FOUND', 'DUPLICATE_RESOURCE', 'CONNECTOR_NOT_FOUND', 'DEPLOYMENT_UNSUPPORTED'],
    async handle({ path, body, caller, parts }) {
      const set = await parts.knowledge.documentSets.update(path.document_set_id, toChange(body))
      return toSummary(set, await parts.knowledge.pairs.list(), caller)
    },
  }),
  route('DELETE /manage/admin/document-set/{document_set_id}', 'deleteDocumentSet', 'Delete a document set', {
    description: 'The documents are kept.',
    input: { path: setPath },
    answer: { description: 'Deleted.', schema: v.null() },
    errors: ['DOCUMENT_SET_NOT_FOUND'],
    handle: ({ path, parts }) => parts.knowledge.documentSets.remove(path.document_set_id),
  }),
]

/** The document sets that a caller can search, each with the pairs the caller can see. */
export async function listDocumentSets(
  { knowledge }: Pick<ServerParts, 'knowledge'>,
  caller: Principal,
): Promise<DocumentSetSummary[]> {
  const [sets, pairs] = await Promise.all([knowledge.documentSets.list({ caller }), knowledge.pairs.list({ caller })])
  return sets.map((set) => toSummary(set, pairs, caller))
}

function toSummary(set: DocumentSet, pairs: readonly Pair[], caller: Principal): DocumentSetSummary {
  const isAdmin = hasScope(caller, 'admin')
  // Only administrators see who a set is shared with.
  const named = isAdmin ? set : { users: [], groups: [] }
  return complete(documentSetSummarySchema, {
    id: set.id,
    name: set.name,
    description: set.description,
    cc_pair_summaries: pairs
      .filter(({ id }) => set.pairIds.includes(id))
      // All documents arrive over the ingestion API, whatever their own source.
      .map((pair) => ({ id: pair.id, name: pair.name, source: 'ingestion_api', access_type: accessTypeOf(pair) })),
    is_public: set.isPublic,
    users: toUserNames(named.users),
    groups: named.groups,
    permissions: { edit: isAdmin, manage_access: isAdmin, delete: isAdmin, publish: isAdmin },
  })
}

function toChange(body: DocumentSetUpdate): DocumentSetChange {
  if ((body.federated_connectors ?? []).length > 0) {
    throw new InlayError('DEPLOYMENT_UNSUPPORTED', {
      message: 'Connectors of other services are not supported: omit federated_connectors.',
    })
  }
  return {
    name: body.name ?? undefined,
    description: body.description ?? undefined,
    pairIds: body.cc_pair_ids ?? undefined,
    isPublic: body.is_public ?? undefined,
    users: body.users ?? undefined,
    groups: body.groups ?? undefined,
  }
}
