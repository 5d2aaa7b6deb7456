import type { Action } from '@inlay/agent'
import type { Conversations, StoredTool } from '@inlay/conversations'
import { hasScope, toUserId, type Principal, type ToolSnapshot } from '@inlay/protocol'

/** The actions a caller may use now, by id; the functions of one custom action are one entry. */
export async function listSnapshots(agent: Conversations, caller: Principal): Promise<ToolSnapshot[]> {
  const [actions, tools] = await Promise.all([agent.actions(caller), agent.tools.list()])
  const stored = new Map(tools.map((tool) => [tool.id, tool]))
  const seen = new Set<number>()
  return actions.flatMap((action) => {
    if (seen.has(action.id)) return []
    seen.add(action.id)
    const tool = stored.get(action.id)
    return [tool ? toStoredSnapshot(tool, caller) : toSnapshot(action)]
  })
}

const plain = {
  definition: null,
  custom_headers: null,
  passthrough_auth: false,
  mcp_server_id: null,
  user_id: null,
  oauth_config_id: null,
  oauth_config_name: null,
  enabled: true,
  permissions: {},
  chat_selectable: true,
  agent_creation_selectable: true,
  default_enabled: false,
}

/** An action as clients see it. */
export function toSnapshot(action: Action): ToolSnapshot {
  const { id, name, description, displayName, builtIn, mcpServerId } = action
  return {
    ...plain,
    id,
    name,
    description,
    display_name: displayName,
    in_code_tool_id: builtIn,
    mcp_server_id: mcpServerId ?? null,
    // A page is opened because of what a search found; what is remembered of people they say in their personalization.
    chat_selectable: builtIn !== 'OpenURLTool' && builtIn !== 'MemoryTool',
    agent_creation_selectable: builtIn !== 'MemoryTool',
    default_enabled: builtIn === 'OpenURLTool',
  }
}

/** A custom action as clients see it; its headers hold keys, and are for administrators alone. */
export function toStoredSnapshot(tool: StoredTool, caller: Principal): ToolSnapshot {
  const { id, name, description, definition, customHeaders, passesAuth, ownerId, isEnabled } = tool
  return {
    ...plain,
    id,
    name,
    description,
    definition,
    display_name: name,
    in_code_tool_id: null,
    custom_headers: hasScope(caller, 'admin') ? customHeaders : null,
    passthrough_auth: passesAuth,
    user_id: ownerId === null ? null : toUserId(ownerId),
    enabled: isEnabled,
  }
}

/** What a caller may do with a custom action. */
export function toolPermissions(caller: Principal): Readonly<Record<string, boolean>> {
  const isAdmin = hasScope(caller, 'admin')
  return { edit: isAdmin, delete: isAdmin, toggle: isAdmin, authenticate: false }
}
