import type { McpServer } from '@inlay/drivers/mcp-client'
import { settingTable } from './setting-table.ts'

/** The MCP servers from the settings; adds errors to `faults`. */
export function mcpServersOf(
  {
    mcpServers = {},
    mcpTokens = {},
  }: { readonly mcpServers?: Readonly<Record<string, string>>; readonly mcpTokens?: Readonly<Record<string, string>> },
  faults: string[],
): McpServer[] {
  for (const name of Object.keys(mcpTokens)) {
    if (mcpServers[name] !== undefined) continue
    faults.push(`${settingTable.mcpTokens.name}: "${name}" is no server of ${settingTable.mcpServers.name}.`)
  }
  return Object.entries(mcpServers).map(([name, address]) => {
    const token = mcpTokens[name]
    return {
      name,
      url: address.replace(/^sse\+/, ''),
      transport: address.startsWith('sse+') ? 'sse' : 'http',
      ...(token === undefined ? {} : { token }),
    }
  })
}
