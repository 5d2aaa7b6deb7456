import type { ToolNumbers } from '@inlay/agent'
import type { McpCheck, McpClient, McpServer, McpServers } from '@inlay/drivers/mcp-client'
import { InlayError } from '@inlay/protocol'
import type { McpServerChange, McpServerSnapshot } from '@inlay/protocol/administration'
import type { McpServerAdministration, WorkspaceRecord, WorkspaceRecords, WorkspaceValues } from '@inlay/server'
import { hasUser, isHttp } from '../options/kinds.ts'
import { unreadable, type Secrets } from './secrets.ts'

type Stored = WorkspaceRecord<'mcp_server'>
type StoredValue = WorkspaceValues['mcp_server']
type ListedServers = Exclude<McpServers, () => unknown>

export interface AddedServersOptions {
  readonly configured: McpServers
  readonly workspace: WorkspaceRecords
  readonly secrets: Secrets
  readonly numbers: ToolNumbers
  readonly check: (server: McpServer) => Promise<McpCheck>
  /** Deletes the sign-in to a server. */
  readonly forget: (server: Pick<McpServer, 'name' | 'url'>) => Promise<void>
  /** Of all servers. */
  readonly client: () => Pick<McpClient, 'signIn' | 'finishSignIn'>
}

/** A token opens only for the address that it was entered for. */
const useOf = (url: string): string => `mcp ${url}`
const invalid = (message: string): InlayError => new InlayError('VALIDATION_ERROR', { message })

/** The configured MCP servers and those that administrators add; processes with the same database share them. */
export function addedServers({ configured, workspace, secrets, numbers, check, forget, client }: AddedServersOptions): {
  readonly servers: () => Promise<ListedServers>
  readonly administration: McpServerAdministration
} {
  const own = async (): Promise<ListedServers> => (typeof configured === 'function' ? await configured() : configured)
  const stored = (): Promise<readonly Stored[]> => workspace.list('mcp_server')
  /** Undefined while its token cannot be read. */
  const toServer = ({ name, url, transport, token: sealed }: StoredValue): McpServer | undefined => {
    const token = sealed === null ? undefined : secrets.open(sealed, useOf(url))
    if (sealed !== null && token === undefined) return undefined
    return { name, url, transport, ...(token !== undefined && { token }) }
  }
  const find = async (id: number): Promise<Stored> => {
    const record = await workspace.get('mcp_server', id)
    if (record) return record
    throw new InlayError('NOT_FOUND', { message: 'No MCP server with this id was added here.' })
  }
  return {
    servers: async () => {
      const [servers, records] = await Promise.all([own(), stored()])
      const added = records.flatMap(({ value }) =>
        servers.some(({ name }) => name === value.name) ? [] : (toServer(value) ?? []),
      )
      return [...servers, ...added]
    },
    administration: {
      async list() {
        const [servers, records] = await Promise.all([own(), stored()])
        const listed = servers.map(async ({ name }): Promise<McpServerSnapshot> => {
          const id = await numbers.numberOf('mcp-server', name)
          return { ...configuredServer, id, name }
        })
        return [...(await Promise.all(listed)), ...records.map(toSnapshot)]
      },
      async save(change) {
        const { existing_server_id: existing, name } = change
        const known = existing === null ? undefined : await find(existing)
        if (known && known.value.name !== name)
          throw invalid('The name of an MCP server is permanent: add another one, and remove this one.')
        const isTaken = [...(await own()), ...(await stored()).map(({ value }) => value)].some(
          (each) => each.name === name,
        )
        if (!known && isTaken)
          throw new InlayError('DUPLICATE_RESOURCE', {
            message: `An MCP server is named ${name}: choose another name.`,
          })
        const value = toValue(change, known, secrets)
        const id = known?.id ?? (await numbers.numberOf('mcp-server', name))
        await workspace.put('mcp_server', id, value)
        if (known && known.value.url !== value.url) await forget(known.value)
        return toSnapshot({ id, value })
      },
      async remove(id) {
        const { value } = await find(id)
        await workspace.remove('mcp_server', id)
        await forget(value)
      },
      async tools(id) {
        const { value } = await find(id)
        const server = toServer(value)
        if (!server) throw unreadable(`the MCP server ${value.name}`)
        const { tools, problem, needsSignIn } = await check(server)
        if (problem !== undefined)
          throw new InlayError(needsSignIn ? 'AUTH_ERROR' : 'BAD_GATEWAY', { message: problem })
        return Promise.all(
          tools.map(async ({ name, description = '' }) => ({
            id: await numbers.numberOf('mcp', JSON.stringify([value.name, name])),
            name,
            displayName: name,
            description,
            builtIn: null,
            mcpServerId: id,
          })),
        )
      },
      signIn: async (id, redirectUrl) => client().signIn((await find(id)).value.name, redirectUrl),
      finishSignIn: async (id, query) => client().finishSignIn((await find(id)).value.name, query),
    },
  }
}

const configuredServer = {
  description: null,
  server_url: null,
  transport: 'STREAMABLE_HTTP',
  auth_type: 'NONE',
  is_authenticated: true,
  is_added: false,
} as const

const toSnapshot = ({ id, value }: Pick<Stored, 'id' | 'value'>): McpServerSnapshot => ({
  id,
  name: value.name,
  description: value.description,
  server_url: value.url,
  transport: value.transport === 'sse' ? 'SSE' : 'STREAMABLE_HTTP',
  auth_type: value.token === null ? 'NONE' : 'API_TOKEN',
  is_authenticated: true,
  is_added: true,
})

function toValue(change: McpServerChange, known: Stored | undefined, secrets: Secrets): StoredValue {
  const { name, description, auth_type: auth, api_token: given } = change
  const url = change.server_url.trim()
  if (!isHttp(url) || hasUser(url))
    throw invalid('"server_url" has to be an http or https address without a user name or password.')
  const kept = known?.value.url === url ? known.value.token : null
  const token = given?.trim() ? secrets.seal(given.trim(), useOf(url)) : kept
  if (auth === 'API_TOKEN' && token === null) throw invalid('"api_token" is missing, or belongs to another address.')
  const transport = change.transport === 'SSE' ? 'sse' : 'http'
  return { name, description, url, transport, token: auth === 'API_TOKEN' ? token : null }
}
