import type { ActionSource } from '@inlay/agent'
import type { EgressOptions } from '@inlay/drivers/egress'
import type { Kysely } from 'kysely'
import type { ToolOptions } from '../options/part-options.ts'

/** The sources of further actions, opened. */
export interface ToolParts {
  readonly sources: readonly ActionSource[]
  /** Ends what is open to servers. */
  close(): Promise<void>
}

/**
 * Makes the sources of further actions. Nothing is reached before a message asks for it.
 * @throws DUPLICATE_RESOURCE, INVALID_INPUT for MCP servers that cannot be
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
