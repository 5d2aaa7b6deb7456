import type { StoredToolTable } from '../tables/tool-tables.ts'
import type { Insertable, Selectable } from 'kysely'
import type { ToolHeader } from '@inlay/protocol'
import type { StoredTool, StoredToolFields } from './contracts.ts'

export function toStoredTool(row: Selectable<StoredToolTable>): StoredTool {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    // Both were written by this folder alone, from checked fields.
    definition: JSON.parse(row.definition) as StoredTool['definition'],
    customHeaders: JSON.parse(row.custom_headers) as ToolHeader[],
    passesAuth: row.passes_auth === 1,
    isForAll: row.is_for_all === 1,
    ownerId: row.owner_id,
    isEnabled: row.is_enabled === 1,
    updatedAt: Number(row.updated_at),
  }
}

export function toToolColumns(
  tool: Omit<StoredToolFields, 'definition'> & Pick<StoredTool, 'definition'>,
): Omit<Insertable<StoredToolTable>, 'id' | 'owner_id' | 'is_enabled' | 'updated_at'> {
  return {
    name: tool.name,
    description: tool.description,
    definition: JSON.stringify(tool.definition),
    custom_headers: JSON.stringify(tool.customHeaders),
    passes_auth: tool.passesAuth ? 1 : 0,
    is_for_all: tool.isForAll ? 1 : 0,
  }
}
