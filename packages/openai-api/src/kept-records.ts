import { InlayError } from '@inlay/protocol'
import type { ServerParts, WorkspaceRecord, WorkspaceRecords } from '@inlay/server'
import * as v from 'valibot'
import { uploadIdOf } from './content.ts'

/** The records of a server. @throws NOT_IMPLEMENTED without any */
export function recordsOf({ workspace }: Pick<ServerParts, 'workspace'>): WorkspaceRecords {
  if (workspace) return workspace
  throw new InlayError('NOT_IMPLEMENTED', {
    message: 'This server keeps no records, which files, vector stores and conversations need.',
  })
}

const uuid = v.pipe(v.string(), v.uuid())

/** The upload behind `file-…`. @throws NOT_FOUND for anything else */
export function readFileId(id: string): string {
  const read = v.safeParse(uuid, uploadIdOf(id))
  if (id.startsWith('file-') && read.success) return read.output.toLowerCase()
  throw new InlayError('NOT_FOUND', { message: 'No such file, or it is not yours.', data: { param: 'file_id' } })
}

type Kind = 'file_purpose' | 'vector_store_file' | 'conversation'

const keyOf = (value: WorkspaceRecord<Kind>['value']): string => ('sessionId' in value ? value.sessionId : value.fileId)

/** The record of a file, or of a conversation by its session, among those of an owner. */
export async function keptRecord<Of extends Kind>(
  records: WorkspaceRecords,
  kind: Of,
  { key, owner }: { readonly key: string; readonly owner: string },
): Promise<WorkspaceRecord<Of> | undefined> {
  for (const place of placesOf(key)) {
    const record = await records.get(kind, place, owner)
    if (record && keyOf(record.value) === key) return record
  }
  return undefined
}

/** Keeps such a record, in place of an earlier one. */
export async function keepRecord<Of extends Kind>(
  records: WorkspaceRecords,
  kind: Of,
  { value, owner }: { readonly value: WorkspaceRecord<Of>['value']; readonly owner: string },
): Promise<void> {
  const key = keyOf(value)
  let place = (await keptRecord(records, kind, { key, owner }))?.id
  for (const other of placesOf(key)) if (place === undefined && !(await records.get(kind, other, owner))) place = other
  if (place === undefined)
    throw new InlayError('CONFLICT', { message: 'There is no place left for its record: create it again.' })
  await records.put(kind, place, value, owner)
}

/** Ids of records are numbers of 31 bits. Two keys rarely meet in one place, and four never. */
const placesOf = (key: string): number[] => [1, 2, 3, 4].map((offset) => Number.parseInt(key.slice(-7), 16) + offset)
