import type { FileTable, FileWork } from '../tables/library-tables.ts'
import { InlayError } from '@inlay/protocol'
import { hasRowLocks, isAmong } from '@inlay/records'
import {
  sql,
  type ExpressionBuilder,
  type ExpressionWrapper,
  type RawBuilder,
  type Selectable,
  type SqlBool,
} from 'kysely'
import type { ConversationDatabase, ConversationTables } from '../tables/database.ts'
import type { FileSection, StoredFile } from '@inlay/agent'

export function toStoredFile(row: Selectable<FileTable>): StoredFile {
  return {
    id: row.id,
    fileId: row.file_id,
    ownerId: row.owner_id,
    name: row.name,
    mediaType: row.media_type,
    kind: row.kind,
    sizeBytes: Number(row.size_bytes),
    status: row.status,
    reason: row.reason,
    tokens: row.tokens,
    createdAt: Number(row.created_at),
    usedAt: row.used_at === null ? null : Number(row.used_at),
  }
}

/** Arrived and not being removed. */
export const isPresent = (
  of: ExpressionBuilder<ConversationTables, 'inlay_files'>,
): ExpressionWrapper<ConversationTables, 'inlay_files', SqlBool> =>
  of.or([of('work', 'is', null), of('work', 'in', ['read', 'index'])])

export const noFile = (): InlayError => new InlayError('NOT_FOUND', { message: 'No such file: upload it first.' })

/** Notes that files are to be made searchable, as far as they are read and held by something. */
export async function queueForIndex(records: ConversationDatabase, ids: readonly string[]): Promise<void> {
  await records
    .updateTable('inlay_files')
    .set({ work: 'index', due_at: 0, attempts: 0 })
    .where(isAmong(records, 'id', ids))
    .where('is_indexed', '=', 1)
    .where('status', '=', 'COMPLETED')
    .where('kind', '!=', 'image')
    .where('work', 'is', null)
    .execute()
}

/** Work in progress on it ends first, so that what it adds to the index is removed as well. */
export async function queueRemoval(records: ConversationDatabase, id: string): Promise<void> {
  await records
    .updateTable('inlay_files')
    .set({ work: 'remove', due_at: dueBy(0) })
    .where('id', '=', id)
    .execute()
}

/** The given time, unless somebody works on the file: then the end of their lease. */
const dueBy = (time: number): RawBuilder<number> => sql`case when claim is null then ${time} else due_at end`

/** Hides a file from new uses until it is known whether something uses it. @returns whether it was unused since then */
export async function hideFile(
  records: ConversationDatabase,
  id: string,
  dueAt: number,
  unusedSince: number = Number.MAX_SAFE_INTEGER,
): Promise<boolean> {
  const { numUpdatedRows } = await records
    .updateTable('inlay_files')
    .set({ work: 'decide', due_at: dueBy(dueAt) })
    .where('id', '=', id)
    .where((of) => of(of.fn.coalesce('used_at', 'created_at'), '<', unusedSince))
    .where(isPresent)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Shows a hidden file again and restores its pending work. */
export async function showFile(records: ConversationDatabase, id: string): Promise<void> {
  await records
    .updateTable('inlay_files')
    .set({
      work: sql<FileWork | null>`case when status = 'PROCESSING' then 'read' end`,
      due_at: dueBy(0),
    })
    .where('id', '=', id)
    .where('work', '=', 'decide')
    .execute()
  await queueForIndex(records, [id])
}

/**
 * Refuses files that are gone or on their way out. In the transaction that puts them to use, after its first write:
 * whoever removes one of them waits for its end.
 */
export async function holdPresent(records: ConversationDatabase, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  let present = records
    .selectFrom('inlay_files')
    .select('id')
    .where(isAmong(records, 'id', ids))
    .where(isPresent)
    .orderBy('id')
  if (hasRowLocks(records)) present = present.forShare()
  const rows = await present.execute()
  if (rows.length < ids.length) throw noFile()
}

export function toSections(json: string): FileSection[] {
  // Written by this folder alone.
  return JSON.parse(json) as FileSection[]
}
