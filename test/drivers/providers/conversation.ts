import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay } from 'inlay'
import { createLineDecoder, fold, type ChatFullResponse } from '@inlay/protocol'
import { aiSdkTools } from '@inlay/drivers/ai-sdk-tools'
import { jsonSchema } from 'ai'
import { onTestFinished } from 'vitest'
import type { RecordedRequest, Reply, ReplyPart } from '../../stand-in/model-server.ts'
import { startProvider, type Provider, type ProviderStandIn } from '../../stand-in/providers/provider.ts'
import { saying, standIn, usual } from '../mcp/client-fixture.ts'

type Call = readonly [name: string, input: object]

/** What is asked, which tools the model calls for it, and what it says once it has read the results. */
export interface Step {
  readonly question: string
  readonly calls?: readonly Call[]
  /** Words of a result. */
  readonly result?: string
  readonly answer: string
  readonly picture?: true
  readonly streams?: false
}

export const fact = 'Staff get 25 days of leave a year.'

export const steps = {
  search: {
    question: 'How many days of leave are there?',
    calls: [['internal_search', { queries: ['days of leave'] }]],
    result: fact,
    answer: `${fact} [1]`,
  },
  actions: {
    question: 'How is the weather in Oslo?',
    calls: [
      ['get_weather', { city: 'Oslo' }],
      ['lookup', { q: 'Oslo' }],
    ],
    result: '18 degrees',
    answer: 'It has 18 degrees.',
  },
  oddTool: {
    question: 'Is seven odd?',
    calls: [['odd', { id: '7', count: 7 }]],
    result: 'seven is odd',
    answer: 'Seven is odd.',
  },
  picture: { question: 'Which colour has the picture?', answer: 'It is red.', picture: true },
  stopped: { question: 'Wait for the bus.', calls: [['wait', { minutes: 90 }]], answer: 'never said' },
  afterStop: { question: 'Is anybody there?', answer: 'Yes.' },
  whole: {
    question: 'And half of the leave?',
    calls: [['internal_search', { queries: ['leave half'] }]],
    result: fact,
    answer: 'Half of 25 is 12.5 days. [1]',
    streams: false,
  },
} satisfies Record<string, Step>

/** A tool whose schema breaks a rule of almost every provider. */
const oddTool = {
  name: 'odd',
  description: 'Says whether a number is odd. '.repeat(60),
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      id: { type: ['string', 'null'] },
      count: { type: 'integer', exclusiveMinimum: 0, enum: [7, 9] },
      'filter[name]': { type: 'string', format: 'uri' },
      tags: { type: 'array' },
      parent: { $ref: '#/definitions/parent' },
    },
    required: ['id'],
    definitions: { parent: { type: 'object', properties: { mode: { type: 'string', enum: ['', 'a'] } } } },
    anyOf: [{ required: ['id'] }, { required: ['count'] }],
    additionalProperties: false,
  },
}
const lookup = {
  name: 'lookup',
  description: 'Looks a place up.',
  inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
}

const answered = (text: string, { result }: Step): boolean => result === undefined || text.includes(result)

/** Plays the model: the newest question decides what it says. */
function script({ body }: RecordedRequest): Reply {
  const text = JSON.stringify(body)
  const [newest, at] = Object.values<Step>(steps)
    .map((step) => [step, text.lastIndexOf(step.question)] as const)
    .toSorted((a, b) => b[1] - a[1])[0]!
  const after = text.slice(at)
  const calls = newest.calls ?? []
  const isCalled = calls.length > 0 && newest.result !== undefined && answered(after, newest)
  if (calls.length === 0 || isCalled || /is not offered|no such tool/i.test(after))
    return [{ reasoning: `I answer “${newest.question}”` }, { text: newest.answer }]
  const part: ReplyPart = { calls: calls.map(([name, input], index) => ({ id: `c${index}`, name, input })) }
  return [{ reasoning: 'I need to look.' }, part]
}

