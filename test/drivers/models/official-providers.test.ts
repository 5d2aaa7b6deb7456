import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { modelProviders, parseModelSpec, type ProviderConfig } from '@inlay/drivers/model-providers'
import { officialForms } from '@inlay/drivers/official-providers'
import { builtInModel } from '@inlay/extractive'
import { startAnthropic } from '../../stand-in/anthropic.ts'
import { listen } from '../../stand-in/loopback.ts'
import type { RecordedRequest, Replies } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import { exchange } from './exchange.ts'
import { startResponses } from '../../stand-in/providers/responses.ts'

const key = 'unguessable-key-hunter2'
const run = promisify(execFile)

interface Server {
  readonly origin: string
  readonly requests: readonly Pick<RecordedRequest, 'path' | 'headers' | 'body'>[]
  close(): Promise<void>
}
let server: Server | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const replies: Replies = [
  [{ calls: [{ id: 'call00001', name: 'search', input: { q: 'leave' } }] }],
  [{ text: '25 days.' }],
]

/** A server that sends these bodies in order. */
async function startRaw(type: string, bodies: readonly (string | Buffer)[]): Promise<Server> {
  const requests: RecordedRequest[] = []
  const loopback = await listen(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { method = '', url: path = '', headers } = request
    requests.push({ method, path, headers, body: JSON.parse(text) as Record<string, unknown> })
    response.writeHead(200, { 'content-type': type }).end(bodies[requests.length - 1])
  })
  return { ...loopback, requests }
}

const sse = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const gemini = (part: object): string =>
  sse({ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }] })

const mistral = (delta: object): string =>
  sse({ id: 'm', model: 'm-1', choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: 'stop' }] })

/** A message of `application/vnd.amazon.eventstream`. */
function awsEvent(type: string, value: object): Buffer {
  const header = (name: string, text: string): Buffer =>
    Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7, 0, text.length]), Buffer.from(text)])
  const headers = Buffer.concat([header(':event-type', type), header(':message-type', 'event')])
  const body = Buffer.from(JSON.stringify(value))
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + headers.length + body.length)
  prelude.writeUInt32BE(headers.length, 4)
  const sum = (bytes: Buffer): Buffer => {
    const four = Buffer.alloc(4)
    four.writeUInt32BE(crc32(bytes))
    return four
  }
  const whole = Buffer.concat([prelude, sum(prelude), headers, body])
  return Buffer.concat([whole, sum(whole)])
}
const converse = (stopReason: string, ...events: readonly (readonly [string, object])[]): Buffer =>
  Buffer.concat([
    awsEvent('messageStart', { role: 'assistant' }),
    ...events.map(([type, value]) => awsEvent(type, { contentBlockIndex: 0, ...value })),
    awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
    awsEvent('messageStop', { stopReason }),
  ])

