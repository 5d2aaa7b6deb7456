import { InlayError, checkRequired, isObject } from '@inlay/protocol'
import type { ActionAsker, ActionSource, ToolNumbers } from '@inlay/agent'
import { egressStream } from '../http/egress-stream.ts'
import type { EgressOptions } from '../http/egress.ts'
import { toServerHeaders } from './headers.ts'
import { isRefused } from './messages.ts'
import { openSession, type McpSession, type RemoteTool } from './session.ts'
import { createMcpSessions } from './sessions.ts'
import { toToolAction, type OfferedTool } from './tool-action.ts'
import { createToolLists } from './tool-lists.ts'

/** An MCP server whose tools models can call. */
export interface McpServer {
  /** Permanent name: the ids of its tools depend on it. */
  readonly name: string
  /** URL of its endpoint, http or https. */
  readonly url: string
  /** `http` is streamable HTTP, `sse` the older transport. Default `http`. */
  readonly transport?: 'http' | 'sse'
  /** Headers of every request; they take precedence over `mcp_headers` of a message. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string
  /** Headers that calls require; a caller without them gets an error that lists them. Default: none. */
  readonly neededHeaders?: readonly string[]
  /**
   * Whether calls carry the caller's own `Authorization`, if the host passes it on (`passHeaders`). Tools are listed
   * without it. Default: no.
   */
  readonly passAuthorization?: boolean
  /** Whether its host may be in a private network. Default: no. */
  readonly allowPrivate?: boolean
}

/** MCP servers, or a function that returns them for each message, for hosts whose administrators can change them. */
export type McpServers = readonly McpServer[] | (() => Promise<readonly McpServer[]>)

export interface McpClientOptions {
  readonly servers: McpServers
  /** Assigns ids to servers and tools; see `createToolNumbers` of the agent. */
  readonly numbers: ToolNumbers
  /** Limits on reachable hosts; `allowHosts` adds hosts. */
  readonly egress?: EgressOptions
  /**
   * Time for which a list of tools is fresh, in milliseconds; afterwards it is refreshed in the background. Default
   * five minutes.
   */
  readonly listMs?: number
  /** Time for which a failed server is not asked for its tools, in milliseconds. Default half a minute. */
  readonly failedMs?: number
  /** Timeout for connecting and listing, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number
  /** Milliseconds since 1970 UTC. Default: the clock. */
  readonly now?: () => number
  /** Called with failures of servers, whose tools are unavailable meanwhile. */
  readonly onError?: (error: unknown) => void
}

/** Tools of MCP servers as actions. */
export interface McpClient extends ActionSource {
  /** Ends its sessions. */
  close(): Promise<void>
}

/**
 * Creates a client of MCP servers. It connects when tools are first requested.
 * @throws DUPLICATE_RESOURCE when two servers have a name in common, INVALID_INPUT for an address that is none
 * @example
 * mcpClient({ servers: [{ name: 'wiki', url: 'https://wiki.example/mcp', token }], numbers: createToolNumbers(db) })
 */
export function mcpClient(options: McpClientOptions): McpClient {
  checkRequired('mcpClient', options, 'egress listMs failedMs timeoutMs now onError', {
    servers: [
      'a list of { name, url }, or a function that gives one',
      (value) => typeof value === 'function' || Array.isArray(value),
    ],
    numbers: ['what createToolNumbers() makes', isObject],
  })
  const { servers, numbers, now = Date.now, onError = () => {} } = options
  if (typeof servers !== 'function') checkServers(servers)
  const present = async (): Promise<readonly McpServer[]> =>
    typeof servers === 'function' ? checkServers(await servers()) : servers
  const sessions = createMcpSessions({ now })
  const lister = createLister(options)
  const offer = async (server: McpServer, asker: ActionAsker): Promise<OfferedTool[]> => {
    const headers = toServerHeaders(storedHeaders(server), asker.mcpHeaders)
    const missingHeaders = (server.neededHeaders ?? []).filter((name) => headers[name.toLowerCase()] === undefined)
    const tools = await lister(server, headers, missingHeaders.length > 0)
    const serverId = await numbers.numberOf('mcp-server', server.name)
    return Promise.all(
      tools.map(async (tool) => ({
        id: await numbers.numberOf('mcp', JSON.stringify([server.name, tool.name])),
        name: sanitised(tool.name),
        serverId,
        serverName: server.name,
        tool,
        missingHeaders,
        call: (input, turn) => {
          const own = server.passAuthorization === true ? turn.headers?.['authorization'] : undefined
          const all = own === undefined ? headers : { ...headers, authorization: own }
          // One MCP session per chat, so that no chat sees another's state.
          const key = JSON.stringify([server.name, server.url, all, turn.caller.id, turn.sessionId])
          return sessions.use(
            key,
            () => connect(server, all, options),
            (session) => session.call(tool.name, input, turn.signal),
          )
        },
        onError,
      })),
    )
  }
  return {
    list: async (asker) => {
      const offered = (await Promise.all((await present()).map((server) => offer(server, asker)))).flat()
      return withOwnNames(offered).map(toToolAction)
    },
    holds: async (id) => {
      const number = await numbers.find(id)
      if (number?.kind !== 'mcp') return false
      const [name] = JSON.parse(number.name) as [string, string]
      return (await present()).some((server) => server.name === name)
    },
    close: () => sessions.close(),
  }
}

