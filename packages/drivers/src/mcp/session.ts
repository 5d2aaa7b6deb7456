import { InlayError, isJsonObject, type JsonObject } from '@inlay/protocol'
import manifest from '../../package.json' with { type: 'json' }
import { connectByHttp, type ConnectionOptions } from './http-connection.ts'
import type { Connection } from './messages.ts'
import { connectBySse } from './sse-connection.ts'

/** A tool as its server describes it. */
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
}

export interface RemoteOutcome {
  /** Parts of `content` as the server sent them. */
  readonly content: readonly JsonObject[]
  readonly structured: unknown
  readonly isError: boolean
}

/** An open session with a server. Requests may run concurrently. */
export interface McpSession {
  /** Lists up to 200 tools, without unnamed ones and those whose argument schema is too long. */
  list(signal: AbortSignal): Promise<readonly RemoteTool[]>
  /** Calls a tool. A refusal by the server is an outcome; a call that did not reach it rejects. */
  call(name: string, input: JsonObject, signal: AbortSignal): Promise<RemoteOutcome>
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
const schemaChars = 40_000

export interface SessionOptions extends ConnectionOptions {
  readonly transport: 'http' | 'sse'
  /** Milliseconds for each step but a call. */
  readonly timeoutMs: number
}

/** Connects and initialises the session. @throws BAD_GATEWAY, GATEWAY_TIMEOUT, BAD_REQUEST (address refused) */
export async function openSession(options: SessionOptions, signal: AbortSignal): Promise<McpSession> {
  const { transport, timeoutMs } = options
  const limits = { signal, timeoutMs }
  const connection = transport === 'sse' ? await connectBySse(options, limits) : connectByHttp(options)
  try {
    const result = await ask(connection, 'initialize', limits, {
      protocolVersion: versions[0],
      capabilities: {},
      clientInfo: { name: 'inlay', version: manifest.version },
    })
    const { protocolVersion } = result
    if (typeof protocolVersion !== 'string' || !versions.includes(protocolVersion)) {
      throw new InlayError('BAD_GATEWAY', { message: 'The MCP server speaks a version that is not known here.' })
    }
    connection.agree(protocolVersion)
    await connection.notify('notifications/initialized')
  } catch (error) {
    await connection.close()
    throw error
  }
  return {
    list: (listSignal) => listTools(connection, { signal: listSignal, timeoutMs }),
    call: (name, input, callSignal) => callTool(connection, { name, input }, callSignal),
    close: () => connection.close(),
  }
}

type Limits = { readonly signal: AbortSignal; readonly timeoutMs: number }

async function ask(connection: Connection, method: string, limits: Limits, params: JsonObject): Promise<JsonObject> {
  const reply = await connection.request(method, params, limits)
  if ('result' in reply) return reply.result
  throw new InlayError('BAD_GATEWAY', { message: `The MCP server refused ${method} with code ${reply.error.code}.` })
}

async function listTools(connection: Connection, limits: Limits): Promise<RemoteTool[]> {
  const tools: RemoteTool[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const result = await ask(connection, 'tools/list', limits, cursor === undefined ? {} : { cursor })
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
  const { title: hint, readOnlyHint } = isJsonObject(annotations) ? annotations : {}
  return [
    {
      name,
      title: typeof title === 'string' ? title : typeof hint === 'string' ? hint : '',
      description: typeof description === 'string' ? description.slice(0, descriptionChars).toWellFormed() : '',
      inputSchema: isJsonObject(inputSchema) ? inputSchema : {},
      isReadOnly: readOnlyHint === true,
    },
  ]
}

async function callTool(
  connection: Connection,
  { name, input }: { readonly name: string; readonly input: JsonObject },
  signal: AbortSignal,
): Promise<RemoteOutcome> {
  const reply = await connection.request('tools/call', { name, arguments: input }, { signal, timeoutMs: callMs })
  if ('error' in reply) {
    return { content: [{ type: 'text', text: reply.error.text }], structured: undefined, isError: true }
  }
  const { content, structuredContent, isError } = reply.result
  return {
    content: Array.isArray(content) ? (content as unknown[]).filter(isJsonObject) : [],
    structured: structuredContent,
    isError: isError === true,
  }
}
