import { InlayError, isJsonObject, visibleText, type JsonObject } from '@inlay/protocol'
import manifest from '../../package.json' with { type: 'json' }
import { connectByHttp, type ConnectionOptions } from './http-connection.ts'
import { isLost, isRefused, statelessVersion, type Connection, type Reply, type RequestOptions } from './messages.ts'
import { connectBySse } from './sse-connection.ts'
import { connectByStdio, type StdioProgram } from './stdio-connection.ts'

export interface RemoteTool {
  readonly name: string
  /** Display name; "" if the server has none. */
  readonly title: string
  /** Description for models; "" if the server has none. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject
  /** Whether the server says that calls change nothing. */
  readonly isReadOnly: boolean
  /** Whether a second call does no harm: it only reads, or does the same again. */
  readonly isRepeatable: boolean
}

export interface RemoteOutcome {
  /** Parts of `content` as the server sent them. */
  readonly content: readonly JsonObject[]
  readonly structured: unknown
  readonly isError: boolean
}

/** Progress of a call as a text, such as `3 of 5: reading`. */
export type OnProgress = (text: string) => void

/** An open session with a server. Requests may run concurrently. */
export interface McpSession {
  /** Lists up to 200 tools, without unnamed ones and those whose argument schema is too long. */
  list(): Promise<readonly RemoteTool[]>
  /** Calls a tool. A refusal by the server is an outcome; a call that did not reach it rejects. */
  call(
    tool: Pick<RemoteTool, 'name' | 'inputSchema'>,
    input: JsonObject,
    signal: AbortSignal,
    onProgress?: OnProgress,
  ): Promise<RemoteOutcome>
  /** Ends it; never rejects. */
  close(): Promise<void>
}

const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
const callMs = 600_000
const maxPages = 50
// Far more than a model can choose from; every tool gets a permanent id.
const maxTools = 200
// Tool descriptions of a server are part of every prompt.
const descriptionChars = 4_000
// People read a title where they approve a call.
const titleChars = 200
const schemaChars = 40_000
const clientInfo = { name: 'inlay', version: manifest.version }
// Of every request where there is no handshake.
const envelope = {
  'io.modelcontextprotocol/protocolVersion': statelessVersion,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** `timeoutMs` is for each step but a call. */
export type SessionOptions = { readonly timeoutMs: number } & (
  | (ConnectionOptions & { readonly transport: 'http' | 'sse' })
  | (StdioProgram & Pick<ConnectionOptions, 'onToolsChanged'>)
)

/**
 * The handshake first: old servers may hang or end at anything before it, and a server without it says so at once.
 * @throws BAD_GATEWAY, GATEWAY_TIMEOUT, BAD_REQUEST (address refused)
 */
export async function openSession(options: SessionOptions): Promise<McpSession> {
  return inTime(options.timeoutMs, (limits) => openWithin(options, limits))
}

/** Both for connecting and for listing: a server that answers a little at a time is given up too. */
async function inTime<Result>(timeoutMs: number, work: (limits: RequestOptions) => Promise<Result>): Promise<Result> {
  const signal = AbortSignal.timeout(timeoutMs)
  return work({ signal, timeoutMs }).catch((error: unknown) => {
    if (!signal.aborted) throw error
    throw new InlayError('GATEWAY_TIMEOUT', { message: 'The MCP server did not answer in time.', cause: error })
  })
}

async function openWithin(options: SessionOptions, limits: RequestOptions): Promise<McpSession> {
  const { timeoutMs, onToolsChanged } = options
  const connection = await connect(options, limits)
  let isStateless = false
  const request: Connection['request'] = (method, params, own) => {
    if (!isStateless) return connection.request(method, params, own)
    const { _meta } = params
    const enveloped = { ...params, _meta: { ...(isJsonObject(_meta) && _meta), ...envelope } }
    return connection.request(method, enveloped, { ...own, headers: { ...own.headers, ...headersOf(method, params) } })
  }
  try {
    const introduced = await introduce(connection, limits).catch(async (error: unknown) => {
      if (isRefused(error) || isLost(error) || limits.signal.aborted) throw error
      isStateless = true
      connection.agree(statelessVersion)
      const discovery = await ask(request, 'server/discover', limits, {}).catch(() => undefined)
      const { supportedVersions } = discovery ?? {}
      if (!Array.isArray(supportedVersions) || !supportedVersions.includes(statelessVersion)) throw error
      return discovery!
    })
    const { capabilities } = introduced
    const tools = isJsonObject(capabilities) ? capabilities['tools'] : undefined
    if (onToolsChanged && isJsonObject(tools) && tools['listChanged'] === true) listen(connection, isStateless)
  } catch (error) {
    await connection.close()
    throw error
  }
  return {
    list: () => inTime(timeoutMs, (within) => listTools(request, within)),
    call: (tool, input, callSignal, onProgress) =>
      callTool(request, { ...tool, input, isStateless }, callSignal, onProgress),
    close: () => connection.close(),
  }
}

async function connect(options: SessionOptions, limits: RequestOptions): Promise<Connection> {
  if ('command' in options) return connectByStdio(options, options.onToolsChanged)
  return options.transport === 'sse' ? connectBySse(options, limits) : connectByHttp(options)
}

/** The handshake of the revisions before 2026-07-28. */
async function introduce(connection: Connection, limits: RequestOptions): Promise<JsonObject> {
  const result = await ask(connection.request, 'initialize', limits, {
    protocolVersion: versions[0],
    capabilities: {},
    clientInfo,
  })
  const { protocolVersion } = result
  if (typeof protocolVersion !== 'string' || !versions.includes(protocolVersion)) {
    throw new InlayError('BAD_GATEWAY', { message: 'The MCP server speaks a version that is not known here.' })
  }
  connection.agree(protocolVersion)
  await connection.notify('notifications/initialized')
  return result
}

function listen(connection: Connection, isStateless: boolean): void {
  const method = 'subscriptions/listen'
  const params = { notifications: { toolsListChanged: true }, _meta: envelope }
  connection.listen(isStateless ? { method, params, headers: headersOf(method, params) } : undefined)
}

/** Headers that repeat what a request is about, for proxies between. */
function headersOf(method: string, { name }: JsonObject): Record<string, string> {
  return { 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }) }
}

