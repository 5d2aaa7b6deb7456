import type { DocumentStatus } from '@inlay/knowledge'
import { InlayError, isInlayError, type Principal } from '@inlay/protocol'
import { routesOf, type Route, type ServerParts, type WorkspaceValues } from '@inlay/server'
import * as v from 'valibot'
import { toFileId } from './content.ts'
import { keepFile, readFileId, recordOfFile, recordsOf } from './kept-files.ts'
import { pageOf, pageQuery, pageSchema, polled } from './pages.ts'
import {
  addFiles,
  additionSchema,
  attributesSchema,
  checkFiles,
  documentIdOf,
  toMetadata,
} from './vector-store-additions.ts'
import { findOwnStore, storePath, toSeconds } from './vector-stores.ts'

const route = routesOf('OpenAI vector stores', { scope: ['search', 'ingest'], owner: 'pair' })

/** What else it has is as in OpenAI's API. */
export const fileSchema = v.looseObject({
  id: v.string(),
  object: v.literal('vector_store.file'),
  created_at: v.number(),
})
type StoreFile = v.InferOutput<typeof fileSchema>

const path = v.object({ ...storePath.entries, file_id: v.string() })
const statuses = ['in_progress', 'completed', 'failed', 'cancelled'] as const

/** Query of a list of files. */
export const filesQuery = v.object({ ...pageQuery.entries, filter: v.optional(v.picklist(statuses)) })

/** Files of vector stores. */
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
    input: { path: storePath, query: filesQuery },
    answer: { description: 'The files.', schema: pageSchema(fileSchema) },
    errors: ['NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path: { vector_store_id: id }, query, caller, parts }) {
      return pageOfFiles(await readFiles(parts, id, { caller }), query)
    },
  }),
  route('GET /v1/vector_stores/{vector_store_id}/files/{file_id}', 'getVectorStoreFile', 'One of its files', {
    input: { path },
    answer: { description: 'The file.', schema: fileSchema },
    errors: ['NOT_FOUND'],
    async handle({ path: { vector_store_id: id, file_id: fileId }, caller, parts }) {
      const [file] = await readFiles(parts, id, { caller, fileId })
      return polled(file)
    },
  }),
  route('POST /v1/vector_stores/{vector_store_id}/files/{file_id}', 'changeVectorStoreFile', 'Change its attributes', {
    scope: 'ingest',
    description: 'Replaces all attributes; searches with filters know them at once.',
    input: { path, body: v.object({ attributes: v.nullable(attributesSchema) }) },
    answer: { description: 'The file.', schema: fileSchema },
    errors: ['NOT_FOUND', 'INVALID_INPUT', 'CONFLICT', 'RATE_LIMITED'],
    async handle({ path: { vector_store_id: owner, file_id: id }, body, caller, parts }) {
      await readFiles(parts, owner, { caller, fileId: id })
      const value = await recordIn(parts, owner, id)
      const attributes = body.attributes ?? {}
      const documentId = documentIdOf(owner, value.fileId)
      const former = Object.keys(toMetadata(value.attributes, documentId)).map((key) => [key, null])
      const metadata = { ...Object.fromEntries(former), ...toMetadata(attributes, documentId) }
      if (value.fault === undefined) await parts.knowledge.changeDocument(documentId, { metadata }, { caller })
      await keepFile(recordsOf(parts), 'vector_store_file', { value: { ...value, attributes }, owner })
      return (await readFiles(parts, owner, { caller, fileId: id }))[0]!
    },
  }),
  route('GET /v1/vector_stores/{vector_store_id}/files/{file_id}/content', 'getVectorStoreFileContent', 'Its text', {
    input: { path },
    answer: { description: 'The text as it is searched, in pieces; none before the file is searchable.' },
    errors: ['NOT_FOUND'],
    async handle({ path: { vector_store_id: owner, file_id: id }, caller, parts }) {
      await findOwnStore(parts, owner, caller)
      const documentId = documentIdOf(owner, (await recordIn(parts, owner, id)).fileId)
      const data: { type: 'text'; text: string }[] = []
      for (let first: number | null = 0; first !== null;) {
        const read = await parts.knowledge.chunks({ documentId, first, limit: 64, caller })
        data.push(...(read?.chunks ?? []).map(({ text }) => ({ type: 'text' as const, text })))
        first = read?.next ?? null
      }
      return { object: 'vector_store.file_content.page', data, has_more: false, next_page: null }
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
      await findOwnStore(parts, owner, caller)
      const { fileId } = await recordIn(parts, owner, id)
      await takeOut(parts, { owner, fileId }, caller)
      return { id: toFileId(fileId), object: 'vector_store.file.deleted' as const, deleted: true as const }
    },
  }),
]

