import type { DocumentSet, DocumentSetChange, Pair } from '@inlay/knowledge'
import {
  documentSetCreationSchema,
  documentSetSummarySchema,
  documentSetUpdateSchema,
  hasScope,
  queryInteger,
  toUserNames,
  type DocumentSetSummary,
  type DocumentSetUpdate,
  type Principal,
} from '@inlay/protocol'
import * as v from 'valibot'
import { defineRoute, type Route, type ServerParts } from '../../http/route.ts'
import { accessTypeOf } from './pairs.ts'

const topic = 'Document sets'
const setPath = v.object({ document_set_id: queryInteger({ least: 1 }) })

/** Named groups of pairs that a search can be narrowed to. */
export const documentSetRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/manage/document-set',
    operationId: 'listDocumentSets',
    scope: ['search', 'ingest'],
    owner: 'pair',
    topic,
    summary: 'List document sets',
    description: 'Those whose names the caller may use in filters.',
    answer: { description: 'The sets, by name.', schema: v.array(documentSetSummarySchema) },
    handle: ({ caller, parts }) => listDocumentSets(parts, caller),
  }),
  defineRoute({
    method: 'POST',
    path: '/manage/admin/document-set',
    operationId: 'createDocumentSet',
    scope: 'admin',
    owner: 'any',
    topic,
    summary: 'Make a document set',
    input: { body: { kind: 'json', schema: documentSetCreationSchema, limit: 'otherBytes' } },
    answer: { description: 'The new set.', schema: documentSetSummarySchema },
    errors: ['DUPLICATE_RESOURCE', 'CONNECTOR_NOT_FOUND'],
    async handle({ body, caller, parts }): Promise<DocumentSetSummary> {
      const set = await parts.knowledge.documentSets.create({ ...toChange(body), name: body.name })
      return toSummary(set, await parts.knowledge.pairs.list(), caller)
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/manage/admin/document-set/{document_set_id}',
    operationId: 'changeDocumentSet',
    scope: 'admin',
    owner: 'any',
    topic,
    summary: 'Change a document set',
    description: 'Binds at the next search; nothing is indexed anew.',
    input: { path: setPath, body: { kind: 'json', schema: documentSetUpdateSchema, limit: 'otherBytes' } },
    answer: { description: 'The set as it is now.', schema: documentSetSummarySchema },
    errors: ['DOCUMENT_SET_NOT_FOUND', 'DUPLICATE_RESOURCE', 'CONNECTOR_NOT_FOUND'],
    async handle({ path, body, caller, parts }): Promise<DocumentSetSummary> {
      const set = await parts.knowledge.documentSets.update(path.document_set_id, toChange(body))
      return toSummary(set, await parts.knowledge.pairs.list(), caller)
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/manage/admin/document-set/{document_set_id}',
    operationId: 'deleteDocumentSet',
    scope: 'admin',
    owner: 'any',
    topic,
    summary: 'Delete a document set',
    description: 'The documents stay.',
    input: { path: setPath },
    answer: { description: 'Deleted.', schema: v.null() },
    errors: ['DOCUMENT_SET_NOT_FOUND'],
    async handle({ path, parts }): Promise<null> {
      await parts.knowledge.documentSets.remove(path.document_set_id)
      return null
    },
  }),
]

/** The document sets a caller may search, each with those of its pairs that the caller may see. */
export async function listDocumentSets(
  { knowledge }: Pick<ServerParts, 'knowledge'>,
  caller: Principal,
): Promise<DocumentSetSummary[]> {
  const [sets, pairs] = await Promise.all([knowledge.documentSets.list({ caller }), knowledge.pairs.list({ caller })])
  return sets.map((set) => toSummary(set, pairs, caller))
}

function toSummary(set: DocumentSet, pairs: readonly Pair[], caller: Principal): DocumentSetSummary {
  const isAdmin = hasScope(caller, 'admin')
  // Who else may see a set is nothing that everybody needs to know.
  const named = isAdmin ? set : { users: [], groups: [] }
  return {
    id: set.id,
    name: set.name,
    description: set.description,
    cc_pair_summaries: pairs
      .filter(({ id }) => set.pairIds.includes(id))
      // Whatever a document's own source: this is how all of them come.
      .map((pair) => ({ id: pair.id, name: pair.name, source: 'ingestion_api', access_type: accessTypeOf(pair) })),
    // A change binds at the next search.
    is_up_to_date: true,
    is_public: set.isPublic,
    users: toUserNames(named.users),
    groups: named.groups,
    permissions: { edit: isAdmin, delete: isAdmin },
    federated_connector_summaries: [],
  }
}

function toChange(body: DocumentSetUpdate): DocumentSetChange {
  return {
    name: body.name ?? undefined,
    description: body.description ?? undefined,
    pairIds: body.cc_pair_ids ?? undefined,
    isPublic: body.is_public ?? undefined,
    users: body.users ?? undefined,
    groups: body.groups ?? undefined,
  }
}
