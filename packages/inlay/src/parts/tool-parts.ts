import type { ActionSource } from '@inlay/agent'
import type { EgressOptions } from '@inlay/drivers/egress'
import { InlayError } from '@inlay/protocol'
import type { Kysely } from 'kysely'
import type { McpClient, McpTokens } from '@inlay/drivers/mcp-client'
import type { WorkspaceRecords } from '@inlay/server'
import type { ToolOptions } from '../options/tool-options.ts'

/** Opened sources of additional actions. */
export interface ToolParts extends Pick<McpClient, 'check' | 'signIn'> {
  readonly sources: readonly ActionSource[]
  /** Closes connections to servers. */
  close(): Promise<void>
}

/**
 * Creates the sources of additional actions. Connects only when a message needs them.
 * @throws DUPLICATE_RESOURCE, INVALID_INPUT for invalid MCP servers
 */
export async function toolParts(
  { actionSources = [], mcpServers = [] }: ToolOptions,
  setting: {
    readonly db: Kysely<unknown>
    readonly workspace: WorkspaceRecords
    readonly egress: EgressOptions | undefined
    readonly now: () => number
    readonly onError: (error: unknown) => void
  },
): Promise<ToolParts> {
  const isEmpty = typeof mcpServers !== 'function' && mcpServers.length === 0
  if (isEmpty) return { sources: actionSources, check: async () => [], signIn: noServer, close: async () => {} }
  const [{ mcpClient }, { createToolNumbers }] = await Promise.all([
    import('@inlay/drivers/mcp-client'),
    import('@inlay/conversations'),
  ])
  const { db, workspace, egress, now, onError } = setting
  const tokens = mcpTokens(workspace)
  const client = mcpClient({ servers: mcpServers, numbers: createToolNumbers(db), egress, tokens, now, onError })
  return { ...client, sources: [...actionSources, client] }
}

async function noServer(): Promise<never> {
  throw new InlayError('NOT_FOUND', { message: 'There are no MCP servers: set INLAY_MCP_SERVERS or mcpServers.' })
}

/** Sign-ins to MCP servers, where all processes find them. */
const mcpTokens = (workspace: WorkspaceRecords): McpTokens => ({
  read: async (server) => (await workspace.get('mcp_sign_in', 1, server))?.value,
  write: (server, signIn) => workspace.put('mcp_sign_in', 1, signIn, server),
})