function checkServers(servers: readonly McpServer[]): readonly McpServer[] {
  for (const [index, { name, url }] of servers.entries()) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new InlayError('INVALID_INPUT', { message: `The MCP server ${name} needs a whole http or https address.` })
    }
    if (name.trim() === '' || servers.slice(0, index).some((other) => other.name === name)) {
      throw new InlayError('DUPLICATE_RESOURCE', { message: 'Every MCP server needs a name of its own.' })
    }
  }
  return servers
}

function storedHeaders({ headers = {}, token }: McpServer): Record<string, string> {
  return { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
}

function connect(
  { url, transport = 'http', allowPrivate = false }: McpServer,
  headers: Readonly<Record<string, string>>,
  { egress = {}, timeoutMs = 10_000 }: McpClientOptions,
): Promise<McpSession> {
  const { hostname, port, protocol } = new URL(url)
  const own = `${hostname.replace(/^\[|\]$/g, '')}:${port || (protocol === 'https:' ? '443' : '80')}`
  const allowHosts = [...(egress.allowHosts ?? []), ...(allowPrivate ? [own] : [])]
  const fetch = egressStream({ ...egress, allowHosts })
  return openSession({ url, transport, headers, fetch, timeoutMs }, AbortSignal.timeout(timeoutMs))
}

type Lister = (
  server: McpServer,
  headers: Readonly<Record<string, string>>,
  lacksHeaders: boolean,
) => Promise<readonly RemoteTool[]>

/** Lists tools; failures are reported to the operator. */
function createLister(options: McpClientOptions): Lister {
  const { now = Date.now, onError = () => {}, listMs = 300_000, failedMs = 30_000, timeoutMs = 10_000 } = options
  const lists = createToolLists({ now, listMs, failedMs, patienceMs: Math.min(timeoutMs, 2_000) })
  const fetchTools = async (server: McpServer, headers: Readonly<Record<string, string>>) => {
    const session = await connect(server, headers, options)
    try {
      return await session.list(AbortSignal.timeout(timeoutMs))
    } finally {
      void session.close()
    }
  }
  return (server, headers, lacksHeaders) =>
    lists.of(JSON.stringify([server.name, server.url, headers]), async () => {
      try {
        return await fetchTools(server, headers)
      } catch (error) {
        // A server that requires headers is expected to refuse requests without them.
        if (!lacksHeaders || !isRefused(error)) onError(toReportedError(server, error))
        throw error
      }
    })
}

function toReportedError({ name }: McpServer, cause: unknown): InlayError {
  const message = `The tools of the MCP server ${name} could not be listed; they are left out for now.`
  return new InlayError('BAD_GATEWAY', { message, cause })
}

function sanitised(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}

/** Tools with the same name are prefixed with the name of their server, and if they still collide, get their id. */
function withOwnNames(offered: readonly OfferedTool[]): OfferedTool[] {
  const counts = new Map<string, number>()
  for (const { name } of offered) counts.set(name, (counts.get(name) ?? 0) + 1)
  const used = new Set<string>()
  return offered.map((tool) => {
    const isShared = (counts.get(tool.name) ?? 0) > 1
    const wanted = isShared ? sanitised(`mcp_${tool.serverName}_${tool.tool.name}`) : tool.name
    const name = used.has(wanted) ? `${wanted.slice(0, 50)}_${tool.id}` : wanted
    used.add(name)
    return { ...tool, name }
  })
}
