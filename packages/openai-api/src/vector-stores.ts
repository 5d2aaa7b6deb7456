import type { DocumentSet } from '@inlay/knowledge'
import { hasScope, InlayError, isInlayError, storable, type Principal } from '@inlay/protocol'
import { routesOf, type Route, type ServerParts, type WorkspaceValues } from '@inlay/server'
import * as v from 'valibot'
import { invalid } from './errors.ts'
import { recordsOf } from './kept-records.ts'
import { deletionOf, pageOf, pageQuery, pageSchema } from './pages.ts'
import { addFiles, checkFiles, type Place } from './vector-store-additions.ts'

const route = routesOf('OpenAI vector stores', { scope: ['search', 'ingest'], owner: 'pair' })

/** What else it has is as in OpenAI's API. */
const storeSchema = v.looseObject({ id: v.string(), object: v.literal('vector_store'), created_at: v.number() })

export const storePath = v.object({ vector_store_id: v.string() })
const changeSchema = v.object({
  name: v.nullish(v.pipe(v.string(), v.maxLength(256))),
  description: v.nullish(v.pipe(v.string(), v.maxLength(512))),
  metadata: v.nullish(v.record(v.string(), v.pipe(v.string(), v.maxLength(512)))),
  expires_after: v.nullish(v.custom<never>(() => false, 'is not supported: delete the store instead')),
})
const creationSchema = v.object({
  ...changeSchema.entries,
  file_ids: v.nullish(v.pipe(v.array(v.string()), v.maxLength(500))),
  /** Ignored: documents are cut as all others. */
  chunking_strategy: v.optional(v.unknown()),
})

/** A vector store: a document set and, if it was made by this API, what is recorded about it. */
export interface Store {
  readonly id: string
  readonly set: DocumentSet
  readonly own: WorkspaceValues['vector_store'] | undefined
}

/** Of one caller, since Inlay's own route lets only administrators make document sets. */
const maxStores = 100

const toStoreId = (setId: number): string => `vs_${setId}`

/** The store that a caller may see. @throws NOT_FOUND for any other */
export async function findStore(parts: ServerParts, id: string, caller: Principal): Promise<Store> {
  const sets = await parts.knowledge.documentSets.list({ caller })
  const set = sets.find((each) => toStoreId(each.id) === id)
  if (set === undefined) throw new InlayError('NOT_FOUND', { message: 'No such vector store, or you may not see it.' })
  return storeOf(parts, set)
}

async function storeOf(parts: ServerParts, set: DocumentSet): Promise<Store> {
  return { id: toStoreId(set.id), set, own: (await recordsOf(parts).get('vector_store', set.id))?.value }
}

/** The store that files can be added to. @throws INVALID_INPUT for a document set that was made elsewhere */
export async function findOwnStore(parts: ServerParts, id: string, caller: Principal): Promise<Store & Place> {
  const store = await findStore(parts, id, caller)
  if (store.own) return { ...store, own: store.own }
  throw invalid('vector_store_id', 'This document set was not made as a vector store: create a vector store.')
}

async function findChangeableStore(parts: ServerParts, id: string, caller: Principal): Promise<Store & Place> {
  const store = await findOwnStore(parts, id, caller)
  if (store.own.ownerId === caller.id || hasScope(caller, 'admin')) return store
  throw new InlayError('INSUFFICIENT_PERMISSIONS', {
    message: 'Only its creator and administrators change or delete a vector store.',
  })
}

/** Names of document sets are unique, those of vector stores are not: a taken one gets the number of the pair. */
const withFreeName = (
  use: (name: string) => Promise<DocumentSet>,
  name: string,
  pairId: number,
): Promise<DocumentSet> =>
  use(name).catch((error: unknown) => {
    if (isInlayError(error) && error.code === 'DUPLICATE_RESOURCE') return use(`${name} (${pairId})`)
    throw error
  })

