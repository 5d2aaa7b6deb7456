import type { ActionSource } from '@inlay/agent'
import type { EgressOptions } from '@inlay/drivers/egress'
import type { Kysely } from 'kysely'
import type { McpCheck, McpClient, McpServer, McpTokens } from '@inlay/drivers/mcp-client'
import type { McpServerAdministration, WorkspaceRecords } from '@inlay/server'
import type { ToolOptions } from '../options/tool-options.ts'
import { addedServers } from './added-servers.ts'
import type { Secrets } from './secrets.ts'

export interface ToolParts extends Pick<McpClient, 'check' | 'signIn' | 'finishSignIn'> {
  readonly sources: readonly ActionSource[]
  readonly administration: McpServerAdministration
  close(): Promise<void>
}

/** Connects only when a message needs it. @throws DUPLICATE_RESOURCE, INVALID_INPUT for invalid MCP servers */
export async function toolParts(
  { actionSources = [], mcpServers = [] }: ToolOptions,
  setting: {
    readonly db: Kysely<unknown>
    readonly workspace: WorkspaceRecords
    readonly secrets: Secrets
    readonly egress: EgressOptions | undefined
    readonly now: () => number
    readonly onError: (error: unknown) => void
  },
): Promise<ToolParts> {
  const [{ mcpClient, signInKey }, { createToolNumbers }] = await Promise.all([
    import('@inlay/drivers/mcp-client'),
    import('@inlay/conversations'),
  ])
  const { db, workspace, secrets, egress, now, onError } = setting
  const given = { numbers: createToolNumbers(db), egress, tokens: mcpTokens(workspace, secrets), now, onError }
  // Servers of the configuration that cannot be stop the start.
  if (typeof mcpServers !== 'function') await mcpClient({ ...given, servers: mcpServers }).close()
  const check = async (server: McpServer): Promise<McpCheck> => {
    const client = mcpClient({ ...given, servers: [server] })
    try {
      const [checked] = await client.check()
      return checked ?? { name: server.name, tools: [] }
    } finally {
      await client.close()
    }
  }
  const forget = async (server: Pick<McpServer, 'name' | 'url'>): Promise<void> =>
    void (await workspace.remove('mcp_sign_in', 1, signInKey(server)))
  const added = addedServers({
    configured: mcpServers,
    workspace,
    secrets,
    numbers: given.numbers,
    check,
    forget,
    client: () => client,
  })
  const client = mcpClient({ ...given, servers: added.servers })
  return { ...client, sources: [...actionSources, client], administration: added.administration }
}

/** Sign-ins to MCP servers, where all processes find them; encrypted where there is a key. */
export const mcpTokens = (workspace: WorkspaceRecords, secrets: Secrets): McpTokens => ({
  read: async (server) => {
    const stored = (await workspace.get('mcp_sign_in', 1, server))?.value
    return stored === undefined || stored.startsWith('{') ? stored : secrets.open(stored, `sign-in ${server}`)
  },
  write: (server, signIn) =>
    workspace.put('mcp_sign_in', 1, secrets.hasKey ? secrets.seal(signIn, `sign-in ${server}`) : signIn, server),
})
