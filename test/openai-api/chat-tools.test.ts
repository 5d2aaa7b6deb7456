import { createOpenAI } from '@ai-sdk/openai'
import { ChatOpenAI } from '@langchain/openai'
import type { ClientTurn, Run, Sending } from '@inlay/agent'
import { openaiApi } from '@inlay/openai-api'
import type { PacketBody, SendMessageInput } from '@inlay/protocol'
import { createServer, type ServerOptions } from '@inlay/server'
import { Output, generateText, isStepCount, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { expect, test } from 'vitest'
import { z } from 'zod'

const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
const usage = { input_tokens: 7, output_tokens: 3, reasoning_tokens: 0, cached_input_tokens: 0 }

/** A run with these packets. */
function runOf(packets: readonly PacketBody[]): Run {
  const lines = packets.map((obj, at) => ({ sequence: at + 1, json: JSON.stringify({ placement, obj }) }))
  return {
    sessionId: 's',
    messageId: 1,
    finished: true,
    async *read() {
      yield lines
    },
    whole: () => Promise.reject(new Error('not read')),
  }
}

const endless: Run = {
  ...runOf([]),
  finished: false,
  async *read(_, signal) {
    yield* runOf([{ type: 'message_delta', content: 'And on' }]).read()
    await new Promise((resolve) => signal?.addEventListener('abort', resolve))
  },
}

/** What an engine does with a turn that has a tool of the client. */
function packetsFor({ tools = [], steps = [], parameters }: ClientTurn): PacketBody[] {
  if (parameters?.responseFormat)
    return [
      { type: 'message_delta', content: '{"days":25}' },
      { type: 'stop', stop_reason: null, usage },
    ]
  const [{ name } = { name: '' }] = tools
  if (steps.length === 0 && name !== '')
    return [
      { type: 'client_tool_call', tool_call_id: 'call_1', tool_name: name, arguments: '{"city":"Bern"}' },
      { type: 'client_tool_call', tool_call_id: 'call_2', tool_name: name, arguments: '{"city":"Oslo"}' },
      { type: 'stop', stop_reason: 'tool_calls', usage },
    ]
  const results = steps.flatMap(({ calls }) => calls.map(({ id, result }) => `${id}: ${result}`))
  return [
    { type: 'message_delta', content: results.join(', ') },
    { type: 'stop', stop_reason: null, usage },
  ]
}

/** OpenAI's API over an engine that records what it gets. */
function openTools() {
  const turns: (Sending & { readonly request: SendMessageInput })[] = []
  const left = Promise.withResolvers<string>()
  const parts = {
    agent: {
      personas: { list: async () => [{ id: 0, name: 'Inlay', description: '', actionIds: null }] },
      send: async (request: SendMessageInput, sending: Sending) => {
        turns.push({ ...sending, request })
        return request.message === 'Talk' ? endless : runOf(packetsFor(sending.client ?? {}))
      },
      stop: async (sessionId: string) => left.resolve(sessionId),
    },
    authenticate: async () => ({ id: 'ana', scopes: ['chat'] }),
    openaiApi: async () => openaiApi,
  }
  const server = createServer(parts as unknown as ServerOptions)
  const fetch: typeof globalThis.fetch = async (input, init) => server.fetch(new Request(input, init))
  const baseURL = 'http://inlay.test/v1'
  return {
    turns,
    left: left.promise,
    fetch,
    baseURL,
    client: new OpenAI({ baseURL, apiKey: 'x', fetch, maxRetries: 0 }),
  }
}

const degrees = ({ city }: { city: string }): string => `21 degrees in ${city}`
const weather = { description: 'The weather of a city', inputSchema: z.object({ city: z.string() }), execute: degrees }
const said = 'call_1: 21 degrees in Bern, call_2: 21 degrees in Oslo'
const prompt = 'Weather?'

test('OpenAI’s client runs its tools and sends their results, whole and streamed', async () => {
  const { client, turns } = openTools()
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const parse = (input: string): { city: string } => weather.inputSchema.parse(JSON.parse(input))
  for (const stream of [false, true] as const) {
    const runner = client.chat.completions.runTools({
      model: 'inlay',
      stream: stream as true,
      messages: [{ role: 'user', content: prompt }],
      tools: [
        {
          type: 'function',
          function: { name: 'weather', parameters, parse, function: degrees, description: 'Weather' },
        },
      ],
    })
    expect(await runner.finalContent()).toBe(said)
  }
  expect(turns).toHaveLength(4)
  expect(turns[3]?.request).toMatchObject({
    message: prompt,
    include_usage: true,
    chat_session_info: { persona_id: 0 },
  })
  const [{ calls } = { calls: [] }] = turns[3]?.client?.steps ?? []
  expect(calls.map(({ id, name, arguments: input }) => [id, name, JSON.parse(input)])).toEqual([
    ['call_1', 'weather', { city: 'Bern' }],
    ['call_2', 'weather', { city: 'Oslo' }],
  ])
})

test('the AI SDK and LangChain run theirs', async () => {
  const { fetch, baseURL } = openTools()
  const model = createOpenAI({ baseURL, apiKey: 'x', fetch }).chat('inlay')
  const request = { model, prompt, tools: { weather: tool(weather) }, stopWhen: isStepCount(3) }
  expect((await generateText(request)).text).toBe(said)
  expect(await streamText(request).text).toBe(said)
  const chat = new ChatOpenAI({ model: 'inlay', apiKey: 'x', configuration: { baseURL, fetch } })
  const bound = chat.bindTools([{ name: 'weather', description: 'Weather', schema: weather.inputSchema }])
  const calls = [
    { id: 'call_1', name: 'weather', args: { city: 'Bern' } },
    { id: 'call_2', name: 'weather', args: { city: 'Oslo' } },
  ]
  expect((await bound.invoke(prompt)).tool_calls).toMatchObject(calls)
})

test('each gets JSON of its schema', async () => {
  const { client, fetch, baseURL, turns } = openTools()
  const schema = z.object({ days: z.number() })
  const parsed = await client.chat.completions.parse({
    model: 'inlay',
    messages: [{ role: 'user', content: prompt }],
    response_format: zodResponseFormat(schema, 'leave'),
  })
  expect(parsed.choices[0]?.message.parsed).toEqual({ days: 25 })
  const model = createOpenAI({ baseURL, apiKey: 'x', fetch }).chat('inlay')
  expect((await generateText({ model, prompt, output: Output.object({ schema }) })).output).toEqual({ days: 25 })
  const chat = new ChatOpenAI({ model: 'inlay', apiKey: 'x', configuration: { baseURL, fetch } })
  expect(await chat.withStructuredOutput(schema, { method: 'jsonSchema' }).invoke(prompt)).toEqual({ days: 25 })
  for (const { client: turn } of turns)
    expect(turn?.parameters?.responseFormat?.schema).toMatchObject({ properties: { days: { type: 'number' } } })
})

test('a client that leaves stops an answer that is not stored', async () => {
  const { client, left } = openTools()
  const stream = client.chat.completions.stream({ model: 'inlay', messages: [{ role: 'user', content: 'Talk' }] })
  stream.on('content', () => stream.abort())
  await expect(stream.done()).rejects.toThrow(OpenAI.APIUserAbortError)
  expect(await left).toBe('s')
})
