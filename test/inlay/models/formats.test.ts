import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RecordedRequest, Reply, ReplyPart } from '../../stand-in/model-server.ts'
import { startVllm } from '../../stand-in/providers/local.ts'
import { textCallsOfMakers } from '../../stand-in/text-calls.ts'
import { afterSearch, fact, hasResults, openOverServer, overServer, search, type OverServer } from './fixture.ts'

const question = 'Where do the keys hang?'
const tools = { name: 'm-1', grounding: 'tools' } as const

// One installation for all cases; each has its own session, and replies of its own.
let replies: (request: RecordedRequest) => Reply
let shared: OverServer
beforeAll(async () => {
  shared = await openOverServer(await startVllm((request) => replies(request)), tools)
})
afterAll(() => shared.close())

/** The answer for a reader, given the first step of a model. */
async function answerAfter(first: Reply, answer?: string): Promise<string> {
  replies = afterSearch(first, answer)
  const { answer: text, error_msg: error } = await shared.ask(question)
  return error ?? text
}

const cited = `${fact} [[1]](https://docs.example/keys)`
const json = '{"name": "internal_search", "arguments": {"queries": ["keys"]}}'

const asText: readonly (readonly [string, string])[] = [
  ['Hermes and Qwen', `<tool_call>\n${json}\n</tool_call>`],
  [
    'Qwen coder',
    '<tool_call>\n<function=internal_search>\n<parameter=queries>\n["keys"]\n</parameter>\n</function>\n</tool_call>',
  ],
  ['Llama, as JSON', '<|python_tag|>{"name": "internal_search", "parameters": {"queries": ["keys"]}}<|eom_id|>'],
  ['Llama, as a call', '<|python_tag|>internal_search.call(queries=["keys"])'],
  ['Llama, as a function', '<function=internal_search>{"queries": ["keys"]}</function>'],
  ['Mistral', `[TOOL_CALLS][${json}]`],
  ['Mistral, newer', '[TOOL_CALLS]internal_search[ARGS]{"queries": ["keys"]}'],
  ['Phi and Granite', `<|tool_call|>[${json}]<|/tool_call|>`],
  [
    'DeepSeek',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>internal_search\n```json\n{"queries": ["keys"]}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  [
    'Kimi',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.internal_search:0<|tool_call_argument_begin|>{"queries": ["keys"]}<|tool_call_end|><|tool_calls_section_end|>',
  ],
  ['pythonic', '[internal_search(queries=["keys"])]'],
  ['bare JSON', json],
  ['OpenAI as text', `{"type": "function", "function": ${json}}`],
  ['prose with JSON', `I will look.\n${json}`],
  ['a thought with JSON', `Thought: I have to look.\n${json}`],
  ['ReAct', '{"action": "internal_search", "action_input": {"queries": ["keys"]}}'],
  ...textCallsOfMakers('internal_search', 'queries', '["keys"]'),
]

test.each(asText)('a call written as text becomes a call: %s', async (_, text) => {
  const answer = await answerAfter([{ text }])
  expect(answer).toContain(cited)
  expect(answer).not.toMatch(/queries|tool|function/)
})

const raw = (args: unknown): ReplyPart => ({
  raw: `data: ${JSON.stringify({
    choices: [
      {
        index: 0,
        delta: {
          tool_calls: [
            { index: 0, id: 'c1', type: 'function', function: { name: 'internal_search', arguments: args } },
          ],
        },
        finish_reason: null,
      },
    ],
  })}\n\n`,
})
const call = (input: unknown): ReplyPart => ({ calls: [{ id: 'c1', name: 'internal_search', input }] })

test.each<[string, ReplyPart]>([
  ['a list with one object', call([{ queries: ['keys'] }])],
  ['one text for a list', call({ queries: 'keys' })],
  ['another name', call({ query: 'keys' })],
  ['an object instead of its text', raw({ queries: ['keys'] })],
  ['a source and a date it made up', call({ queries: ['keys'], sources: ['confluence'], updated_from: '2026-11-22' })],
])('arguments are understood as they are meant: %s', async (_, part) => {
  expect(await answerAfter([part])).toBe(cited)
})

test.each<[string, ReplyPart]>([
  ['an unknown tool', { calls: [{ id: 'c1', name: 'look_up', input: {} }] }],
  ['a tool without a name', { calls: [{ id: 'c1', name: '', input: {} }] }],
  ['JSON that is cut', call('{"queries": ["ke')],
])('a call that cannot run is told to the model: %s', async (_, part) => {
  let steps = 0
  replies = (request) => (hasResults(request) ? [{ text: `${fact} [1]` }] : steps++ === 0 ? [part] : [search])
  expect(await shared.ask(question)).toMatchObject({ answer: cited, error_msg: null })
})

describe('what a reader gets', () => {
  test.each([
    ['thoughts between tags', `<think>Where could it be?</think>${fact} [1]`, cited],
    [
      'thoughts of gpt-oss',
      `<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>${fact} [1]<|return|>`,
      cited,
    ],
    ['thoughts of gpt-oss without its signs', `analysisWe have it.assistantfinal${fact} [1]`, cited],
    [
      'thoughts and answer of Command',
      `<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>${fact} [1]<|END_RESPONSE|>`,
      cited,
    ],
    ['thoughts of Gemma', `<|channel>thought\nHm.<channel|>${fact} [1]`, cited],
    ['an answer between tags', `<think>Hm.</think>\n<answer>\n${fact} [1]\n</answer>`, cited],
    ['the end of a turn', `${fact} [1]<|im_end|>`, cited],
    ['markers that name nothing', `[3][4] ${fact} [1]`, cited],
  ])('is the answer alone: %s', async (_, written, expected) => {
    const answer = await answerAfter([search], written)
    expect(answer.trim()).toBe(expected)
  })

  test.each(['[1]', '[[1]]', '【1】', '［1］', '[1†source]', '[document 1]', '[1, 1]', '[1;1]', '[1-1]'])(
    'a citation written %s is a link',
    async (marker) => {
      expect(await answerAfter([search], `${fact} ${marker}`)).toContain('[[1]](https://docs.example/keys)')
    },
  )

  test('is told when the answer was cut', async () => {
    replies = (request) => (hasResults(request) ? [{ text: `${fact} [1] And then` }, { end: 'length' }] : [search])
    expect((await shared.ask(question)).answer).toMatch(
      /And then\n\n\*.*output limit. Ask it to go on for the rest\.\*$/,
    )
  })
})

test.each([
  'Qwen3 writes <think> first. Our gateway removes it. Then the answer is stored.',
  'Take it out:\n```py\nre.sub(r"<think>.*?</think>", "", s)\n```\nThen the answer is stored.',
  'Mistral models emit [TOOL_CALLS] followed by JSON. Vacation is 20 days.',
  `A model calls it so:\n\`\`\`json\n${json}\n\`\`\`\nThat is all.`,
])('an answer about tags and calls reaches the reader as it was written: %j', async (written) => {
  const pieces = (written.match(/[^]{1,7}/g) ?? []).map((text) => ({ text }))
  for (const reply of [pieces, [{ text: written }]]) expect(await answerAfter(reply)).toBe(written)
})