/** Document sets as vector stores. */
export const vectorStoreRoutes: readonly Route[] = [
  route('POST /v1/vector_stores', 'createVectorStore', 'Create a vector store', {
    scope: 'ingest',
    description: 'A document set with a source of its own, which the caller and administrators see.',
    changesAccess: true,
    input: { body: creationSchema },
    answer: { description: 'The store.', schema: storeSchema },
    errors: ['INVALID_INPUT', 'NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'RATE_LIMITED', 'NOT_IMPLEMENTED'],
    async handle({ body, caller, parts, request, holdBytes }) {
      const records = recordsOf(parts)
      const own = (await records.list('vector_store')).filter(({ value }) => value.ownerId === caller.id)
      if (own.length >= maxStores && !hasScope(caller, 'admin'))
        throw new InlayError('INSUFFICIENT_PERMISSIONS', {
          message: `You have ${maxStores} vector stores, and only administrators make more: delete one.`,
        })
      const files = [...new Set(body.file_ids)].map((id) => ({ file_id: id }))
      await checkFiles(parts, files, caller)
      const name = storable(body.name ?? '').trim()
      const access = { isPublic: false, users: [caller.id] }
      const pair = await parts.knowledge.pairs.create({ name: name || 'Vector store', ...access })
      const details = { description: storable(body.description ?? ''), pairIds: [pair.id], ...access }
      const create = (free: string) => parts.knowledge.documentSets.create({ ...details, name: free })
      const set = await withFreeName(create, name || `Vector store ${pair.id}`, pair.id)
      const value = { name: name || null, pairId: pair.id, ownerId: caller.id, metadata: body.metadata ?? {} }
      await records.put('vector_store', set.id, value)
      const store = { id: toStoreId(set.id), set, own: value }
      await addFiles(store, files, { parts, caller, request, holdBytes })
      return toAnswer(parts, store, caller)
    },
  }),
  route('GET /v1/vector_stores', 'listVectorStores', 'List vector stores', {
    input: { query: pageQuery },
    answer: { description: 'The document sets that the caller may see.', schema: pageSchema(storeSchema) },
    errors: ['INVALID_INPUT'],
    async handle({ query, caller, parts }) {
      const sets = await parts.knowledge.documentSets.list({ caller })
      const listed = sets.map((set) => ({ id: toStoreId(set.id), created_at: toSeconds(set.createdAt), set }))
      const page = pageOf(listed, query, { maxLimit: 100, usual: 20 })
      const stores = page.data.map(async ({ set }) => toAnswer(parts, await storeOf(parts, set), caller))
      return { ...page, data: await Promise.all(stores) }
    },
  }),
  route('GET /v1/vector_stores/{vector_store_id}', 'getVectorStore', 'One vector store', {
    input: { path: storePath },
    answer: { description: 'The store.', schema: storeSchema },
    errors: ['NOT_FOUND'],
    handle: async ({ path, caller, parts }) =>
      toAnswer(parts, await findStore(parts, path.vector_store_id, caller), caller),
  }),
  route('POST /v1/vector_stores/{vector_store_id}', 'changeVectorStore', 'Change a vector store', {
    scope: 'ingest',
    description: 'Absent and null fields stay as they are; `metadata` replaces all of it.',
    input: { path: storePath, body: changeSchema },
    answer: { description: 'The store.', schema: storeSchema },
    errors: ['NOT_FOUND', 'INVALID_INPUT', 'INSUFFICIENT_PERMISSIONS'],
    async handle({ path, body, caller, parts }) {
      const { id, set, own } = await findChangeableStore(parts, path.vector_store_id, caller)
      const name = storable(body.name ?? '').trim() || own.name
      const details = typeof body.description === 'string' ? { description: storable(body.description) } : {}
      const change = (more: { name?: string }) => parts.knowledge.documentSets.update(set.id, { ...details, ...more })
      const changed =
        name === null || name === own.name
          ? await change({})
          : await withFreeName((free) => change({ name: free }), name, own.pairId)
      const value = { ...own, name, metadata: body.metadata ?? own.metadata }
      await recordsOf(parts).put('vector_store', set.id, value)
      return toAnswer(parts, { id, set: changed, own: value }, caller)
    },
  }),
  route('DELETE /v1/vector_stores/{vector_store_id}', 'deleteVectorStore', 'Delete a vector store', {
    scope: 'ingest',
    description: 'Its documents are no longer found from this moment on; uploaded files stay.',
    input: { path: storePath },
    answer: deletionOf('vector_store.deleted'),
    errors: ['NOT_FOUND', 'INVALID_INPUT', 'INSUFFICIENT_PERMISSIONS'],
    async handle({ path, caller, parts }) {
      const { id, set, own } = await findChangeableStore(parts, path.vector_store_id, caller)
      // The set goes after the rest: another attempt finishes what is interrupted here.
      await parts.knowledge.pairs.remove(own.pairId).catch((error: unknown) => {
        if (!isInlayError(error) || error.code !== 'CONNECTOR_NOT_FOUND') throw error
      })
      await recordsOf(parts).erase(id, { isPerson: false })
      await parts.knowledge.documentSets.remove(set.id)
      await recordsOf(parts).remove('vector_store', set.id)
      return { id, object: 'vector_store.deleted' as const, deleted: true as const }
    },
  }),
]

/** Seconds since 1970 UTC. */
export const toSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000)

async function toAnswer(
  parts: ServerParts,
  { id, set, own }: Store,
  caller: Principal,
): Promise<v.InferOutput<typeof storeSchema>> {
  const read = set.pairIds.map((pairId) => parts.knowledge.pairs.progress({ caller, id: pairId, failures: false }))
  const progress = (await Promise.all(read)).flat()
  const files = (await recordsOf(parts).list('vector_store_file', id)).map(({ value }) => value)
  const faults = files.filter(({ fault }) => fault !== undefined).length
  const counts = { in_progress: 0, completed: 0, failed: faults, cancelled: 0, total: faults }
  for (const { documents } of progress) {
    counts.in_progress += documents.pending + documents.indexing
    counts.completed += documents.indexed
    counts.failed += documents.failed
    counts.total += documents.pending + documents.indexing + documents.indexed + documents.failed
  }
  return {
    id,
    object: 'vector_store',
    created_at: toSeconds(set.createdAt),
    name: own ? own.name : set.name,
    description: set.description,
    usage_bytes: files.reduce((bytes, { fault, sizeBytes }) => bytes + (fault === undefined ? sizeBytes : 0), 0),
    file_counts: counts,
    status: counts.in_progress > 0 ? 'in_progress' : 'completed',
    expires_after: null,
    expires_at: null,
    last_active_at: toSeconds(Math.max(set.createdAt, ...progress.map((pair) => pair.lastAcceptedAt ?? 0))),
    metadata: { ...own?.metadata },
  }
}
