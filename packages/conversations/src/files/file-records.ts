import type { FileKind, FileStatus } from '@inlay/protocol'
import type { ColumnType, Selectable } from 'kysely'
import type { ConversationDatabase } from '../tables.ts'
import type { FileSection, StoredFile } from '@inlay/agent'

/** A `bigint`, which Postgres drivers hand out as text: read it through `Number()`. */
export type BigInteger = ColumnType<number | string, number, number>
type NullableBigInteger = ColumnType<number | string | null, number | null, number | null>

/**
 * What is still to be done with a file; the rows with such work are the queue. `arrive`: its bytes are coming in, and
 * unless they keep coming it is to be removed; `read`: its text is to be read; `index`: it is to be made searchable;
 * `remove`: everything of it is to go.
 */
export type FileWork = 'arrive' | 'read' | 'index' | 'remove'

/** One file. */
export interface FileTable {
  id: string
  /** Names the bytes. */
  file_id: string
  owner_id: string
  name: string
  media_type: string
  kind: FileKind
  /** Bytes stored by now. */
  size_bytes: BigInteger
  status: FileStatus
  reason: string | null
  tokens: number | null
  created_at: BigInteger
  used_at: NullableBigInteger
  /** 1: uploaded; 0: made by an action, and not listed. */
  is_listed: number
  /** 1: to be searchable, since a project or an agent holds it. */
  is_indexed: number
  work: FileWork | null
  /** When the work may be taken up; a worker moves it ahead for as long as it needs. */
  due_at: BigInteger
  attempts: number
}

/** What a file says. */
export interface FileTextTable {
  /** `id` of the file. */
  id: string
  /** JSON array of FileSections. */
  sections: string
}

/** That a project holds a file. */
export interface ProjectFileTable {
  project_id: number
  /** `id` of the file. */
  id: string
  linked_at: BigInteger
}

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

/** Reads the sections of a text. */
export function toSections(json: string): FileSection[] {
  // Written by this folder alone.
  return JSON.parse(json) as FileSection[]
}
