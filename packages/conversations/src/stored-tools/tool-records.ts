import type { Generated, Selectable } from 'kysely'
import type { CustomHeader, StoredTool } from './contracts.ts'

/** A number that a tool has for good. */
export interface ToolNumberTable {
  id: Generated<number>
  /** What has the number: `openapi`, `mcp` … */
  kind: string
  /** What it is called among its kind; unique there. */
  name: string
}

/** A tool described by an OpenAPI document; times are milliseconds since 1970 UTC, text where Postgres gives them. */
export interface StoredToolTable {
  /** From `inlay_agent_tool_number`. */
  id: number
  name: string
  description: string
  /** JSON of the document. */
  definition: string
  /** JSON array of {@link CustomHeader}. */
  custom_headers: string
  passes_auth: number
  owner_id: string
  is_enabled: number
  updated_at: number | string
}

/** An action that an administrator switched off. */
export interface ActionOffTable {
  id: number
}

/** The tables of stored tools. */
// A type, not an interface: Kysely wants it to have an index signature.
export type StoredToolTables = {
  inlay_agent_tool_number: ToolNumberTable
  inlay_agent_tool: StoredToolTable
  inlay_agent_action_off: ActionOffTable
}

/** A tool as it is stored. */
export function toStoredTool(row: Selectable<StoredToolTable>): StoredTool {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    // Both were written by this folder alone, from checked fields.
    definition: JSON.parse(row.definition) as StoredTool['definition'],
    customHeaders: JSON.parse(row.custom_headers) as CustomHeader[],
    passesAuth: row.passes_auth === 1,
    ownerId: row.owner_id,
    isEnabled: row.is_enabled === 1,
    updatedAt: Number(row.updated_at),
  }
}

/** The columns that the fields of a tool decide. */
export function toToolColumns(
  tool: Pick<StoredTool, 'name' | 'description' | 'definition' | 'customHeaders' | 'passesAuth'>,
): Pick<StoredToolTable, 'name' | 'description' | 'definition' | 'custom_headers' | 'passes_auth'> {
  return {
    name: tool.name,
    description: tool.description,
    definition: JSON.stringify(tool.definition),
    custom_headers: JSON.stringify(tool.customHeaders),
    passes_auth: tool.passesAuth ? 1 : 0,
  }
}
