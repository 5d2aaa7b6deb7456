import { afterEach, describe, expect, test } from 'vitest'
import { aiSdkModels } from '@inlay/drivers/internal/models/ai-sdk'
import { startAnthropic } from '../../stand-in/anthropic.ts'
import type { Replies, StandIn } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import { ana, eventually, findsAlways, inShort, newPassage, newSetting, providerOf, readAll } from '../setting.ts'

type Type = 'openai' | 'openai-compatible' | 'anthropic'
let server: StandIn | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

async function newHttpSetting(type: Type, replies: Replies) {
  const started = await (type === 'anthropic' ? startAnthropic(replies) : startOpenAi(replies))
  server = started
  const model = aiSdkModels({ type, name: 'house', baseUrl: `${started.origin}/v1`, apiKey: 'k' })('m-1')
  const setting = await newSetting([], {
    models: providerOf(model),
    search: findsAlways(newPassage('leave', '28 days of leave')),
  })
  return { ...setting, server: started }
}

const look = { calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['leave'] } }] }

/** Sends a text in pieces of a few characters, as tokens arrive. */
const inPieces = (text: string) => (text.match(/[\s\S]{1,4}/g) ?? []).map((piece) => ({ text: piece }))

test.each<[string, string]>([
  ['Hermes', '<tool_call>\n{"name": "internal_search", "arguments": {"queries": ["leave"]}}\n</tool_call>'],
  ['Llama', '<|python_tag|>{"name": "internal_search", "parameters": {"queries": "leave"}}'],
  ['Mistral', '[TOOL_CALLS][{"name": "internal_search", "arguments": {"queries": ["leave"]}}]'],
  ['pythonic', '[internal_search(queries=["leave"])]'],
  ['function tags', '<function=internal_search>{"query": "leave"}</function>'],
  ['prose and JSON', 'I search.\n{"name": "internal_search", "arguments": {"queries": ["leave"]}}'],
  ['a thought and JSON', '<think>I search.</think>\n{"name": "internal_search", "arguments": {"queries": ["leave"]}}'],
])('a server that writes calls as text, %s: the call runs and no markup is shown', async (_format, text) => {
  const { send, server } = await newHttpSetting('openai-compatible', [
    inPieces(text),
    inPieces('<think>It is 28.</think>\n\n28 days [1].'),
  ])
  const run = await send()
  const lines = (await readAll(run)).map(inShort)
  expect(lines).toContain('line user_message_id reserved_assistant_message_id')
  expect(lines.filter((line) => line.includes('search_tool_queries_delta'))).toEqual([
    expect.stringContaining('["leave"]'),
  ])
  const shown = lines.filter((line) => line.includes('message_delta')).join('')
  expect(shown).not.toMatch(/think|tool_call|TOOL_CALLS|python_tag|function|"name"/)
  expect(lines).toContainEqual(expect.stringContaining('reasoning_delta " 28."'))
  expect((await run.whole()).answer).toBe('28 days [[1]](https://wiki.example/leave).')
  expect(JSON.stringify(server.requests[1]?.body)).not.toMatch(/<think>|<tool_call>|TOOL_CALLS|python_tag/)
})

const chunk = (delta: object) => ({
  raw: `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`,
})
interface SentMessage {
  readonly role: string
  readonly reasoning?: string
  readonly reasoning_details?: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string }[]
}
const sentTo = ({ requests }: StandIn, at: number) => (requests[at]?.body['messages'] ?? []) as SentMessage[]

// https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
test.each([
  ['with the thought', [{ reasoning: 'Hm.', reasoning_details: ['E'] }, {}]],
  ['before the call', [{ reasoning: 'Hm.' }, { reasoning_details: ['E'] }]],
  ['with the call', [{ reasoning: 'Hm.' }, { call: true, reasoning_details: ['E'] }]],
])('signed thoughts that came %s go back in their fields, in the turn and after it', async (_, deltas) => {
  const details = [{ type: 'reasoning.encrypted', data: 'E', id: 'c1', index: 0 }]
  const parts = deltas.map(({ call, reasoning_details: signed, ...delta }: Record<string, unknown>) =>
    chunk({
      ...delta,
      ...(signed !== undefined && { reasoning_details: details }),
      ...(call === true && {
        tool_calls: [
          {
            index: 0,
            id: 'c1',
            type: 'function',
            function: { name: 'internal_search', arguments: '{"queries":["a"]}' },
          },
        ],
      }),
    }),
  )
  const isCalled = deltas.some((delta) => 'call' in delta)
  const { send, server } = await newHttpSetting('openai-compatible', [
    isCalled ? [...parts, { end: 'tool_calls' }] : [...parts, look],
    [{ text: '28 days.' }],
    [{ text: 'Yes.' }],
  ])
  const first = await send()
  expect((await first.whole()).answer).toBe('28 days.')
  await (await send({ message: 'Really?', chat_session_id: first.sessionId })).whole()
  for (const at of [1, 2]) {
    const message = sentTo(server, at).find(({ tool_calls: calls }) => calls !== undefined)
    expect(message).toMatchObject({ reasoning: 'Hm.', reasoning_details: details, tool_calls: [{ id: 'c1' }] })
    expect(message).not.toHaveProperty('reasoning_content')
  }
})

