import * as v from 'valibot'
import { boolean, choice, dictionary, integer, model, orNull, text, type WireSchema } from '../fields.ts'

/** A header sent with every request of a custom action. */
export interface ToolHeader {
  /** Name of the header. */
  readonly key: string
  /** Value of the header. */
  readonly value: string
}

const toolHeaderSchema: WireSchema<ToolHeader, ToolHeader> = model('ToolHeader', { key: v.string(), value: v.string() })

/** An action as returned to clients. Fields of unsupported features have a fixed value. */
export interface ToolSnapshot {
  /** Id, used in `allowed_tool_ids` and `forced_tool_id`. */
  readonly id: number
  /** Name of the tool as the model sees it. */
  readonly name: string
  /** Description for the model. */
  readonly description: string
  /** OpenAPI document of a custom action; visible to administrators only. */
  readonly definition: Readonly<Record<string, unknown>> | null
  /** Display name. */
  readonly display_name: string
  /** Kind of a built-in action; null for others. */
  readonly in_code_tool_id: string | null
  /** Request headers; visible to administrators only. */
  readonly custom_headers: readonly ToolHeader[] | null
  /** Whether requests carry the caller's Authorization header. */
  readonly passthrough_auth: boolean
  /** Number of the MCP server that provides it. */
  readonly mcp_server_id: number | null
  /** Id of the creator. */
  readonly user_id: string | null
  /** Always null: OAuth for actions is not supported. */
  readonly oauth_config_id: number | null
  /** Always null: OAuth for actions is not supported. */
  readonly oauth_config_name: string | null
  /** Whether it is available. */
  readonly enabled: boolean
  /** Permissions of the caller, by action. */
  readonly permissions: Readonly<Record<string, boolean>>
  /** Whether users can select it for a message. */
  readonly chat_selectable: boolean
  /** Whether it can be assigned to agents. */
  readonly agent_creation_selectable: boolean
  /** Whether new agents have it; for a custom action, whether the default agent has it. */
  readonly default_enabled: boolean
}

export const toolSnapshotSchema: WireSchema<ToolSnapshot> = model('ToolSnapshot', {
  id: integer,
  name: v.string(),
  description: v.string(),
  definition: v.nullable(v.record(v.string(), v.unknown())),
  display_name: v.string(),
  in_code_tool_id: v.nullable(v.string()),
  custom_headers: v.nullable(v.array(toolHeaderSchema)),
  passthrough_auth: boolean,
  mcp_server_id: v.nullable(integer),
  user_id: v.nullable(v.string()),
  oauth_config_id: v.nullable(integer),
  oauth_config_name: v.nullable(v.string()),
  enabled: boolean,
  permissions: v.record(v.string(), boolean),
  chat_selectable: boolean,
  agent_creation_selectable: boolean,
  default_enabled: boolean,
})

/** Body of `POST /admin/tool/custom`. */
export interface CustomTool {
  /** Display name, at most 255 characters. */
  readonly name: string
  /** Purpose of the action. */
  readonly description: string
  /** An OpenAPI 3 document, or the URL of one in JSON. */
  readonly definition: Readonly<Record<string, unknown>> | string
  /** Request headers; visible to administrators only. */
  readonly custom_headers: readonly ToolHeader[]
  /** Whether requests carry the caller's Authorization header. */
  readonly passthrough_auth: boolean
  /** Must be null: OAuth for actions is not supported. */
  readonly oauth_config_id: number | null
  /**
   * Whether the default agent has it, so that everybody can use it; otherwise only agents that list it in `tool_ids`.
   */
  readonly default_enabled: boolean
}

const toolName = v.pipe(text, v.trim(), v.minLength(1), v.maxLength(255))
const documentObject: WireSchema<Readonly<Record<string, unknown>>> = dictionary(v.unknown())
const documentAddress = v.pipe(text, v.trim(), v.minLength(1), v.maxLength(4000))
const definition: WireSchema<CustomTool['definition']> = choice([documentObject, documentAddress], (value) =>
  typeof value === 'string' ? documentAddress : documentObject,
)
const headers: WireSchema<ToolHeader[]> = v.pipe(v.array(toolHeaderSchema), v.maxLength(100))

export const customToolSchema: WireSchema<CustomTool> = model('CustomTool', {
  name: toolName,
  description: v.nullish(text, ''),
  definition,
  custom_headers: v.nullish(headers, () => []),
  passthrough_auth: boolean,
  oauth_config_id: orNull(integer),
  default_enabled: v.nullish(boolean, false),
})

/** Body of `PUT /admin/tool/custom/{tool_id}`. Absent and null fields stay unchanged. */
export type CustomToolUpdate = { readonly [Name in keyof CustomTool]: CustomTool[Name] | null }

export const customToolUpdateSchema: WireSchema<CustomToolUpdate> = model('CustomToolUpdate', {
  name: orNull(toolName),
  description: orNull(text),
  definition: orNull(definition),
  custom_headers: orNull(headers),
  passthrough_auth: orNull(boolean),
  oauth_config_id: orNull(integer),
  default_enabled: orNull(boolean),
})

/** Body of `POST /admin/tool/custom/validate`. */
export interface ToolValidation {
  /** An OpenAPI 3 document, or the URL of one in JSON. */
  readonly definition: CustomTool['definition']
}

export const toolValidationSchema: WireSchema<ToolValidation> = model('ToolValidation', { definition })

/** A function that an OpenAPI document provides to models. */
export interface MethodSpec {
  /** Name of the function. */
  readonly name: string
  /** Summary of the operation. */
  readonly summary: string
  /** Path of its operation. */
  readonly path: string
  /** HTTP method in upper case. */
  readonly method: string
  /** The operation as written in the document. */
  readonly spec: Readonly<Record<string, unknown>>
}

/** Answer of `POST /admin/tool/custom/validate`. */
export interface ToolMethods {
  /** Functions that models would see. */
  readonly methods: readonly MethodSpec[]
}

export const toolMethodsSchema: WireSchema<ToolMethods> = model('ToolMethods', {
  methods: v.array(
    model('MethodSpec', {
      name: v.string(),
      summary: v.string(),
      path: v.string(),
      method: v.string(),
      spec: v.record(v.string(), v.unknown()),
    }),
  ),
})

/** Body of `PATCH /admin/tool/status`. */
export interface ToolStatusUpdate {
  /** Actions to enable or disable. */
  readonly tool_ids: readonly number[]
  /** Whether they are enabled. */
  readonly enabled: boolean
}

export const toolStatusUpdateSchema: WireSchema<ToolStatusUpdate> = model('ToolStatusUpdate', {
  tool_ids: v.pipe(v.array(integer), v.maxLength(1000)),
  enabled: boolean,
})

/** Answer of `PATCH /admin/tool/status`. */
export interface ToolStatus {
  /** Number of changed actions. */
  readonly updated_count: number
  /** Ids of the changed actions; unknown ids are omitted. */
  readonly tool_ids: readonly number[]
}

export const toolStatusSchema: WireSchema<ToolStatus> = model('ToolStatus', {
  updated_count: integer,
  tool_ids: v.array(integer),
})
