import type { Generated, Selectable } from 'kysely'
import type { BigInteger } from '../files/file-records.ts'
import type { Memory } from '@inlay/agent'

/** A memory. */
export interface MemoryTable {
  id: Generated<number>
  owner_id: string
  content: string
  created_at: BigInteger
  updated_at: BigInteger
}

/** What a person set; without a row all has its default. */
export interface PersonalizationTable {
  owner_id: string
  name: string
  role: string
  preferences: string
  uses_memories: number
  keeps_memories: number
  updated_at: BigInteger
}

/** The tables of memories. */
// A type, not an interface: Kysely wants it to have an index signature.
export type MemoryTables = {
  inlay_memories: MemoryTable
  inlay_personalizations: PersonalizationTable
}

/** A row as the program holds it. */
export function toMemory(row: Selectable<MemoryTable>): Memory {
  return {
    id: row.id,
    content: row.content,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  }
}
