import { InlayError, type Principal } from '@inlay/protocol'
import { routesOf, type Route, type ServerParts } from '@inlay/server'
import * as v from 'valibot'
import { toFileId } from './content.ts'
import { invalid } from './errors.ts'
import { readFileId, recordsOf } from './kept-records.ts'
import { pageSchema, polled } from './pages.ts'
import { addFiles, additionsSchema, attributesSchema, checkFiles } from './vector-store-additions.ts'
import { fileSchema, filesQuery, pageOfFiles, readFiles, takeOut } from './vector-store-files.ts'
import { findOwnStore, storePath, toSeconds } from './vector-stores.ts'

const route = routesOf('OpenAI vector stores', { scope: ['search', 'ingest'], owner: 'pair' })

/** What else it has is as in OpenAI's API. */
const batchSchema = v.looseObject({ id: v.string(), object: v.literal('vector_store.file_batch') })
const answer = { description: 'The batch, to be polled until no file is in progress.', schema: batchSchema }
const path = v.object({ ...storePath.entries, batch_id: v.string() })
const creationSchema = v.object({
  file_ids: v.nullish(v.pipe(v.array(v.string()), v.maxLength(500))),
  files: v.nullish(additionsSchema),
  attributes: v.nullish(attributesSchema),
})

export const vectorStoreBatchRoutes: readonly Route[] = [
  route('POST /v1/vector_stores/{vector_store_id}/file_batches', 'addVectorStoreFiles', 'Add files to a vector store', {
    scope: 'ingest',
    description:
      'Accepts all files as documents before the response: `files`, or `file_ids` with `attributes` for all.',
    input: { path: storePath, body: creationSchema },
    answer,
    errors: ['NOT_FOUND', 'INVALID_INPUT', 'RATE_LIMITED'],
    async handle({ path: { vector_store_id: owner }, body, caller, parts, request, holdBytes }) {
      const store = await findOwnStore(parts, owner, caller)
      if (body.files && body.file_ids) throw invalid('files', 'Send either files or file_ids, not both.')
      const named = body.file_ids?.map((id) => ({ file_id: id, attributes: body.attributes }))
      const files = new Map((body.files ?? named ?? []).map((file) => [readFileId(file.file_id), file]))
      if (files.size === 0) throw invalid('file_ids', 'file_ids is required.', 'missing_required_parameter')
      const additions = [...files.values()]
      await checkFiles(parts, additions, caller)
      const value = { fileIds: [...files.keys()], addedAt: Date.now(), isCancelled: false }
      await addFiles(store, additions, { parts, caller, request, holdBytes })
      const { id } = await recordsOf(parts).add('vector_store_batch', value, owner)
      return polled((await readBatch(parts, { vector_store_id: owner, batch_id: toBatchId(id) }, caller)).batch)
    },
  }),
  route('GET /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}', 'getVectorStoreBatch', 'One batch', {
    input: { path },
    answer,
    errors: ['NOT_FOUND'],
    handle: async ({ path: place, caller, parts }) => polled((await readBatch(parts, place, caller)).batch),
  }),
  route('GET /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files', 'listVectorStoreBatch', 'Its files', {
    input: { path, query: filesQuery },
    answer: { description: 'Those that are in the store.', schema: pageSchema(fileSchema) },
    errors: ['NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path: place, query, caller, parts }) {
      const { store, values } = await readBatch(parts, place, caller)
      return pageOfFiles(values, query, (records) => readFiles(parts, store, records, caller))
    },
  }),
  route('POST /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel', 'cancelVectorStoreBatch', 'Cancel', {
    scope: 'ingest',
    description: 'Takes those of its files out that it brought into the store and that are not yet searchable.',
    input: { path },
    answer,
    errors: ['NOT_FOUND'],
    async handle({ path: place, caller, parts }) {
      const owner = place.vector_store_id
      const { record, files, values } = await readBatch(parts, place, caller)
      const { id, value } = record
      await recordsOf(parts).put('vector_store_batch', id, { ...value, isCancelled: true }, owner)
      const waiting = new Set(files.filter(({ status }) => status === 'in_progress').map((file) => file.id))
      for (const file of values)
        if (waiting.has(toFileId(file.fileId)) && file.addedAt >= value.addedAt)
          await takeOut(parts, { owner, fileId: file.fileId }, caller)
      return (await readBatch(parts, place, caller)).batch
    },
  }),
]

const toBatchId = (id: number): string => `vsfb_${id}`

async function readBatch(
  parts: ServerParts,
  { vector_store_id: owner, batch_id: batchId }: v.InferOutput<typeof path>,
  caller: Principal,
) {
  const store = await findOwnStore(parts, owner, caller)
  const record = (await recordsOf(parts).list('vector_store_batch', owner)).find(({ id }) => toBatchId(id) === batchId)
  if (!record)
    throw new InlayError('NOT_FOUND', { message: 'No such batch in this vector store.', data: { param: 'batch_id' } })
  const wanted = new Set(record.value.fileIds)
  const values = (await recordsOf(parts).list('vector_store_file', owner))
    .map(({ value }) => value)
    .filter(({ fileId }) => wanted.has(fileId))
  const files = await readFiles(parts, store, values, caller)
  const count = (status: string): number => files.filter((file) => file.status === status).length
  const counts = {
    in_progress: count('in_progress'),
    completed: count('completed'),
    failed: count('failed'),
    cancelled: wanted.size - files.length,
    total: wanted.size,
  }
  const ended = record.value.isCancelled && counts.cancelled > 0 ? 'cancelled' : 'completed'
  const settled = counts.failed === counts.total ? 'failed' : ended
  const batch = {
    id: batchId,
    object: 'vector_store.file_batch' as const,
    created_at: toSeconds(record.value.addedAt),
    vector_store_id: owner,
    status: counts.in_progress > 0 ? 'in_progress' : settled,
    file_counts: counts,
  }
  return { store, record, values, files, batch }
}
