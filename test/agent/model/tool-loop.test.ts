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
