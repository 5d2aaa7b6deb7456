import { queryInteger, toolSnapshotSchema } from '@inlay/protocol'
import {
  mcpServerChangeSchema,
  mcpServerCreatedSchema,
  mcpServersSchema,
  mcpSignInAddressSchema,
  mcpSignInBeginningSchema,
  mcpSignInEndSchema,
} from '@inlay/protocol/administration'
import * as v from 'valibot'
import { needed } from '../../administration/workspace-of.ts'
import type { McpServerAdministration } from '../../administration/mcp-servers.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import { toSnapshot } from '../chat/tool-snapshots.ts'

const route = routesOf('Actions', { scope: 'admin', owner: 'any' })
const serverPath = v.object({ server_id: queryInteger({}) })

export const mcpServerRoutes: readonly Route[] = [
  route('GET /admin/mcp/servers', 'listAllMcpServers', 'List MCP servers', {
    description: 'Those that the deployment configures, and those that administrators added. Tokens are never shown.',
    answer: { description: 'The servers.', schema: mcpServersSchema },
    handle: async ({ parts }) => ({ mcp_servers: (await parts.mcpServers?.list()) ?? [] }),
  }),
  route('POST /admin/mcp/servers/create', 'createMcpServer', 'Add or change an MCP server', {
    description:
      'Its tools are offered from the next message on. The token is stored encrypted, for this address alone, and never ' +
      'returned.',
    input: { body: mcpServerChangeSchema },
    answer: { description: 'The server.', schema: mcpServerCreatedSchema },
    errors: ['NOT_FOUND', 'DUPLICATE_RESOURCE', 'VALIDATION_ERROR', 'NOT_IMPLEMENTED'],
    async handle({ body, parts }) {
      const { id, name, auth_type, is_authenticated } = await serversOf(parts).save(body)
      return { server_id: id, server_name: name, server_url: body.server_url, auth_type, is_authenticated }
    },
  }),
  route('DELETE /admin/mcp/server/{server_id}', 'deleteMcpServer', 'Remove an MCP server', {
    description: 'Only servers that administrators added.',
    input: { path: serverPath },
    answer: { description: 'Removed.', schema: v.null() },
    errors: ['NOT_FOUND', 'NOT_IMPLEMENTED'],
    handle: ({ path, parts }) => serversOf(parts).remove(path.server_id),
  }),
  route('GET /admin/mcp/server/{server_id}/tools/snapshots', 'listMcpServerTools', 'List the tools of an MCP server', {
    description: 'Asks the server itself, which shows whether it can be reached with its token.',
    input: { path: serverPath },
    answer: { description: 'Its tools.', schema: v.array(toolSnapshotSchema) },
    errors: ['NOT_FOUND', 'AUTH_ERROR', 'BAD_GATEWAY', 'NOT_IMPLEMENTED'],
    handle: async ({ path, parts }) => (await serversOf(parts).tools(path.server_id)).map(toSnapshot),
  }),
  route('POST /admin/mcp/server/{server_id}/sign-in', 'beginMcpSignIn', 'Begin to sign in to an MCP server', {
    description:
      'By OAuth, for servers that administrators added. It takes the place of a sign-in that was not finished.',
    input: { path: serverPath, body: mcpSignInBeginningSchema },
    answer: { description: 'Where the browser has to go.', schema: mcpSignInAddressSchema },
    errors: ['NOT_FOUND', 'BAD_GATEWAY', 'UNSUPPORTED', 'NOT_IMPLEMENTED'],
    handle: async ({ path, body, parts }) => ({
      url: await serversOf(parts).signIn(path.server_id, body.redirect_url),
    }),
  }),
  route('PUT /admin/mcp/server/{server_id}/sign-in', 'finishMcpSignIn', 'Finish to sign in to an MCP server', {
    description: 'The sign-in is stored encrypted where there is a key, renewed by itself, and never returned.',
    input: { path: serverPath, body: mcpSignInEndSchema },
    answer: { description: 'Signed in.', schema: v.null() },
    errors: ['NOT_FOUND', 'BAD_REQUEST', 'BAD_GATEWAY', 'NOT_IMPLEMENTED'],
    handle: ({ path, body, parts }) => serversOf(parts).finishSignIn(path.server_id, new URLSearchParams(body.query)),
  }),
]

const serversOf = ({ mcpServers }: ServerParts): McpServerAdministration =>
  needed(mcpServers, 'MCP servers are configured by the deployment.')
