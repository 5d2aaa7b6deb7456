import * as v from 'valibot'
import { boolean, choice, dictionary, integer, model, orNull, text, type WireSchema } from '../fields.ts'

/** A header that goes with every request of a custom action. */
export interface ToolHeader {
  /** Name of the header. */
  readonly key: string
  /** Value of the header. */
  readonly value: string
}

const toolHeaderSchema: WireSchema<ToolHeader, ToolHeader> = model('ToolHeader', { key: v.string(), value: v.string() })

/** An action as clients see it; fields without a meaning here keep their neutral value. */
export interface ToolSnapshot {
  /** For `allowed_tool_ids` and `forced_tool_id`. */
  readonly id: number
  /** The name the model sees. */
  readonly name: string
  /** What the action does, as the model is told. */
  readonly description: string
  /** OpenAPI document of a custom action; administrators alone see it. */
  readonly definition: Readonly<Record<string, unknown>> | null
  /** What people call the action. */
  readonly display_name: string
  /** Kind of a built-in action; null for others. */
  readonly in_code_tool_id: string | null
  /** Headers of its requests; administrators alone see them. */
  readonly custom_headers: readonly ToolHeader[] | null
  /** Whether its requests carry the Authorization of the caller. */
  readonly passthrough_auth: boolean
  /** Number of the MCP server that offers it. */
  readonly mcp_server_id: number | null
  /** Who made it. */
  readonly user_id: string | null
  /** Always null: there is no OAuth for actions. */
  readonly oauth_config_id: number | null
  /** Always null: there is no OAuth for actions. */
  readonly oauth_config_name: string | null
  /** Whether it can be used. */
  readonly enabled: boolean
  /** What the caller may do with it. */
  readonly permissions: Readonly<Record<string, boolean>>
  /** Whether a person picks it for a message, as opposed to the model alone. */
  readonly chat_selectable: boolean
  /** Whether agents can be given it. */
  readonly agent_creation_selectable: boolean
  /** Whether new agents have it; of a custom action, whether the default agent has it. */
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
  /** What people call the action, at most 255 characters. */
  readonly name: string
  /** What the action is for. */
  readonly description: string
  /** An OpenAPI 3 document, or the address of one in JSON. */
  readonly definition: Readonly<Record<string, unknown>> | string
  /** Shown to administrators alone. */
  readonly custom_headers: readonly ToolHeader[]
  /** Whether requests carry the Authorization of the caller. */
  readonly passthrough_auth: boolean
  /** Only null: there is no OAuth for actions. */
  readonly oauth_config_id: number | null
  /** Whether the default agent has it, and so everybody; else only agents whose `tool_ids` name it. */
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

/** Body of `PUT /admin/tool/custom/{tool_id}`: what is absent or null stays. */
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
  /** An OpenAPI 3 document, or the address of one in JSON. */
  readonly definition: CustomTool['definition']
}

export const toolValidationSchema: WireSchema<ToolValidation> = model('ToolValidation', { definition })

/** A function that a document gives to models. */
export interface MethodSpec {
  /** Name of the function. */
  readonly name: string
  /** What it does. */
  readonly summary: string
  /** Path of its operation. */
  readonly path: string
  /** In capitals. */
  readonly method: string
  /** The operation as it stands in the document. */
  readonly spec: Readonly<Record<string, unknown>>
}

/** Answer of `POST /admin/tool/custom/validate`. */
export interface ToolMethods {
  /** The functions that models would see. */
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
  /** The actions to switch. */
  readonly tool_ids: readonly number[]
  /** Whether they can be used from now on. */
  readonly enabled: boolean
}

export const toolStatusUpdateSchema: WireSchema<ToolStatusUpdate> = model('ToolStatusUpdate', {
  tool_ids: v.pipe(v.array(integer), v.maxLength(1000)),
  enabled: boolean,
})

/** Answer of `PATCH /admin/tool/status`. */
export interface ToolStatus {
  /** How many actions were switched. */
  readonly updated_count: number
  /** Those that were switched; ids of anything else are left out. */
  readonly tool_ids: readonly number[]
}

export const toolStatusSchema: WireSchema<ToolStatus> = model('ToolStatus', {
  updated_count: integer,
  tool_ids: v.array(integer),
})
