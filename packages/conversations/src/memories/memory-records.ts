import type { MemoryTable } from '../tables/library-tables.ts'
import type { Selectable } from 'kysely'

import type { Memory } from '@inlay/agent'

export function toMemory(row: Selectable<MemoryTable>): Memory {
  return {
    id: row.id,
    content: row.content,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  }
}
