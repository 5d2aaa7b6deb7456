import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Action, ToolNumbers } from '@inlay/agent'
import {
  mcpClient,
  type McpClient,
  type McpClientOptions,
  type McpServer,
  type McpServers,
} from '@inlay/drivers/mcp-client'
import type { PacketBody, PacketOf } from '@inlay/protocol'
import { newTurn } from '../../agent/action-turn.ts'
import { ana } from '../../agent/setting.ts'

/** Numbers in memory, counted from 1001 in the order of asking. */
export function newNumbers(): ToolNumbers {
  const known: string[] = []
  return {
    numberOf: async (kind, name) => {
      const key = JSON.stringify([kind, name])
      if (!known.includes(key)) known.push(key)
      return 1001 + known.indexOf(key)
    },
    find: async (id) => {
      const key = known[id - 1001]
      const [kind, name] = key ? (JSON.parse(key) as [string, string]) : []
      return kind !== undefined && name !== undefined ? { kind, name } : undefined
    },
  }
}

/** A client that is closed with the test, and its reported errors. */
export function newClient(
  servers: McpServers,
  more: Partial<McpClientOptions> = {},
): { readonly client: McpClient; readonly errors: readonly unknown[] } {
  const errors: unknown[] = []
  const client = mcpClient({ servers, numbers: newNumbers(), onError: (error) => void errors.push(error), ...more })
  onTestFinished(() => client.close())
  return { client, errors }
}

/** One action of a client, which has to be there. */
export const find = async (client: McpClient, name: string, mcpHeaders = {}): Promise<Action> =>
  (await client.list({ caller: ana, mcpHeaders })).find((action) => action.name === name)!

/** Result of a call. */
export interface Called {
  readonly delta: PacketOf<'custom_tool_delta'> | undefined
  readonly packets: readonly PacketBody[]
  /** The text for the model. */
  readonly toModel: Record<string, unknown>
}

/** Calls an action outside of a chat. */
export async function call(action: Action, input: unknown, more: Parameters<typeof newTurn>[0] = {}): Promise<Called> {
  const { turn, packets } = newTurn(more)
  const { text } = await action.run(input, turn)
  const delta = packets.find((packet): packet is PacketOf<'custom_tool_delta'> => packet.type === 'custom_tool_delta')
  return { delta, packets, toModel: JSON.parse(text) as Record<string, unknown> }
}

/** Answers a message of a client. */
export type Handle = (message: { id?: number; method: string; params?: unknown }, response: ServerResponse) => unknown

/** A server made by hand: answers what a function gives as result, unless that wrote the response itself. */
export async function standIn(
  handle: Handle,
): Promise<{ server: McpServer; seen: { method: string; headers: IncomingHttpHeaders }[] }> {
  const seen: { method: string; headers: IncomingHttpHeaders }[] = []
  const http = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      const message = text === '' ? { method: request.method! } : (JSON.parse(text) as Parameters<Handle>[0])
      seen.push({ method: message.method, headers: request.headers })
      const result = handle(message, response)
      if (response.headersSent) return
      if (result === undefined) return response.writeHead(202).end()
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  return { server: { name: 'Wiki!', url, allowPrivate: true }, seen }
}

/** Result of `initialize`. */
export const introduced = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } }
/** The one tool there is. */
export const lookUp = { name: 'look up', inputSchema: { type: 'object' } }
/** Result of a call. */
export const saying = (text: string): { content: { type: string; text: string }[] } => ({
  content: [{ type: 'text', text }],
})
/** A server with one tool, that does some things its own way. */
export const usual =
  (more: Partial<Record<string, Handle>> = {}): Handle =>
  (message, response) => {
    const own = more[message.method]
    if (own) return own(message, response)
    if (message.method === 'initialize') return introduced
    if (message.method === 'tools/list') return { tools: [lookUp] }
    return message.method === 'tools/call' ? saying('found') : undefined
  }
