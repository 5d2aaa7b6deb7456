import { InlayError, isInlayError, type Principal } from '@inlay/protocol'
import { jsonReply, routesOf, type Route, type ServerParts, type WorkspaceValues } from '@inlay/server'
import * as v from 'valibot'
import { invalid } from './errors.ts'
import { readFileId, recordOfFile, recordsOf } from './kept-files.ts'
import { pageOf, pageQuery, pageSchema } from './pages.ts'
import { addFiles, additionSchema, checkFiles, documentIdOf } from './vector-store-additions.ts'
import { findOwnStore, findStore, storePath, toSeconds } from './vector-stores.ts'

const route = routesOf('OpenAI vector stores', { scope: ['search', 'ingest'], owner: 'pair' })

/** What else it has is as in OpenAI's API. */
const fileSchema = v.looseObject({ id: v.string(), object: v.literal('vector_store.file'), created_at: v.number() })
type StoreFile = v.InferOutput<typeof fileSchema>

const path = v.object({ ...storePath.entries, file_id: v.string() })
const text = v.pipe(v.string(), v.minLength(1), v.maxLength(4096))
const searchSchema = v.object({
  query: v.union([text, v.pipe(v.array(text), v.minLength(1), v.maxLength(20))]),
  max_num_results: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50))),
  filters: v.optional(v.unknown()),
  ranking_options: v.nullish(v.object({ score_threshold: v.nullish(v.number()) })),
})

/** Files of vector stores, and searching them. */
export const vectorStoreFileRoutes: readonly Route[] = [
  route('POST /v1/vector_stores/{vector_store_id}/files', 'addVectorStoreFile', 'Add a file to a vector store', {
    scope: 'ingest',
    description: 'Accepts the file as a document before the response. Adding it again changes only its attributes.',
    input: { path: storePath, body: additionSchema },
    answer: { description: 'The file.', schema: fileSchema },
    errors: ['NOT_FOUND', 'INVALID_INPUT', 'RATE_LIMITED'],
    async handle({ path: { vector_store_id: id }, body, caller, parts, request, holdBytes }) {
      const store = await findOwnStore(parts, id, caller)
      await checkFiles(parts, [body], caller)
      await addFiles(store, [body], { parts, caller, request, holdBytes })
      return (await readFiles(parts, id, { caller, fileId: body.file_id }))[0]!
    },
  }),
  route('GET /v1/vector_stores/{vector_store_id}/files', 'listVectorStoreFiles', 'Files of a vector store', {
    input: { path: storePath, query: pageQuery },
    answer: { description: 'The files.', schema: pageSchema(fileSchema) },
    errors: ['NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path: { vector_store_id: id }, query, caller, parts }) {
      return pageOf(await readFiles(parts, id, { caller }), query, { maxLimit: 100, usual: 20 })
    },
  }),
  route('GET /v1/vector_stores/{vector_store_id}/files/{file_id}', 'getVectorStoreFile', 'One of its files', {
    input: { path },
    answer: { description: 'The file.', schema: fileSchema },
    errors: ['NOT_FOUND'],
    async handle({ path: { vector_store_id: id, file_id: fileId }, caller, parts }) {
      const [file] = await readFiles(parts, id, { caller, fileId })
      // Clients that poll wait five seconds unless they are asked for less.
      return jsonReply(file, { headers: { 'openai-poll-after-ms': '250' } })
    },
  }),
  route('DELETE /v1/vector_stores/{vector_store_id}/files/{file_id}', 'removeVectorStoreFile', 'Take a file out', {
    scope: 'ingest',
    description: 'Deletes its document in this store. The uploaded file and its documents in other stores stay.',
    input: { path },
    answer: {
      description: 'Removed.',
      schema: v.object({ id: v.string(), object: v.literal('vector_store.file.deleted'), deleted: v.literal(true) }),
    },
    errors: ['NOT_FOUND'],
    async handle({ path: { vector_store_id: owner, file_id: id }, caller, parts }) {
      const fileId = readFileId(id)
      await findOwnStore(parts, owner, caller)
      const record = await recordOfFile(recordsOf(parts), 'vector_store_file', { fileId, owner })
      if (!record) throw noFile()
      await parts.knowledge.remove(documentIdOf(owner, fileId), { caller }).catch((error: unknown) => {
        if (!isInlayError(error) || error.code !== 'DOCUMENT_NOT_FOUND') throw error
      })
      await recordsOf(parts).remove('vector_store_file', record.id, owner)
      return { id: `file-${fileId}`, object: 'vector_store.file.deleted' as const, deleted: true as const }
    },
  }),
  route('POST /v1/vector_stores/{vector_store_id}/search', 'searchVectorStore', 'Search a vector store', {
    scope: 'search',
    description: 'Several queries are searched one by one. `rewrite_query` and `ranker` change nothing.',
    readsOnly: true,
    input: { path: storePath, body: searchSchema },
    answer: { description: 'A page of passages, best first; documents that are no files have their own id.' },
    errors: ['NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path: { vector_store_id: id }, body, caller, parts, request: { signal } }) {
      if (body.filters) throw invalid('filters', 'Filters are not supported: leave filters out.')
      const { set } = await findStore(parts, id, caller)
      const files = (await recordsOf(parts).list('vector_store_file', id)).map(({ value }) => value)
      const known = new Map(files.map((file) => [documentIdOf(id, file.fileId), file]))
      const [queries, limit] = [[body.query].flat(), body.max_num_results ?? 10]
      const best = new Map<string, { score: number; [key: string]: unknown }>()
      for (const query of queries)
        for (const { document, content, span } of await parts.knowledge.search({
          text: query,
          filters: { document_set: [set.name] },
          caller,
          limit,
          signal,
        })) {
          const [file, score] = [known.get(document.document_id), Math.min(1, Math.max(0, document.score ?? 0))]
          const key = `${span.first} ${document.document_id}`
          if (score < (body.ranking_options?.score_threshold ?? 0) || score <= (best.get(key)?.score ?? -1)) continue
          best.set(key, {
            file_id: file ? `file-${file.fileId}` : document.document_id,
            filename: file?.name ?? document.semantic_identifier,
            score,
            attributes: { ...file?.attributes },
            content: [{ type: 'text', text: content }],
          })
        }
      const data = [...best.values()].toSorted((left, right) => right.score - left.score).slice(0, limit)
      const object = 'vector_store.search_results.page'
      return { object, search_query: queries, data, has_more: false, next_page: null }
    },
  }),
]

