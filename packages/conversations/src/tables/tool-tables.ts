import type { Generated } from 'kysely'

/** A number that a tool has for good. */
export interface ToolNumberTable {
  id: Generated<number>
  /** Kind of the tool: `openapi`, `mcp` … */
  kind: string
  /** Name; unique within its kind. */
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
  /** JSON array of `ToolHeader`. */
  custom_headers: string
  passes_auth: number
  is_for_all: Generated<number>
  owner_id: string
  is_enabled: number
  updated_at: number | string
}

export interface ActionOffTable {
  id: number
}