const noFile = (): InlayError => new InlayError('NOT_FOUND', { message: 'No such file in this vector store.' })

async function recordIn(parts: ServerParts, owner: string, id: string): Promise<WorkspaceValues['vector_store_file']> {
  const record = await recordOfFile(recordsOf(parts), 'vector_store_file', { fileId: readFileId(id), owner })
  if (!record) throw noFile()
  return record.value
}

/** Takes a file out of a store: its document, then the record. */
export async function takeOut(
  { knowledge, ...parts }: ServerParts,
  { owner, fileId }: { readonly owner: string; readonly fileId: string },
  caller: Principal,
): Promise<void> {
  await knowledge.remove(documentIdOf(owner, fileId), { caller }).catch((error: unknown) => {
    if (!isInlayError(error) || error.code !== 'DOCUMENT_NOT_FOUND') throw error
  })
  const record = await recordOfFile(recordsOf(parts), 'vector_store_file', { fileId, owner })
  if (record) await recordsOf(parts).remove('vector_store_file', record.id, owner)
}

/** A page of files, of one status if it is asked for. */
export const pageOfFiles = (files: readonly StoreFile[], { filter, ...query }: v.InferOutput<typeof filesQuery>) =>
  pageOf(
    files.filter(({ status }) => filter === undefined || status === filter),
    query,
    { maxLimit: 100, usual: 20 },
  )

/** Files of a store, or one. Those whose documents were deleted elsewhere are left out. @throws NOT_FOUND (one) */
export async function readFiles(
  parts: ServerParts,
  owner: string,
  { caller, fileId }: { readonly caller: Principal; readonly fileId?: string },
): Promise<StoreFile[]> {
  const { own } = await findOwnStore(parts, owner, caller)
  const all = (await recordsOf(parts).list('vector_store_file', owner)).map(({ value }) => value)
  if (fileId === undefined) {
    const documents = await documentsOf(parts, own.pairId, caller)
    return all.flatMap((value) => toStoreFile(owner, value, documents.get(documentIdOf(owner, value.fileId))) ?? [])
  }
  const value = all.find((each) => each.fileId === readFileId(fileId))
  const file =
    value && toStoreFile(owner, value, await parts.knowledge.status(documentIdOf(owner, value.fileId), { caller }))
  if (!file) throw noFile()
  return [file]
}

/** The documents of a pair by id. */
async function documentsOf({ knowledge }: ServerParts, pairId: number, caller: Principal) {
  const all = new Map<string, DocumentStatus>()
  for (let after: string | null | undefined; after !== null;) {
    const { documents, next } = await knowledge.list({ pairId, limit: 1000, ...(after && { after }) }, { caller })
    for (const document of documents) all.set(document.documentId, document)
    after = next
  }
  return all
}

const phases = { pending: 'in_progress', indexing: 'in_progress', indexed: 'completed', failed: 'failed' } as const

function toStoreFile(
  owner: string,
  { fileId, fault, addedAt, sizeBytes, attributes }: WorkspaceValues['vector_store_file'],
  document: DocumentStatus | undefined,
): StoreFile | undefined {
  if (fault === undefined && document === undefined) return undefined
  const status = fault === undefined && document ? phases[document.phase] : 'failed'
  const message = fault ?? document?.reason ?? 'The file could not be indexed.'
  return {
    id: toFileId(fileId),
    object: 'vector_store.file',
    created_at: toSeconds(addedAt),
    vector_store_id: owner,
    status,
    last_error: status === 'failed' ? { code: fault === undefined ? 'server_error' : 'invalid_file', message } : null,
    chunking_strategy: { type: 'other' },
    usage_bytes: fault === undefined ? sizeBytes : 0,
    attributes: { ...attributes },
  }
}
