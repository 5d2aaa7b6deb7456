import type { DocumentStatus } from '@inlay/knowledge'
import { InlayError, isInlayError, type Principal } from '@inlay/protocol'
import { routesOf, type Route, type ServerParts, type WorkspaceValues } from '@inlay/server'
import * as v from 'valibot'
import { toFileId } from './content.ts'
import { keepRecord, readFileId, keptRecord, recordsOf } from './kept-records.ts'
import { deletionOf, pageOf, pageQuery, pageSchema, polled } from './pages.ts'
import {
  addFiles,
  additionSchema,
  attributesSchema,
  checkFiles,
  documentIdOf,
  toMetadata,
  type Place,
} from './vector-store-additions.ts'
import { findOwnStore, storePath, toSeconds, type Store } from './vector-stores.ts'

const route = routesOf('OpenAI vector stores', { scope: ['search', 'ingest'], owner: 'pair' })

/** What else it has is as in OpenAI's API. */
export const fileSchema = v.looseObject({
  id: v.string(),
  object: v.literal('vector_store.file'),
  created_at: v.number(),
})
type StoreFile = v.InferOutput<typeof fileSchema>
type Kept = WorkspaceValues['vector_store_file']

const path = v.object({ ...storePath.entries, file_id: v.string() })
const statuses = ['in_progress', 'completed', 'failed', 'cancelled'] as const

export const filesQuery = v.object({ ...pageQuery.entries, filter: v.optional(v.picklist(statuses)) })

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
      return readFile(parts, store, body.file_id, caller)
    },
  }),
  route('GET /v1/vector_stores/{vector_store_id}/files', 'listVectorStoreFiles', 'Files of a vector store', {
    input: { path: storePath, query: filesQuery },
    answer: { description: 'The files.', schema: pageSchema(fileSchema) },
    errors: ['NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path: { vector_store_id: id }, query, caller, parts }) {
      const store = await findOwnStore(parts, id, caller)
      const values = (await recordsOf(parts).list('vector_store_file', id)).map(({ value }) => value)
      return pageOfFiles(values, query, (records) => readFiles(parts, store, records, caller))
    },
  }),
  route('GET /v1/vector_stores/{vector_store_id}/files/{file_id}', 'getVectorStoreFile', 'One of its files', {
    input: { path },
    answer: { description: 'The file.', schema: fileSchema },
    errors: ['NOT_FOUND'],
    async handle({ path: { vector_store_id: id, file_id: fileId }, caller, parts }) {
      return polled(await readFile(parts, await findOwnStore(parts, id, caller), fileId, caller))
    },
  }),
  route('POST /v1/vector_stores/{vector_store_id}/files/{file_id}', 'changeVectorStoreFile', 'Change its attributes', {
    scope: 'ingest',
    description: 'Replaces all attributes; searches with filters know them at once.',
    input: { path, body: v.object({ attributes: v.nullable(attributesSchema) }) },
    answer: { description: 'The file.', schema: fileSchema },
    errors: ['NOT_FOUND', 'INVALID_INPUT', 'CONFLICT', 'RATE_LIMITED'],
    async handle({ path: { vector_store_id: owner, file_id: id }, body, caller, parts }) {
      const store = await findOwnStore(parts, owner, caller)
      const value = await recordIn(parts, owner, id)
      const attributes = body.attributes ?? {}
      const documentId = documentIdOf(owner, value.fileId)
      const former = Object.keys(toMetadata(value.attributes, documentId)).map((key) => [key, null])
      const metadata = { ...Object.fromEntries(former), ...toMetadata(attributes, documentId) }
      if (value.fault === undefined) await parts.knowledge.changeDocument(documentId, { metadata }, { caller })
      await keepRecord(recordsOf(parts), 'vector_store_file', { value: { ...value, attributes }, owner })
      return readFile(parts, store, id, caller)
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
    answer: deletionOf('vector_store.file.deleted', 'Removed.'),
    errors: ['NOT_FOUND'],
    async handle({ path: { vector_store_id: owner, file_id: id }, caller, parts }) {
      await findOwnStore(parts, owner, caller)
      const { fileId } = await recordIn(parts, owner, id)
      await takeOut(parts, { owner, fileId }, caller)
      return { id: toFileId(fileId), object: 'vector_store.file.deleted' as const, deleted: true as const }
    },
  }),
]

async function recordIn(parts: ServerParts, owner: string, id: string): Promise<Kept> {
  const record = await keptRecord(recordsOf(parts), 'vector_store_file', { key: readFileId(id), owner })
  if (!record) throw new InlayError('NOT_FOUND', { message: 'No such file in this vector store.' })
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
  const record = await keptRecord(recordsOf(parts), 'vector_store_file', { key: fileId, owner })
  if (record) await recordsOf(parts).remove('vector_store_file', record.id, owner)
}

/** A page of files, of one status if it is asked for. @param read makes files of their records */
export async function pageOfFiles(
  values: readonly Kept[],
  { filter, ...query }: v.InferOutput<typeof filesQuery>,
  read: (values: readonly Kept[]) => Promise<StoreFile[]>,
) {
  const limits = { maxLimit: 100, usual: 20 }
  if (filter !== undefined) {
    const wanted = (await read(values)).filter(({ status }) => status === filter)
    return pageOf(wanted, query, limits)
  }
  const listed = values.map((value) => ({ id: toFileId(value.fileId), created_at: toSeconds(value.addedAt), value }))
  const page = pageOf(listed, query, limits)
  return { ...page, data: await read(page.data.map(({ value }) => value)) }
}

/** One file of a store. @throws NOT_FOUND */
async function readFile(parts: ServerParts, store: Store & Place, id: string, caller: Principal): Promise<StoreFile> {
  const [file] = await readFiles(parts, store, [await recordIn(parts, store.id, id)], caller)
  return file!
}

/** More documents are read as all of their pair. */
const maxSingle = 100

export async function readFiles(
  parts: ServerParts,
  { id: owner, own }: Store & Place,
  values: readonly Kept[],
  caller: Principal,
): Promise<StoreFile[]> {
  const all = values.length > maxSingle ? await documentsOf(parts, own.pairId, caller) : undefined
  return Promise.all(
    values.map(async (value) => {
      const id = documentIdOf(owner, value.fileId)
      return toStoreFile(owner, value, all ? all.get(id) : await parts.knowledge.status(id, { caller }))
    }),
  )
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
  { fileId, fault, addedAt, sizeBytes, attributes }: Kept,
  document: DocumentStatus | undefined,
): StoreFile {
  const status = fault === undefined && document ? phases[document.phase] : 'failed'
  const lost = 'Its document was deleted: add the file again, or take it out.'
  const message = fault ?? (document ? (document.reason ?? 'The file could not be indexed.') : lost)
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