export interface Conversation {
  readonly provider: ProviderStandIn
  readonly inlay: Inlay
  /** What the operator was told. */
  readonly notices: readonly string[]
  /** Arguments of the calls of tools, by their names. */
  readonly calls: Readonly<Record<string, unknown[]>>
  ask(step: Step): Promise<ChatFullResponse>
  /** Asks, and stops while the tool runs. */
  askAndStop(step: Step): Promise<ChatFullResponse>
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

/** Opens an assistant over a stand-in, with one document, actions of the host and a server of tools. */
export async function startConversation(provider: Provider): Promise<Conversation> {
  const server = await startProvider(provider, script)
  const folder = mkdtempSync(join(tmpdir(), 'inlay-providers-'))
  const notices: string[] = []
  const calls: Record<string, unknown[]> = {}
  const called = (name: string, input: unknown): void => void (calls[name] ??= []).push(input)
  const started = Promise.withResolvers<void>()
  const tools = await standIn(
    usual({
      'tools/list': () => ({ tools: [lookup, oddTool] }),
      'tools/call': ({ params }) => {
        const { name, arguments: input } = params as { name: string; arguments: unknown }
        called(name, input)
        return name === 'odd' ? saying('seven is odd') : { content: [] }
      },
    }),
  )
  const inlay = createInlay({
    dataFolder: folder,
    apiKey: 'the-key-of-the-test',
    model: server.model,
    searchHelp: { expand: false },
    memories: false,
    sessionNames: 'off',
    mcpServers: [tools.server],
    actions: aiSdkTools({
      get_weather: {
        description: 'The weather of a city.',
        inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }),
        execute: (input: unknown) => {
          called('get_weather', input)
          return '18 degrees'
        },
      },
      wait: {
        description: 'Waits.',
        inputSchema: jsonSchema({ type: 'object', properties: { minutes: { type: 'number' } } }),
        execute: () => {
          started.resolve()
          return new Promise<never>(() => {})
        },
      },
    }),
    onError: (error) => void notices.push(String(error)),
  })
  onTestFinished(async () => {
    await inlay.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  const headers = { authorization: 'Bearer the-key-of-the-test', prefer: 'wait=60' }
  const post = async (path: string, body: object | FormData): Promise<Response> => {
    const content = body instanceof FormData ? body : JSON.stringify(body)
    return inlay.fetch(new Request(`http://host.example/api${path}`, { method: 'POST', headers, body: content }))
  }
  const sections = [{ text: fact, link: 'https://docs.example/leave' }]
  const document = { id: 'leave', semantic_identifier: 'Leave', sections, source: 'web', metadata: {} }
  await post('/service-api/ingestion', { document })

  let session: string | undefined
  const upload = async (): Promise<object[]> => {
    const form = new FormData()
    form.append('files', new File([png], 'red.png', { type: 'image/png' }))
    const { user_files: files } = (await (await post('/user/projects/file/upload', form)).json()) as {
      user_files: { id: string }[]
    }
    return files.map(({ id }) => ({ id }))
  }
  const send = async ({ question, picture, streams }: Step): Promise<Response> =>
    post('/chat/send-chat-message', {
      message: question,
      stream: streams ?? true,
      ...(session !== undefined && { chat_session_id: session }),
      ...(picture && { file_descriptors: await upload() }),
    })
  const read = async (response: Response, streams = true): Promise<ChatFullResponse> => {
    if (!streams) return (await response.json()) as ChatFullResponse
    const decoder = createLineDecoder()
    const lines = [...decoder.push(new Uint8Array(await response.arrayBuffer())), ...decoder.end()]
    return fold(lines.map(({ line }) => line))
  }
  return {
    provider: server,
    inlay,
    notices,
    calls,
    async ask(step) {
      const answer = await read(await send(step), step.streams)
      session ??= answer.chat_session_id ?? undefined
      return answer
    },
    async askAndStop(step) {
      const response = await send(step)
      const answer = read(response)
      await started.promise
      await post(`/chat/stop-chat-session/${session}`, {})
      return answer
    },
  }
}
