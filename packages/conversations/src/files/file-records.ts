import type { FileTable } from '../tables/library-tables.ts'
import { sql, type Selectable } from 'kysely'
import type { ConversationDatabase } from '../tables/database.ts'
import type { FileSection, StoredFile } from '@inlay/agent'

/** A stored file as the rest of the agent sees it. */
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

/** Notes that files are to be made searchable, as far as they are read and held by something. */
export async function queueForIndex(records: ConversationDatabase, ids: readonly string[]): Promise<void> {
  await records
    .updateTable('inlay_files')
    .set({ work: 'index', due_at: 0, attempts: 0 })
    .where('id', 'in', ids)
    .where('is_indexed', '=', 1)
    .where('status', '=', 'COMPLETED')
    .where('kind', '!=', 'image')
    .where('work', 'is', null)
    .execute()
}

/** Notes that a file is to go. Whoever works on it ends first: what it puts into the index is then removed as well. */
export async function queueRemoval(records: ConversationDatabase, id: string): Promise<void> {
  await records
    .updateTable('inlay_files')
    .set({ work: 'remove', due_at: sql<number>`case when claim is null then 0 else due_at end` })
    .where('id', '=', id)
    .execute()
}

/** Reads the sections of a text. */
export function toSections(json: string): FileSection[] {
  // Written by this folder alone.
  return JSON.parse(json) as FileSection[]
}