const noFile = (): InlayError => new InlayError('NOT_FOUND', { message: 'No such file in this vector store.' })

/** Files of a store, or one. Those whose documents were deleted elsewhere are left out. @throws NOT_FOUND (one) */
async function readFiles(
  parts: ServerParts,
  owner: string,
  { caller, fileId }: { readonly caller: Principal; readonly fileId?: string },
): Promise<StoreFile[]> {
  await findOwnStore(parts, owner, caller)
  const all = await recordsOf(parts).list('vector_store_file', owner)
  const wanted = all.filter(({ value }) => fileId === undefined || value.fileId === readFileId(fileId))
  const read = wanted.map(async ({ value }) => toStoreFile(parts, owner, value, caller))
  const files = (await Promise.all(read)).filter((file) => file !== undefined)
  if (fileId !== undefined && files.length === 0) throw noFile()
  return files
}

const phases = { pending: 'in_progress', indexing: 'in_progress', indexed: 'completed', failed: 'failed' } as const

async function toStoreFile(
  parts: ServerParts,
  owner: string,
  { fileId, fault, addedAt, sizeBytes, attributes }: WorkspaceValues['vector_store_file'],
  caller: Principal,
): Promise<StoreFile | undefined> {
  const document = await parts.knowledge.status(documentIdOf(owner, fileId), { caller })
  if (fault === undefined && document === undefined) return undefined
  const status = fault === undefined && document ? phases[document.phase] : 'failed'
  const message = fault ?? document?.reason ?? 'The file could not be indexed.'
  return {
    id: `file-${fileId}`,
    object: 'vector_store.file',
    created_at: toSeconds(addedAt),
    vector_store_id: owner,
    status,
    last_error: status === 'failed' ? { code: fault === undefined ? 'server_error' : 'invalid_file', message } : null,
    usage_bytes: fault === undefined ? sizeBytes : 0,
    attributes: { ...attributes },
  }
}
