import { InlayError } from '@inlay/protocol'
import type { ServerParts, WorkspaceRecord, WorkspaceRecords } from '@inlay/server'
import * as v from 'valibot'
import { uploadIdOf } from './content.ts'

/** The records of a server. @throws NOT_IMPLEMENTED without any */
export function recordsOf({ workspace }: Pick<ServerParts, 'workspace'>): WorkspaceRecords {
  if (workspace) return workspace
  throw new InlayError('NOT_IMPLEMENTED', {
    message: 'This server keeps no records, which files and vector stores need.',
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

type Kept = WorkspaceRecord<Kind>['value']
const keyOf = (value: Kept): string => ('sessionId' in value ? value.sessionId : value.fileId)

/** The record of a file, or of a conversation by its session, among those of an owner. */
export async function recordOfFile<Of extends Kind>(
  records: WorkspaceRecords,
  kind: Of,
  { fileId, owner }: { readonly fileId: string; readonly owner: string },
): Promise<WorkspaceRecord<Of> | undefined> {
  const usual = await records.get(kind, placeOf(fileId), owner)
  if (usual && keyOf(usual.value) === fileId) return usual
  return (await records.list(kind, owner)).find(({ value }) => keyOf(value) === fileId)
}

/** Keeps such a record, in place of an earlier one. */
export async function keepFile<Of extends Kind>(
  records: WorkspaceRecords,
  kind: Of,
  { value, owner }: { readonly value: WorkspaceRecord<Of>['value']; readonly owner: string },
): Promise<void> {
  const fileId = keyOf(value)
  let id = (await recordOfFile(records, kind, { fileId, owner }))?.id ?? placeOf(fileId)
  for (;;) {
    const other = await records.get(kind, id, owner)
    if (other === undefined || keyOf(other.value) === fileId) break
    id++
  }
  await records.put(kind, id, value, owner)
}

/** Ids of records are numbers of 31 bits: files rarely meet in one, and the second then takes the next. */
const placeOf = (fileId: string): number => Number.parseInt(fileId.slice(-7), 16) + 1
