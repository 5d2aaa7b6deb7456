import type { McpTool } from '../../administration/mcp-servers.ts'
import type { Conversations, StoredTool } from '@inlay/conversations'
import { hasScope, toUserId, type Principal, type ToolSnapshot } from '@inlay/protocol'

/** Actions that a caller may use, by id. The functions of one custom action are one entry. */
export async function listSnapshots(agent: Conversations, caller: Principal): Promise<ToolSnapshot[]> {
  const grants = await listGrants(agent, caller)
  const isNeeded = grants.some(({ needsGrant }) => needsGrant)
  const isGranted = await grantsOf(agent, caller, isNeeded)
  const usable = grants.filter(({ snapshot, needsGrant }) => !needsGrant || isGranted(snapshot.id))
  return usable.map(({ snapshot }) => snapshot)
}

/** Custom actions that a caller may use, also those that are switched off. */
export async function listCustomTools(agent: Conversations, caller: Principal): Promise<readonly StoredTool[]> {
  const tools = await agent.tools.list()
  const isNeeded = tools.some(({ isForAll }) => !isForAll)
  const isGranted = await grantsOf(agent, caller, isNeeded)
  return tools.filter(({ id, isForAll }) => isForAll || isGranted(id))
}

/** Whether an agent that the caller may use has an action. */
async function grantsOf(agent: Conversations, caller: Principal, isNeeded: boolean): Promise<(id: number) => boolean> {
  if (!isNeeded || hasScope(caller, 'admin')) return () => true
  const personas = await agent.personas.list(caller)
  const granted = new Set(personas.flatMap(({ actionIds }) => actionIds ?? []))
  return (id) => granted.has(id)
}

/** An action, and whether an agent must list it to have it. */
export interface Grant {
  readonly snapshot: ToolSnapshot
  readonly needsGrant: boolean
}

export async function listGrants(agent: Conversations, caller: Principal): Promise<Grant[]> {
  const [actions, tools] = await Promise.all([agent.actions(caller), agent.tools.list()])
  const stored = new Map(tools.map((tool) => [tool.id, tool]))
  const seen = new Set<number>()
  return actions.flatMap((action) => {
    if (seen.has(action.id)) return []
    seen.add(action.id)
    const tool = stored.get(action.id)
    const snapshot = tool ? toStoredSnapshot(tool, caller) : toSnapshot(action)
    return [{ snapshot, needsGrant: action.needsGrant ?? false }]
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

export function toSnapshot(action: McpTool): ToolSnapshot {
  const { id, name, description, displayName, builtIn, mcpServerId } = action
  return {
    ...plain,
    id,
    name,
    description,
    display_name: displayName,
    in_code_tool_id: builtIn,
    mcp_server_id: mcpServerId ?? null,
    // Pages are opened because of search results, and memories are managed in the personalization, so users cannot
    // select either.
    chat_selectable: builtIn !== 'OpenURLTool' && builtIn !== 'MemoryTool',
    agent_creation_selectable: builtIn !== 'MemoryTool',
    default_enabled: builtIn === 'OpenURLTool',
  }
}

/** Its document has internal URLs and its headers have keys, so only administrators see them. */
export function toStoredSnapshot(tool: StoredTool, caller: Principal): ToolSnapshot {
  const { id, name, description, definition, customHeaders, passesAuth, isForAll, ownerId, isEnabled, skipped } = tool
  const mayEdit = hasScope(caller, 'admin')
  return {
    ...plain,
    id,
    name,
    description,
    definition: mayEdit ? definition : null,
    display_name: name,
    in_code_tool_id: null,
    custom_headers: mayEdit ? customHeaders : null,
    passthrough_auth: passesAuth,
    user_id: ownerId === null ? null : toUserId(ownerId),
    enabled: isEnabled,
    agent_creation_selectable: isForAll || mayEdit,
    default_enabled: isForAll,
    ...(skipped && { skipped }),
  }
}

export function toolPermissions(caller: Principal): Readonly<Record<string, boolean>> {
  const isAdmin = hasScope(caller, 'admin')
  return { edit: isAdmin, delete: isAdmin, toggle: isAdmin, authenticate: false }
}