interface Case {
  readonly type: ProviderConfig['type']
  readonly start: () => Promise<Server>
  readonly base?: string
  readonly path: string
  readonly header?: readonly [string, string]
  /** Where the second request has the result of the call. */
  readonly result: RegExp
}
const chat = {
  start: () => startOpenAi(replies),
  path: '/v1/chat/completions',
  result: /"role":"tool".{0,60}"tool_call_id":"call00001","content":"25 days"|"role":"tool".{0,90}"content":"25 days"/,
}
const cases: readonly Case[] = [
  { type: 'openai', ...chat },
  {
    type: 'mistral',
    ...chat,
    // It sends no chunk without choices.
    start: () =>
      startRaw('text/event-stream', [
        mistral({
          tool_calls: [{ index: 0, id: 'call00001', function: { name: 'search', arguments: '{"q":"leave"}' } }],
        }),
        mistral({ content: '25 days.' }),
      ]),
  },
  { type: 'deepseek', ...chat },
  { type: 'groq', ...chat },
  { type: 'openrouter', ...chat },
  { type: 'azure', ...chat, header: ['api-key', key] },
  {
    type: 'xai',
    start: () => startResponses(replies),
    path: '/v1/responses',
    result: /"type":"function_call_output","call_id":"call_R+0","output":"25 days"/,
  },
  {
    type: 'anthropic',
    start: () => startAnthropic(replies),
    path: '/v1/messages',
    header: ['x-api-key', key],
    result: /"type":"tool_result","tool_use_id":"call00001","content":"25 days"/,
  },
  {
    type: 'google',
    start: () =>
      startRaw('text/event-stream', [
        gemini({ functionCall: { name: 'search', args: { q: 'leave' } }, thoughtSignature: 'S' }),
        gemini({ text: '25 days.' }),
      ]),
    path: '/v1/models/m-1:streamGenerateContent?alt=sse',
    header: ['x-goog-api-key', key],
    result: /"functionResponse":\{.*25 days/,
  },
  {
    type: 'cohere',
    start: () =>
      startRaw('text/event-stream', [
        sse(
          { type: 'message-start', id: 'm' },
          {
            type: 'tool-call-start',
            index: 0,
            delta: {
              message: {
                tool_calls: { id: 'call00001', type: 'function', function: { name: 'search', arguments: '' } },
              },
            },
          },
          {
            type: 'tool-call-delta',
            index: 0,
            delta: { message: { tool_calls: { function: { arguments: '{"q":"leave"}' } } } },
          },
          { type: 'tool-call-end', index: 0 },
          {
            type: 'message-end',
            delta: { finish_reason: 'TOOL_CALL', usage: { tokens: { input_tokens: 1, output_tokens: 1 } } },
          },
        ),
        sse(
          { type: 'message-start', id: 'm' },
          { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
          { type: 'content-delta', index: 0, delta: { message: { content: { text: '25 days.' } } } },
          { type: 'content-end', index: 0 },
          {
            type: 'message-end',
            delta: { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 1, output_tokens: 1 } } },
          },
        ),
      ]),
    path: '/v1/chat',
    result: /"role":"tool","content":"25 days","tool_call_id":"call00001"/,
  },
  {
    type: 'amazon-bedrock',
    start: () =>
      startRaw('application/vnd.amazon.eventstream', [
        converse(
          'tool_use',
          ['contentBlockStart', { start: { toolUse: { toolUseId: 'call00001', name: 'search' } } }],
          ['contentBlockDelta', { delta: { toolUse: { input: '{"q":"leave"}' } } }],
        ),
        converse('end_turn', ['contentBlockDelta', { delta: { text: '25 days.' } }]),
      ]),
    path: '/v1/model/m-1/converse-stream',
    result: /"toolResult":\{"toolUseId":"call00001","content":\[\{"text":"25 days"\}\]/,
  },
]

// Modules of AWS import each other without extensions, which the conditions of the tests do not resolve.
async function inProcess(config: ProviderConfig): ReturnType<typeof exchange> {
  const file = new URL('exchange.ts', import.meta.url).pathname
  const { stdout } = await run(process.execPath, ['--conditions=@inlay/source', file, JSON.stringify(config)])
  return JSON.parse(stdout) as Awaited<ReturnType<typeof exchange>>
}

describe.each(cases)('$type', ({ type, start, path, header = ['authorization', `Bearer ${key}`], result }) => {
  test('a call, its result and the answer go by the API of the provider', async () => {
    server = await start()
    const access = { baseUrl: `${server.origin}/v1`, apiKey: key, headers: { 'x-team': 'search' } }
    const config: ProviderConfig = { name: 'own', type, ...access, models: [{ name: 'm-1' }] }
    const { call, answer } = await (type === 'amazon-bedrock' ? inProcess(config) : exchange(config))
    expect(call).toMatchObject({ toolName: 'search', input: expect.stringContaining('leave') })
    expect(answer).toBe('25 days.')
    expect(server.requests.map((request) => request.path)).toEqual([path, path])
    for (const { headers, body } of server.requests) {
      expect(headers).toMatchObject({ [header[0]]: header[1], 'x-team': 'search' })
      expect(JSON.stringify(body)).toContain('"search"')
    }
    expect(JSON.stringify(server.requests[1]!.body)).toMatch(result)
  })
})

const spec = (name: string, options?: Parameters<typeof parseModelSpec>[1]) =>
  parseModelSpec(name, options).providers[0]

test('the prefix of a name is its provider, and with a base URL part of the name there', () => {
  expect(spec('deepseek/deepseek-chat', { apiKey: key })).toMatchObject({
    name: 'deepseek',
    type: 'deepseek',
    models: [{ name: 'deepseek-chat' }],
  })
  expect(spec('groq/openai/gpt-oss-120b', { apiKey: key })).toMatchObject({
    type: 'groq',
    models: [{ name: 'openai/gpt-oss-120b' }],
  })
  const baseUrl = 'http://127.0.0.1:9/v1'
  expect(spec('deepseek/deepseek-chat', { baseUrl })).toMatchObject({
    name: 'custom',
    type: 'openai-compatible',
    models: [{ name: 'deepseek/deepseek-chat' }],
  })
  expect(spec('our-deployment', { baseUrl, api: 'azure' })).toMatchObject({
    name: 'azure',
    type: 'azure',
    models: [{ name: 'our-deployment' }],
  })
  expect(spec('amazon-bedrock/amazon.nova-pro-v1:0')).toMatchObject({ type: 'amazon-bedrock' })
})

test('an unknown prefix is refused with the known ones, and a missing key', () => {
  expect(() => spec('deepsek/deepseek-chat', { apiKey: key })).toThrow(officialForms)
  expect(() => spec('mistral/mistral-large-latest')).toThrow('"mistral/mistral-large-latest" needs an API key')
})

test('the query of a base URL goes behind the path of every request', async () => {
  server = await startOpenAi(replies)
  const baseUrl = `${server.origin}/v1?api-version=2024-10-21`
  const config = parseModelSpec('d', {
    baseUrl,
    headers: { 'api-key': key },
    contextTokens: 32_000,
    grounding: 'tools',
  })
  await exchange(config.providers[0]!)
  const path = '/v1/chat/completions?api-version=2024-10-21'
  expect(server.requests.map((request) => request.path)).toEqual([path, path])
  expect(server.requests[0]!.headers).toMatchObject({ 'api-key': key })
})

test('models that reason get the limit that they take, and the options that were set', async () => {
  server = await startOpenAi([[{ text: 'Hi' }]])
  const providerOptions = { reasoningEffort: 'low', textVerbosity: 'low', service_tier: 'flex' }
  for (const name of ['gateway/gpt-5-mini', 'o3', 'llama3.3']) {
    const config = parseModelSpec(name, { baseUrl: `${server.origin}/v1`, providerOptions })
    const { model } = await modelProviders({ ...config, builtIn: builtInModel }).resolve()
    await model.doGenerate({ prompt: [], maxOutputTokens: 100, temperature: 0.2 })
  }
  const set = { reasoning_effort: 'low', verbosity: 'low', service_tier: 'flex' }
  const bodies = server.requests.map(({ body }) => body)
  for (const body of bodies.slice(0, 2)) {
    expect(body).toMatchObject({ ...set, max_completion_tokens: 100 })
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['max_tokens']))
    expect(body).not.toHaveProperty('temperature')
  }
  expect(bodies[2]).toMatchObject({ ...set, max_tokens: 100, temperature: 0.2 })
})
