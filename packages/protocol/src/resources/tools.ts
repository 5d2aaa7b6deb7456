import * as v from 'valibot'
import { boolean, choice, dictionary, integer, model, orNull, text, type Wire, type WireSchema } from '../fields.ts'

const skippedOperationSchema = model('SkippedOperation', {
  /** HTTP method in upper case. */
  method: v.string(),
  /** Path of the operation. */
  path: v.string(),
  /** Why it is left out, as a clause about it. */
  reason: v.string(),
})

/** An operation of an OpenAPI document that models cannot call, or that was left out. */
export type SkippedOperation = Wire<typeof skippedOperationSchema>

const toolHeaderSchema = model('ToolHeader', {
  /** Name of the header. */
  key: v.string(),
  /** Value of the header. */
  value: v.string(),
})

/** A header sent with every request of a custom action. */
export type ToolHeader = Wire<typeof toolHeaderSchema>

export const toolSnapshotSchema = model('ToolSnapshot', {
  /** Id, used in `allowed_tool_ids` and `forced_tool_id`. */
  id: integer,
  /** Name of the tool as the model sees it. */
  name: v.string(),
  /** Description for the model. */
  description: v.string(),
  /**
   * OpenAPI document of a custom action, as it was given or cut to the operations that are called; visible to
   * administrators only.
   */
  definition: v.nullable(v.record(v.string(), v.unknown())),
  /** Display name. */
  display_name: v.string(),
  /** Kind of a built-in action; null for others. */
  in_code_tool_id: v.nullable(v.string()),
  /** Request headers; visible to administrators only. */
  custom_headers: v.nullable(v.array(toolHeaderSchema)),
  /** Whether requests carry the caller's Authorization header. */
  passthrough_auth: boolean,
  /** Number of the MCP server that provides it. */
  mcp_server_id: v.nullable(integer),
  /** Id of the creator. */
  user_id: v.nullable(v.string()),
  /** Always null: OAuth for actions is not supported. */
  oauth_config_id: v.nullable(integer),
  /** Always null: OAuth for actions is not supported. */
  oauth_config_name: v.nullable(v.string()),
  /** Whether it is available. */
  enabled: boolean,
  /** Permissions of the caller, by action. */
  permissions: v.record(v.string(), boolean),
  /** Whether users can select it for a message. */
  chat_selectable: boolean,
  /** Whether it can be assigned to agents. */
  agent_creation_selectable: boolean,
  /** Whether new agents have it; for a custom action, whether the default agent has it. */
  default_enabled: boolean,
  /** Operations of a document given in this request that the action does not have. Absent if it has all. */
  skipped: v.optional(v.array(skippedOperationSchema)),
})

/** An action as returned to clients. Fields of unsupported features have a fixed value. */
export type ToolSnapshot = Wire<typeof toolSnapshotSchema>

const toolName = v.pipe(text, v.trim(), v.minLength(1), v.maxLength(255))
const documentObject: WireSchema<Readonly<Record<string, unknown>>> = dictionary(v.unknown())
// The largest documents in use have some 30 million characters.
const documentText = v.pipe(text, v.trim(), v.minLength(1), v.maxLength(30 * 2 ** 20))
const definition: WireSchema<Readonly<Record<string, unknown>> | string> = choice(
  [documentObject, documentText],
  (value) => (typeof value === 'string' ? documentText : documentObject),
)
const serverUrl = orNull(v.pipe(text, v.maxLength(4000)))
const operations = orNull(v.pipe(v.array(v.pipe(text, v.minLength(1), v.maxLength(4000))), v.maxLength(1000)))
const headers: WireSchema<ToolHeader[]> = v.pipe(v.array(toolHeaderSchema), v.maxLength(100))

export const customToolSchema = model('CustomTool', {
  /** Display name, at most 255 characters. */
  name: toolName,
  /** Purpose of the action. */
  description: v.nullish(text, ''),
  /** An OpenAPI document (2.0 or 3), its text in JSON or YAML, or its URL. */
  definition,
  /**
   * Operations to take, at most 100: each a function name, `GET /path`, a path, the start of paths (`/path/*`) or
   * `tag:name`. Default: the first 100 that can be called.
   */
  operations,
  /** URL of the service, in place of the servers that the document names. */
  server_url: serverUrl,
  /** Request headers; visible to administrators only. */
  custom_headers: v.nullish(headers, () => []),
  /** Whether requests carry the caller's Authorization header. */
  passthrough_auth: boolean,
  /** Must be null: OAuth for actions is not supported. */
  oauth_config_id: orNull(integer),
  /**
   * Whether the default agent has it, so that everybody can use it; otherwise only agents that list it in `tool_ids`.
   */
  default_enabled: v.nullish(boolean, false),
})

/** Body of `POST /admin/tool/custom`. */
export type CustomTool = Wire<typeof customToolSchema>

/** Body of `PUT /admin/tool/custom/{tool_id}`. Absent and null fields stay unchanged. */
export type CustomToolUpdate = { readonly [Name in keyof CustomTool]: CustomTool[Name] | null }

export const customToolUpdateSchema: WireSchema<CustomToolUpdate> = model('CustomToolUpdate', {
  name: orNull(toolName),
  description: orNull(text),
  definition: orNull(definition),
  operations,
  server_url: serverUrl,
  custom_headers: orNull(headers),
  passthrough_auth: orNull(boolean),
  oauth_config_id: orNull(integer),
  default_enabled: orNull(boolean),
})

export const toolValidationSchema = model('ToolValidation', {
  /** An OpenAPI document (2.0 or 3), its text in JSON or YAML, or its URL. */
  definition,
  /** URL of the service, in place of the servers that the document names. */
  server_url: serverUrl,
})

/** Body of `POST /admin/tool/custom/validate`. */
export type ToolValidation = Wire<typeof toolValidationSchema>

const methodSpecSchema = model('MethodSpec', {
  /** Name of the function. */
  name: v.string(),
  /** Summary of the operation. */
  summary: v.string(),
  /** Path of its operation. */
  path: v.string(),
  /** HTTP method in upper case. */
  method: v.string(),
  /** The operation as written in the document. */
  spec: v.record(v.string(), v.unknown()),
})

/** A function that an OpenAPI document provides to models. */
export type MethodSpec = Wire<typeof methodSpecSchema>

export const toolMethodsSchema = model('ToolMethods', {
  /** Functions that models would see. */
  methods: v.array(methodSpecSchema),
  /** Operations that models cannot call, with the reason. */
  skipped: v.array(skippedOperationSchema),
  /** Servers of the document that can be called; the first is, unless `server_url` names another. */
  servers: v.array(v.string()),
})

/** Answer of `POST /admin/tool/custom/validate`. */
export type ToolMethods = Wire<typeof toolMethodsSchema>

export const toolStatusUpdateSchema = model('ToolStatusUpdate', {
  /** Actions to enable or disable. */
  tool_ids: v.pipe(v.array(integer), v.maxLength(1000)),
  /** Whether they are enabled. */
  enabled: boolean,
})

/** Body of `PATCH /admin/tool/status`. */
export type ToolStatusUpdate = Wire<typeof toolStatusUpdateSchema>

export const toolStatusSchema = model('ToolStatus', {
  /** Number of changed actions. */
  updated_count: integer,
  /** Ids of the changed actions; unknown ids are omitted. */
  tool_ids: v.array(integer),
})

/** Answer of `PATCH /admin/tool/status`. */
export type ToolStatus = Wire<typeof toolStatusSchema>