test.each(['call_0', ''])(
  'a model that calls every call "%s" finds each with its own result, in all turns',
  async (id) => {
    const calls = (query: string) => ({ calls: [{ id, name: 'internal_search', input: { queries: [query] } }] })
    const { send, server } = await newHttpSetting('openai-compatible', [
      [calls('a')],
      [calls('b')],
      [{ text: '28 days.' }],
      [calls('c')],
      [{ text: 'Yes.' }],
    ])
    const first = await send()
    await first.whole()
    await (await send({ message: 'Really?', chat_session_id: first.sessionId })).whole()
    for (const [at, count] of [
      [2, 2],
      [4, 3],
    ] as const) {
      const sent = sentTo(server, at)
      const called = sent.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.id))
      expect(sent.flatMap(({ tool_call_id: result = [] }) => result)).toEqual(called)
      expect(new Set(called).size).toBe(count)
    }
  },
)

describe.each<Type>(['openai-compatible', 'anthropic'])('over HTTP, %s', (type) => {
  test('reasons, writes, searches and answers with citations', async () => {
    const { send, server } = await newHttpSetting(type, [
      [{ reasoning: 'hm' }, { text: 'Looking.' }, look],
      [{ text: '28 days ' }, { text: '[1' }, { text: '].' }],
    ])
    expect((await readAll(await send())).slice(2).map(inShort)).toEqual([
      '0.0 reasoning_start',
      '0.0 reasoning_delta "hm"',
      '0.0 reasoning_done',
      '1.0 message_start null',
      '1.0 message_delta "Looking."',
      '1.1 search_tool_start internal',
      '1.1 search_tool_queries_delta ["leave"]',
      '1.1 search_tool_documents_delta [leave]',
      '1.1 section_end',
      '2.0 message_start [leave]',
      '2.0 message_delta "28 days "',
      '2.0 citation_info 1 leave',
      '2.0 message_delta "[[1]](https://wiki.example/leave)"',
      '2.0 message_delta "."',
      '2.0 stop null',
    ])
    const second = JSON.stringify(server.requests[1]?.body)
    for (const part of ['Looking.', '28 days of leave', 'How many days']) expect(second).toContain(part)
    expect(server.requests).toHaveLength(2)
  })

  test('tries again after a refusal by rate, and says each word once', async () => {
    const { send, server } = await newHttpSetting(type, [
      { status: 429, body: { error: { message: 'slow down' } } },
      [{ text: 'There ' }, { text: 'it is.' }],
    ])
    expect((await (await send()).whole()).answer).toBe('There it is.')
    expect(server.requests).toHaveLength(2)
  })

  test('a connection that breaks after the first word ends the run with what was said', async () => {
    const { send, server } = await newHttpSetting(type, [[{ text: 'Half' }, { cut: true }]])
    const run = await send()
    expect((await readAll(run)).map(inShort).slice(-2)).toEqual([
      '0.0 error CONNECTION_ERROR',
      'error line CONNECTION_ERROR',
    ])
    expect((await run.whole()).answer).toBe('Half')
    expect(server.requests).toHaveLength(1)
  })

  test('stop closes the connection to the provider', async () => {
    const { agent, send, server } = await newHttpSetting(type, [[{ text: 'So far' }, { hang: true }]])
    const run = await send()
    for await (const entries of run.read()) if (entries.some(({ json }) => json.includes('So far'))) break
    await agent.stop(run.sessionId, ana)
    await eventually(() => server.abandoned() === 1)
    expect((await run.whole()).answer).toBe('So far')
  })

  test('an earlier search is part of the conversation', async () => {
    const { send, server } = await newHttpSetting(type, [[look], [{ text: '28 days [1].' }], [{ text: 'Yes.' }]])
    const first = await send()
    await first.whole()
    const second = await send({ message: 'Really?', chat_session_id: first.sessionId })
    expect(await second.whole()).toMatchObject({ answer: 'Yes.', error_msg: null })
    expect(JSON.stringify(server.requests[2]?.body)).toContain('Title of leave')
  })

  test('a forced action is demanded of the provider', async () => {
    const { send, server } = await newHttpSetting(type, [[look], [{ text: 'Done.' }]])
    await (await send({ forced_tool_id: 1 })).whole()
    expect(JSON.stringify(server.requests[0]?.body['tool_choice'])).toContain('internal_search')
    expect(JSON.stringify(server.requests[1]?.body['tool_choice'] ?? 'auto')).not.toContain('internal_search')
  })
})
