import { InlayError, isInlayError, storable, type Principal } from '@inlay/protocol'
import type { RouteContext, ServerParts, WorkspaceValues } from '@inlay/server'
import * as v from 'valibot'
import { toFileId } from './content.ts'
import { keepRecord, readFileId, keptRecord, recordsOf } from './kept-records.ts'

const attribute = v.union([v.pipe(v.string(), v.maxLength(512)), v.pipe(v.number(), v.finite()), v.boolean()])

/** Attributes of a file in a store, which become metadata of its document. */
export const attributesSchema = v.pipe(
  v.record(v.pipe(v.string(), v.minLength(1), v.maxLength(64)), attribute),
  v.check((entries) => Object.keys(entries).length <= 16, 'must not have more than 16 keys'),
)

export type Attributes = WorkspaceValues['vector_store_file']['attributes']

export const additionSchema = v.object({
  file_id: v.string(),
  attributes: v.nullish(attributesSchema),
  /** Ignored: documents are cut as all others. */
  chunking_strategy: v.optional(v.unknown()),
})

export const additionsSchema = v.pipe(v.array(additionSchema), v.minLength(1), v.maxLength(500))

type Addition = v.InferOutput<typeof additionSchema>

/** Where a file is added: the id of a store, and the pair of its documents. */
export interface Place {
  readonly id: string
  readonly own: WorkspaceValues['vector_store']
}

interface AddOptions extends Pick<RouteContext<unknown, unknown, unknown>, 'holdBytes' | 'request'> {
  readonly parts: ServerParts
  readonly caller: Principal
}

/** Each file is a document of its own in each store, so that taking it out of one leaves the others. */
export const documentIdOf = (storeId: string, fileId: string): string => `${storeId}.${toFileId(fileId)}`

/** The file of this API behind a document of a store. */
export const fileOfDocument = (documentId: string): string | undefined =>
  /^vs_\d+\.(file-[\da-f-]{36})$/.exec(documentId)?.[1]

/** Metadata with the id of a document itself, by which a search is restricted to some files. */
export const fileTag = 'vector_store_file'

/** Attributes as metadata, by which Inlay's own searches know them too. */
export function toMetadata(attributes: Attributes, documentId: string): Record<string, string> {
  const entries = Object.entries(attributes).map(([key, value]) => [storable(key), storable(String(value))] as const)
  const tag = [fileTag, documentId] as const
  // First, since only so many metadata become tags, and last, so that no attribute replaces it.
  return Object.fromEntries([tag, ...entries, tag])
}

/** The bytes are in memory while their text is extracted. */
const maxFileBytes = 100 * 2 ** 20

/** @throws NOT_FOUND unless all are files of the caller */
export async function checkFiles({ agent }: ServerParts, files: readonly Addition[], caller: Principal): Promise<void> {
  for (const { file_id: id } of files) await agent.files.get(readFileId(id), caller)
}

/** Accepts files as documents of a store; those without readable text are recorded as failed. */
export async function addFiles(place: Place, files: readonly Addition[], options: AddOptions): Promise<void> {
  for (const file of files) await addFile(place, file, options)
}

async function addFile(
  { id: owner, own: { pairId } }: Place,
  { file_id: id, attributes }: Addition,
  { parts, caller, request, holdBytes }: AddOptions,
): Promise<void> {
  const records = recordsOf(parts)
  const { file, bytes } = await parts.agent.files.open(readFileId(id), caller)
  const { id: fileId, name, mediaType, sizeBytes } = file
  const before = (await keptRecord(records, 'vector_store_file', { key: fileId, owner }))?.value
  const kept = attributes ?? before?.attributes ?? {}
  const value = { fileId, name, sizeBytes, attributes: kept, addedAt: before?.addedAt ?? Date.now() }
  try {
    if (sizeBytes > maxFileBytes)
      throw new InlayError('PAYLOAD_TOO_LARGE', { message: 'The file is larger than 100 MB: split it.' })
    holdBytes(sizeBytes)
    const read = { name, mediaType, bytes: new Uint8Array(await new Response(bytes).arrayBuffer()) }
    const documentId = documentIdOf(owner, fileId)
    await parts.knowledge.ingestFile(
      { file: read, id: documentId, title: name, pairId, metadata: toMetadata(kept, documentId) },
      { caller, signal: request.signal },
    )
    await keepRecord(records, 'vector_store_file', { value, owner })
  } catch (error) {
    if (!bytes.locked) await bytes.cancel()
    if (!isInlayError(error) || !['INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED'].includes(error.code)) throw error
    await keepRecord(records, 'vector_store_file', { value: { ...value, fault: error.message }, owner })
  }
}
