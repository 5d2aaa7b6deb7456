import { InlayError, checkRequired, isInlayError, isObject } from '@inlay/protocol'
import type { ActionAsker, ActionSource, ToolNumbers } from '@inlay/agent'
import { egressStream, type EgressStream } from '../http/egress-stream.ts'
import type { EgressOptions } from '../http/egress.ts'
import { toServerHeaders } from './headers.ts'
import { isRefused } from './messages.ts'
import { beginSignIn, finishSignIn, signedIn, signInKey, type McpOAuth, type McpTokens } from './oauth.ts'
import { openSession, type McpSession, type RemoteTool } from './session.ts'
import { createMcpSessions, type McpSessions } from './sessions.ts'
import type { StdioProgram } from './stdio-connection.ts'
import { toToolAction, type OfferedTool } from './tool-action.ts'
import { createToolLists } from './tool-lists.ts'

export { signInKey }
export type { McpOAuth, McpTokens } from './oauth.ts'
export type { RemoteTool } from './session.ts'
export type { StdioProgram } from './stdio-connection.ts'

interface NamedServer {
  /** Permanent name: the ids of its tools depend on it. */
  readonly name: string
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
}

/** An MCP server whose tools models can call. */
export interface McpServer extends NamedServer {
  /** URL of its endpoint, http or https. */
  readonly url: string
  readonly command?: undefined
  /** `http` is streamable HTTP, `sse` the older transport. Default `http`. */
  readonly transport?: 'http' | 'sse'
  /** Whether its host may be in a private network. Default: no. */
  readonly allowPrivate?: boolean
  /** How to sign in, if the server asks for it. Default: by a person, as a client that registers itself. */
  readonly oauth?: McpOAuth
}

/**
 * An MCP server that is a program of the host: it serves by its standard input and output. It runs once for all chats.
 * Needs the package `@modelcontextprotocol/client`.
 */
export interface McpProgram extends NamedServer, StdioProgram {
  readonly url?: undefined
}

/** MCP servers, or a function that returns them for each message, for hosts whose administrators can change them. */
export type McpServers = readonly AnyMcpServer[] | (() => Promise<readonly AnyMcpServer[]>)

type AnyMcpServer = McpServer | McpProgram

export interface McpClientOptions {
  readonly servers: McpServers
  /** Assigns ids to servers and tools; see `createToolNumbers` of the agent. */
  readonly numbers: ToolNumbers
  /** Limits on reachable hosts; `allowHosts` adds hosts. */
  readonly egress?: EgressOptions
  /** Where sign-ins to servers are kept. Default: nowhere, and servers that ask for one refuse. */
  readonly tokens?: McpTokens
  /** Timeout for connecting and listing, in milliseconds. Default 10,000, and 60,000 for programs. */
  readonly timeoutMs?: number
  /** Milliseconds since 1970 UTC. Default: the clock. */
  readonly now?: () => number
  /** Called with failures of servers, whose tools are unavailable meanwhile. */
  readonly onError?: (error: unknown) => void
}

/** A server as a check found it. */
export interface McpCheck {
  readonly name: string
  readonly tools: readonly RemoteTool[]
  /** What is wrong, for the operator. */
  readonly problem?: string
  /** Whether that is that nobody has signed in to it. */
  readonly needsSignIn?: boolean
}

