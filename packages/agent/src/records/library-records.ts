import type { Generated } from 'kysely'
import type { BigInteger, FileTable, FileTextTable, ProjectFileTable } from '../files/file-records.ts'

/** A project. */
export interface ProjectTable {
  id: Generated<number>
  owner_id: string
  name: string
  /** "" when it has none. */
  description: string
  created_at: BigInteger
  /** What its chats are told; null when nothing. */
  instructions: string | null
}

/** An agent that somebody made. */
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

/** Whether a number can be the id of a row: databases refuse to look for others. */
export function isRowId(id: number): boolean {
  return Number.isInteger(id) && id > 0 && id < 2 ** 31
}

/** The tables of files, agents and projects. */
// A type, not an interface: Kysely wants it to have an index signature.
export type LibraryTables = {
  inlay_files: FileTable
  inlay_file_texts: FileTextTable
  inlay_projects: ProjectTable
  inlay_project_files: ProjectFileTable
  inlay_personas: PersonaTable
}
