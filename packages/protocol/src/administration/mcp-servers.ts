import * as v from 'valibot'
import { boolean, integer, model, orNull, text, type Wire } from '../fields.ts'

const transport = v.picklist(['STREAMABLE_HTTP', 'SSE'])
const authType = v.picklist(['NONE', 'API_TOKEN'])

export const mcpServerSchema = model('McpServer', {
  /** Id, `mcp_server_id` of its tools. */
  id: integer,
  /** Name, permanent: the ids of its tools depend on it. */
  name: v.string(),
  /** Description for administrators. */
  description: v.nullable(v.string()),
  /** Address; null for servers that the deployment configures. */
  server_url: v.nullable(v.string()),
  /** How messages are carried. */
  transport,
  /** How requests are authenticated. */
  auth_type: authType,
  /** Whether a token is stored, or none is needed. */
  is_authenticated: boolean,
  /** Whether an administrator added it, and may change it. */
  is_added: boolean,
})

/** An MCP server whose tools models can call. */
export type McpServerSnapshot = Wire<typeof mcpServerSchema>

export const mcpServersSchema = model('McpServers', {
  /** Those of the configuration first. */
  mcp_servers: v.array(mcpServerSchema),
})

/** Answer of `GET /admin/mcp/servers`. */
export type McpServerSnapshots = Wire<typeof mcpServersSchema>

export const mcpServerChangeSchema = model('McpServerChange', {
  /** Name, permanent: the ids of its tools depend on it. */
  name: v.pipe(text, v.trim(), v.nonEmpty(), v.maxLength(100)),
  /** Description for administrators. */
  description: orNull(text),
  /** Address of its endpoint, http or https. */
  server_url: text,
  /** How messages are carried. */
  transport: v.optional(transport, 'STREAMABLE_HTTP'),
  /** `API_TOKEN`: with `api_token` as bearer token. */
  auth_type: v.optional(authType, 'NONE'),
  /** Stored encrypted and never returned; null keeps the one of this address. */
  api_token: orNull(text),
  /** Id of the server to change; null adds one. */
  existing_server_id: orNull(integer),
})

/** Body of `POST /admin/mcp/servers/create`. */
export type McpServerChange = Wire<typeof mcpServerChangeSchema>

export const mcpServerCreatedSchema = model('McpServerCreated', {
  /** Id, `mcp_server_id` of its tools. */
  server_id: integer,
  /** Name. */
  server_name: v.string(),
  /** Address. */
  server_url: v.string(),
  /** How requests are authenticated. */
  auth_type: authType,
  /** Whether a token is stored, or none is needed. */
  is_authenticated: boolean,
})

export const mcpSignInBeginningSchema = model('McpSignInBeginning', {
  /** Address that the browser comes back to, http or https. */
  redirect_url: v.pipe(text, v.url()),
})

/** Body of `POST /admin/mcp/server/{server_id}/sign-in`. */
export type McpSignInBeginning = Wire<typeof mcpSignInBeginningSchema>

export const mcpSignInAddressSchema = model('McpSignInAddress', {
  /** Address for the browser of the person who signs in. */
  url: v.string(),
})

/** Answer of `POST /admin/mcp/server/{server_id}/sign-in`. */
export type McpSignInAddress = Wire<typeof mcpSignInAddressSchema>

export const mcpSignInEndSchema = model('McpSignInEnd', {
  /** Query of the address that the browser came back to, without the question mark. */
  query: text,
})

/** Body of `PUT /admin/mcp/server/{server_id}/sign-in`. */
export type McpSignInEnd = Wire<typeof mcpSignInEndSchema>
