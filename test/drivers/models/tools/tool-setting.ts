import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type InlayOptions } from 'inlay'
import type { ChatFullResponse } from '@inlay/protocol'
import { onTestFinished } from 'vitest'
import { introduced, saying, standIn } from '../../mcp/client-fixture.ts'
import { startAnthropic } from '../../../stand-in/anthropic.ts'
import { startOpenAi } from '../../../stand-in/openai.ts'
import type { RecordedRequest, Reply } from '../../../stand-in/model-server.ts'

export type Body = Readonly<Record<string, unknown>>

export interface ForeignTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: object
}

/** A tool as it was sent, whatever the provider calls its parts. */
export interface SentTool {
  readonly name: string
  readonly description: string
  readonly schema: Record<string, unknown>
}

interface Sent {
  readonly name?: string
  readonly description?: string
  readonly input_schema?: Record<string, unknown>
  readonly function?: {
    readonly name: string
    readonly description: string
    readonly parameters: Record<string, unknown>
  }
}

/** The tools of a request. */
export const toolsOf = (body: Body): SentTool[] =>
  ((body['tools'] ?? []) as Sent[]).map(({ name, description, input_schema: schema, function: own }) => ({
    name: own?.name ?? name ?? '',
    description: own?.description ?? description ?? '',
    schema: own?.parameters ?? schema ?? {},
  }))

const lookup: ForeignTool = {
  name: 'lookup',
  description: 'Looks up a customer.',
  inputSchema: {
    type: 'object',
    properties: { q: { type: 'string', default: 'all', format: 'email' } },
    required: ['q'],
  },
}

interface Options {
  readonly api?: 'openai' | 'anthropic'
  readonly tools?: readonly ForeignTool[]
  readonly model?: string
  readonly options?: Partial<InlayOptions>
  /** The answer of the model, when it does not refuse. */
  readonly answer?: (body: Body) => Reply
}

/**
 * A chat with a model and an MCP server of these tools beside `lookup`.
 * @param refuses the words and body of a refusal of a request; undefined: it is answered
 */
export async function newToolSetting(
  refuses: (body: Body) => string | object | undefined,
  { api = 'openai', tools = [], model = 'm', answer = () => [{ text: 'Meyer is a customer.' }], options }: Options = {},
) {
  const reply = ({ body }: RecordedRequest): Reply => {
    const refusal = refuses(body)
    if (refusal === undefined) return answer(body)
    return { status: 400, body: typeof refusal === 'string' ? { error: { message: refusal } } : refusal }
  }
  const server = await (api === 'anthropic' ? startAnthropic(reply) : startOpenAi(reply))
  const called: unknown[] = []
  const mcp = await standIn((message) => {
    if (message.method === 'initialize') return introduced
    if (message.method === 'tools/list') return { tools: [lookup, ...tools] }
    if (message.method !== 'tools/call') return undefined
    called.push(message.params)
    return saying('found')
  })
  const folder = mkdtempSync(join(tmpdir(), 'inlay-tools-'))
  const notices: string[] = []
  const inlay = createInlay({
    dataFolder: folder,
    apiKey: 'the-key-of-the-test',
    model: {
      name: api === 'anthropic' ? `anthropic/${model}` : model,
      baseUrl: `${server.origin}/v1`,
      apiKey: 'a-key-of-the-provider',
      grounding: 'tools',
    },
    mcpServers: [mcp.server],
    searchHelp: { expand: false },
    sessionNames: 'question',
    onError: (error) => void notices.push(String(error)),
    ...options,
  })
  onTestFinished(async () => {
    await inlay.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  const headers = { authorization: 'Bearer the-key-of-the-test', prefer: 'wait=60' }
  const ask = async (message: string, more: object = {}): Promise<ChatFullResponse> => {
    const body = JSON.stringify({ message, stream: false, ...more })
    const request = new Request('http://host.example/api/chat/send-chat-message', { method: 'POST', headers, body })
    return (await (await inlay.fetch(request)).json()) as ChatFullResponse
  }
  return { inlay, ask, notices, called, requests: server.requests, folder }
}
