import * as v from 'valibot'
import { integer, model, type WireSchema } from './fields.ts'

/** An action as clients see it; fields without a meaning here keep their neutral value. */
export interface ToolSnapshot {
  /** For `allowed_tool_ids` and `forced_tool_id`. */
  readonly id: number
  /** The name the model sees. */
  readonly name: string
  readonly description: string
  /** OpenAPI document of a custom action. */
  readonly definition: Readonly<Record<string, unknown>> | null
  readonly display_name: string
  /** Kind of a built-in action; null for others. */
  readonly in_code_tool_id: string | null
  readonly custom_headers: readonly { readonly key: string; readonly value: string }[] | null
  readonly passthrough_auth: boolean
  readonly mcp_server_id: number | null
  /** Who made it. */
  readonly user_id: string | null
  readonly oauth_config_id: number | null
  readonly oauth_config_name: string | null
  readonly enabled: boolean
  readonly permissions: Readonly<Record<string, boolean>>
  /** Whether a person picks it for a message, as opposed to the model alone. */
  readonly chat_selectable: boolean
  readonly agent_creation_selectable: boolean
  readonly default_enabled: boolean
}

/** Schema of {@link ToolSnapshot}. */
export const toolSnapshotSchema: WireSchema<ToolSnapshot> = model({
  id: integer,
  name: v.string(),
  description: v.string(),
  definition: v.nullable(v.record(v.string(), v.unknown())),
  display_name: v.string(),
  in_code_tool_id: v.nullable(v.string()),
  custom_headers: v.nullable(v.array(model({ key: v.string(), value: v.string() }))),
  passthrough_auth: v.boolean(),
  mcp_server_id: v.nullable(integer),
  user_id: v.nullable(v.string()),
  oauth_config_id: v.nullable(integer),
  oauth_config_name: v.nullable(v.string()),
  enabled: v.boolean(),
  permissions: v.record(v.string(), v.boolean()),
  chat_selectable: v.boolean(),
  agent_creation_selectable: v.boolean(),
  default_enabled: v.boolean(),
})