/** Tools of MCP servers as actions. */
export interface McpClient extends ActionSource {
  /** Connects to each server and lists its tools, as a message would. */
  check(): Promise<readonly McpCheck[]>
  /**
   * Begins to sign in to a server.
   * @returns address for the person's browser, which comes back to `redirectUrl`
   * @throws NOT_FOUND, BAD_GATEWAY, UNSUPPORTED when the package `@modelcontextprotocol/client` is not installed
   */
  signIn(name: string, redirectUrl: string): Promise<string>
  /**
   * Ends the newest sign-in that was begun, in any process, with the query of the address that the browser came back to.
   * @throws NOT_FOUND, BAD_GATEWAY; BAD_REQUEST when it was refused
   */
  finishSignIn(name: string, query: URLSearchParams): Promise<void>
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
  checkRequired('mcpClient', options, 'egress tokens timeoutMs now onError', {
    servers: [
      'a list of { name, url }, or a function that gives one',
      (value) => typeof value === 'function' || Array.isArray(value),
    ],
    numbers: ['what createToolNumbers() makes', isObject],
  })
  const { servers, numbers, now = Date.now, onError = () => {} } = options
  if (typeof servers !== 'function') checkServers(servers)
  const present = async (): Promise<readonly AnyMcpServer[]> =>
    typeof servers === 'function' ? checkServers(await servers()) : servers
  const signInParts = async (name: string): Promise<[McpServer, EgressStream, McpTokens]> => {
    const server = (await present()).find((each) => each.name === name)
    if (server?.url !== undefined && options.tokens) return [server, fetchOf(server, options.egress), options.tokens]
    const message = `There is no MCP server ${name} at an address, to which one could sign in.`
    throw new InlayError('NOT_FOUND', { message })
  }
  const sessions = createMcpSessions({ now })
  const lister = createLister(options, sessions)
  const offer = async (server: AnyMcpServer, asker: ActionAsker): Promise<OfferedTool[]> => {
    const headers = toServerHeaders(storedHeaders(server), asker.mcpHeaders)
    const missingHeaders = (server.neededHeaders ?? []).filter((name) => headers[name.toLowerCase()] === undefined)
    const { tools, drop } = await lister(server, headers, missingHeaders.length > 0)
    const serverId = await numbers.numberOf('mcp-server', server.name)
    return Promise.all(
      tools.map(async (tool) => ({
        id: await numbers.numberOf('mcp', JSON.stringify([server.name, tool.name])),
        name: sanitised(tool.name),
        serverId,
        serverName: server.name,
        tool,
        missingHeaders,
        call: (input, turn, onProgress) => {
          const own = server.passAuthorization === true ? turn.headers?.['authorization'] : undefined
          const all = own === undefined ? headers : { ...headers, authorization: own }
          return sessions.use(
            sessionKey(server, all, [turn.caller.id, turn.sessionId]),
            () => connect(server, all, options, drop),
            (session) => session.call(tool, input, turn.signal, onProgress),
            tool.isRepeatable,
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
    check: async () =>
      Promise.all(
        (await present()).map(async (server): Promise<McpCheck> => {
          const { name } = server
          try {
            return { name, tools: await tryMcpServer(server, options) }
          } catch (error) {
            const needsSignIn = isInlayError(error) && error.code === 'AUTH_ERROR'
            const problem = isInlayError(error) ? error.message : String(error)
            return { name, tools: [], problem, ...(needsSignIn && { needsSignIn }) }
          }
        }),
      ),
    signIn: async (name, redirectUrl) => beginSignIn(...(await signInParts(name)), redirectUrl),
    finishSignIn: async (name, query) => finishSignIn(...(await signInParts(name)), query),
    close: () => sessions.close(),
  }
}

function checkServers(servers: readonly AnyMcpServer[]): readonly AnyMcpServer[] {
  for (const [index, server] of servers.entries()) {
    const { name, url, command } = server
    if (command === undefined && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) {
      throw new InlayError('INVALID_INPUT', {
        message: `The MCP server ${name} needs a whole http or https address, or a command.`,
      })
    }
    if (command === undefined && server.oauth?.clientSecret !== undefined && !URL.canParse(server.oauth.issuer ?? '')) {
      throw new InlayError('INVALID_INPUT', {
        message: `The MCP server ${name} has a client secret: name the authorization server that it is for, as oauth.issuer.`,
      })
    }
    if (name.trim() === '' || servers.slice(0, index).some((other) => other.name === name)) {
      throw new InlayError('DUPLICATE_RESOURCE', { message: 'Every MCP server needs a name of its own.' })
    }
  }
  return servers
}

function storedHeaders({ headers = {}, token }: AnyMcpServer): Record<string, string> {
  return { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
}

function connect(
  server: AnyMcpServer,
  headers: Readonly<Record<string, string>>,
  {
    egress,
    timeoutMs = server.command === undefined ? 10_000 : 60_000,
    tokens,
  }: Pick<McpClientOptions, 'egress' | 'timeoutMs' | 'tokens'>,
  onToolsChanged?: () => void,
): Promise<McpSession> {
  if (server.command !== undefined) return openSession({ ...server, timeoutMs, onToolsChanged })
  const { url, transport = 'http' } = server
  const plain = fetchOf(server, egress)
  const isSignedIn = tokens && headers['authorization'] === undefined
  const fetch = isSignedIn ? signedIn(server, plain, tokens) : plain
  return openSession({ url, transport, headers, fetch, timeoutMs, onToolsChanged })
}

function fetchOf({ url, allowPrivate = false }: McpServer, egress: EgressOptions = {}): EgressStream {
  const { hostname, port, protocol } = new URL(url)
  const own = `${hostname.replace(/^\[|\]$/g, '')}:${port || (protocol === 'https:' ? '443' : '80')}`
  return egressStream({ ...egress, allowHosts: [...(egress.allowHosts ?? []), ...(allowPrivate ? [own] : [])] })
}

/** Lists its tools as a message would. @throws what is wrong with it, in words for the operator */
export async function tryMcpServer(
  server: AnyMcpServer,
  options: Pick<McpClientOptions, 'egress' | 'timeoutMs' | 'tokens'> = {},
): Promise<readonly RemoteTool[]> {
  checkServers([server])
  const session = await connect(server, toServerHeaders(storedHeaders(server)), options)
  try {
    return await session.list()
  } finally {
    await session.close()
  }
}

function createLister(options: McpClientOptions, sessions: McpSessions) {
  const { now = Date.now, onError = () => {}, timeoutMs = 10_000 } = options
  const lists = createToolLists({ now, patienceMs: Math.min(timeoutMs, 2_000) })
  return async (server: AnyMcpServer, headers: Readonly<Record<string, string>>, lacksHeaders: boolean) => {
    const key = sessionKey(server, headers)
    const drop = (): void => lists.drop(key)
    const tools = await lists.of(key, async () => {
      try {
        // The session stays open for a while: the server tells by it when its tools change.
        return await sessions.use(
          key,
          () => connect(server, headers, options, drop),
          (session) => session.list(),
          true,
        )
      } catch (error) {
        // A server that requires headers is expected to refuse requests without them.
        if (!lacksHeaders || !isRefused(error)) onError(toReportedError(server, error))
        throw error
      }
    })
    return { tools, drop }
  }
}

/** One session per chat, so that no chat sees another's state; a program of the host's own runs once for all. */
function sessionKey(
  server: AnyMcpServer,
  headers: Readonly<Record<string, string>>,
  chat: readonly string[] = [],
): string {
  return JSON.stringify(server.command === undefined ? [server.name, server.url, headers, ...chat] : [server.name])
}

function toReportedError({ name }: AnyMcpServer, cause: unknown): InlayError {
  const reason = isInlayError(cause) ? ` ${cause.message}` : ''
  const message = `The tools of the MCP server ${name} could not be listed; they are left out for now.${reason}`
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
