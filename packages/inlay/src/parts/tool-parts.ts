import type { ActionSource } from '@inlay/agent'
import type { EgressOptions } from '@inlay/drivers/egress'
import type { Kysely } from 'kysely'
import type { ToolOptions } from '../options/tool-options.ts'

/** Opened sources of additional actions. */
export interface ToolParts {
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
    readonly egress: EgressOptions | undefined
    readonly now: () => number
    readonly onError: (error: unknown) => void
  },
): Promise<ToolParts> {
  const isEmpty = typeof mcpServers !== 'function' && mcpServers.length === 0
  if (isEmpty) return { sources: actionSources, close: async () => {} }
  const [{ mcpClient }, { createToolNumbers }] = await Promise.all([
    import('@inlay/drivers/mcp-client'),
    import('@inlay/conversations'),
  ])
  const { db, egress, now, onError } = setting
  const client = mcpClient({ servers: mcpServers, numbers: createToolNumbers(db), egress, now, onError })
  return { sources: [...actionSources, client], close: () => client.close() }
}