test('a thought that only an end tag shows is one from the second answer on', async () => {
  const server = await startVllm(afterSearch([search], `Where could it be?\n</think>\n\n${fact} [1]`))
  const { ask } = await overServer(server, { ...tools, name: 'ends-thoughts' })
  await ask(question)
  expect((await ask(question)).answer.trim()).toBe(cited)
})

test('a model that always calls is ended with an answer', async () => {
  replies = ({ body }) => (body['tool_choice'] === 'none' ? [{ text: 'Enough.' }] : [search])
  expect(await shared.ask(question)).toMatchObject({ answer: 'Enough.', error_msg: null })
})

test.each([
  [
    'llama.cpp',
    {
      error: {
        code: 400,
        type: 'exceed_context_size_error',
        message: 'the request exceeds the available context size',
        n_prompt_tokens: 9_000,
        n_ctx: 2_048,
      },
    },
  ],
  [
    'vLLM',
    {
      object: 'error',
      code: 400,
      type: 'BadRequestError',
      message: "This model's maximum context length is 2048 tokens. However, you requested 9000 tokens.",
    },
  ],
])('a prompt that %s refuses as too long is shortened as often as it takes', async (_, body) => {
  // The true window, in characters of the request.
  const server = await startVllm((request) =>
    JSON.stringify(request.body['messages']).length > 6_000
      ? { status: 400, body }
      : hasResults(request)
        ? [{ text: `${fact} [1]` }]
        : [{ calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['boiler'] } }] }],
  )
  const { ask, post } = await overServer(server, { ...tools, contextTokens: 32_000 })
  for (let at = 0; at < 5; at++) {
    const text = `${'The keys of other houses hang elsewhere, and nobody knows where. '.repeat(60)}${at}`
    const document = {
      id: `d${at}`,
      semantic_identifier: `House ${at}`,
      sections: [{ text }],
      source: 'file',
      metadata: {},
    }
    expect((await post('/service-api/ingestion', { document })).status).toBe(200)
  }
  expect(await ask(question)).toMatchObject({ answer: expect.stringContaining(fact), error_msg: null })
})
