import type { FileKind, FileStatus } from '@inlay/protocol'
import type { BigInteger, NullableBigInteger } from '@inlay/records'
import type { Generated } from 'kysely'

/**
 * Pending work for a file; rows with pending work form the queue. `arrive`: its bytes are being received, and it is
 * deleted if they stop arriving; `read`: its text has to be read; `index`: it has to be made searchable; `decide`:
 * nobody can see it any more, and it is deleted unless it was just assigned to something; `remove`: everything about it
 * has to be deleted.
 */
export type FileWork = 'arrive' | 'read' | 'index' | 'decide' | 'remove'

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
  /** Id of the current worker's claim; null when nobody works on it. New work waits until the claim ends. */
  claim: string | null
}

export interface FileTextTable {
  /** `id` of the file. */
  id: string
  /** JSON array of FileSections. */
  sections: string
}

export interface ProjectFileTable {
  project_id: number
  /** `id` of the file. */
  id: string
  linked_at: BigInteger
}

export interface ProjectTable {
  id: Generated<number>
  owner_id: string
  name: string
  /** "" when it has none. */
  description: string
  created_at: BigInteger
  /** Instructions for the model in the project's chats; null for none. */
  instructions: string | null
}

export interface PersonaTable {
  id: Generated<number>
  owner_id: string
  owner_email: string | null
  name: string
  description: string
  created_at: BigInteger
  updated_at: BigInteger
  deleted_at: number | string | null
  is_public: number
  /** JSON of PersonaSettings. */
  settings: string
}

export interface MemoryTable {
  id: Generated<number>
  owner_id: string
  content: string
  created_at: BigInteger
  updated_at: BigInteger
}

/** Settings of a person; without a row all have their defaults. */
export interface PersonalizationTable {
  owner_id: string
  name: string
  role: string
  preferences: string
  uses_memories: number
  keeps_memories: number
  updated_at: BigInteger
}