function headerValue(value: string): string {
  if (/^[!-~]([ -~]*[!-~])?$/.test(value) && !value.startsWith('=?')) return value
  return `=?base64?${Buffer.from(value).toString('base64')}?=`
}

/** The arguments that a server wants repeated as headers: those that its schema marks. */
function argumentHeaders({ properties }: JsonObject, input: JsonObject): Record<string, string> {
  if (!isJsonObject(properties)) return {}
  return Object.assign(
    {},
    ...Object.entries(properties).map(([name, schema]) => {
      const value = input[name]
      if (!isJsonObject(schema)) return {}
      if (isJsonObject(value)) return argumentHeaders(schema, value)
      const header = schema['x-mcp-header']
      const isSent = typeof header === 'string' && /^[\w-]{1,100}$/.test(header) && /^[snb]/.test(typeof value)
      return isSent ? { [`mcp-param-${header.toLowerCase()}`]: headerValue(String(value)) } : {}
    }),
  ) as Record<string, string>
}

type Request = (method: string, params: JsonObject, options: RequestOptions) => Promise<Reply>

async function ask(request: Request, method: string, limits: RequestOptions, params: JsonObject): Promise<JsonObject> {
  const reply = await request(method, params, limits)
  if ('result' in reply) return reply.result
  const { code, text } = reply.error
  const message = `The MCP server refused ${method} with code ${code}: ${text.slice(0, 300).toWellFormed()}`
  throw new InlayError('BAD_GATEWAY', { message })
}

async function listTools(request: Request, limits: RequestOptions): Promise<RemoteTool[]> {
  const tools: RemoteTool[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const result = await ask(request, 'tools/list', limits, cursor === undefined ? {} : { cursor })
    if (Array.isArray(result['tools'])) tools.push(...(result['tools'] as unknown[]).flatMap(toTool))
    const { nextCursor } = result
    if (typeof nextCursor !== 'string' || nextCursor === '') break
    cursor = nextCursor
  }
  return tools.slice(0, maxTools)
}

function toTool(value: unknown): RemoteTool[] {
  if (!isJsonObject(value) || typeof value['name'] !== 'string' || !/^.{1,200}$/s.test(value['name'])) return []
  const { name, title, description, inputSchema, annotations } = value
  if (JSON.stringify(inputSchema ?? {}).length > schemaChars) return []
  const { title: hint, readOnlyHint, idempotentHint } = isJsonObject(annotations) ? annotations : {}
  return [
    {
      name,
      title: shortened(typeof title === 'string' ? title : typeof hint === 'string' ? hint : ''),
      description: typeof description === 'string' ? description.slice(0, descriptionChars).toWellFormed() : '',
      inputSchema: isJsonObject(inputSchema) ? inputSchema : {},
      isReadOnly: readOnlyHint === true,
      isRepeatable: readOnlyHint === true || idempotentHint === true,
    },
  ]
}

const shortened = (title: string): string => visibleText(title.slice(0, titleChars)).slice(0, titleChars).toWellFormed()

interface ToolCall extends Pick<RemoteTool, 'name' | 'inputSchema'> {
  readonly input: JsonObject
  readonly isStateless: boolean
}

async function callTool(
  request: Request,
  { name, inputSchema, input, isStateless }: ToolCall,
  signal: AbortSignal,
  onProgress?: OnProgress,
): Promise<RemoteOutcome> {
  const progress = onProgress && { _meta: { progressToken: ++progressTokens } }
  const reply = await request(
    'tools/call',
    { name, arguments: input, ...progress },
    {
      signal,
      timeoutMs: callMs,
      onProgress: onProgress && ((params) => onProgress(progressText(params))),
      headers: isStateless ? argumentHeaders(inputSchema, input) : undefined,
    },
  )
  if ('error' in reply) return failed(reply.error.text)
  const { content, structuredContent, isError, resultType } = reply.result
  if (resultType === 'input_required') return failed('It asks a person for more, and nobody can be asked here.')
  return {
    content: Array.isArray(content) ? (content as unknown[]).filter(isJsonObject) : [],
    structured: structuredContent,
    isError: isError === true,
  }
}

// Tokens differ between all calls of a process, which may share one connection.
let progressTokens = 0

const failed = (text: string): RemoteOutcome => ({
  content: [{ type: 'text', text }],
  structured: undefined,
  isError: true,
})

function progressText({ progress, total, message }: JsonObject): string {
  const count = [progress, total].filter((value) => typeof value === 'number').join(' of ')
  return [count, typeof message === 'string' ? message.slice(0, 500).toWellFormed() : ''].filter(Boolean).join(': ')
}
