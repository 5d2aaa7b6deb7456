import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { modelProviders } from '@inlay/drivers/model-providers'
import { createInlay, defineAction, type InlayOptions } from 'inlay'
import type { ChatFullResponse } from '@inlay/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { RecordedRequest, Reply } from '../../stand-in/model-server.ts'

type Body = Readonly<Record<string, unknown>>

interface ServeOptions extends Omit<InlayOptions, 'model'> {
  readonly maxOutputTokens?: number
  readonly answer?: (body: Body) => Reply
}

/** A server that refuses with these words whatever `refuses` picks, and answers otherwise. */
async function serve(
  status: number,
  message: string,
  refuses: (body: Body) => boolean,
  { maxOutputTokens, answer = () => [{ text: 'An answer.' }], ...options }: ServeOptions = {},
) {
  const server = await startOpenAi(({ body }: RecordedRequest) =>
    refuses(body) ? { status, body: { error: { message } } } : answer(body),
  )
  const folder = mkdtempSync(join(tmpdir(), 'inlay-refusals-'))
  const notices: string[] = []
  const inlay = createInlay({
    dataFolder: folder,
    apiKey: 'the-key-of-the-test',
    model: { name: 'm-1', baseUrl: `${server.origin}/v1`, ...(maxOutputTokens && { maxOutputTokens }) },
    searchHelp: { expand: false },
    // A model would be asked for the name after the answer, at any time.
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
  const post = async (path: string, body: object, method = 'POST'): Promise<Response> =>
    inlay.fetch(new Request(`http://host.example/api${path}`, { method, headers, body: JSON.stringify(body) }))
  const ask = async (question: string, more: object = {}): Promise<ChatFullResponse> => {
    const reply = await post('/chat/send-chat-message', { message: question, stream: false, ...more })
    return (await reply.json()) as ChatFullResponse
  }
  return { ask, post, notices, requests: server.requests }
}

const document = {
  id: 'keys',
  semantic_identifier: 'Keys',
  sections: [{ text: 'The keys hang behind the boiler.', link: 'https://docs.example/keys' }],
  source: 'ingestion_api',
  metadata: {},
}

const hasTools = ({ tools }: Body): boolean => Array.isArray(tools)
const hasSystem = ({ messages }: Body): boolean => JSON.stringify(messages).includes('"role":"system"')

const refusals: readonly (readonly [string, number, string, (body: Body) => boolean])[] = [
  ['stream_options', 400, 'Unrecognized request argument supplied: stream_options', (b) => 'stream_options' in b],
  ['tools, as Ollama says', 400, 'registry.ollama.ai/library/gemma:2b does not support tools', hasTools],
  [
    'tools, as vLLM says',
    400,
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    hasTools,
  ],
  ['tools, as OpenRouter says', 404, 'No endpoints found that support tool use.', hasTools],
  ['tools, as llama.cpp says of a model without a template', 500, 'tools param requires --jinja flag', hasTools],
  [
    'tools, as LiteLLM says of a model for completions',
    500,
    "litellm.APIError: AsyncCompletions.create() got an unexpected keyword argument 'tools'",
    hasTools,
  ],
  ['system messages', 400, 'System role not supported', hasSystem],
  ['tool_choice', 422, "Unsupported parameter: 'tool_choice'", (b) => 'tool_choice' in b],
]

test.each(refusals)('a server that refuses %s answers the first message and learns', async (_, status, message, is) => {
  const { ask, notices, requests } = await serve(status, message, is)
  expect(await ask('Where are the keys?')).toMatchObject({ answer: 'An answer.', error_msg: null })
  const refused = requests.filter(({ body }) => is(body)).length
  expect(refused).toBeGreaterThan(0)
  expect(await ask('And the doors?')).toMatchObject({ answer: 'An answer.', error_msg: null })
  expect(requests.filter(({ body }) => is(body))).toHaveLength(refused)
  expect(notices).toHaveLength(1)
})

test('what a server refused is tried again after an hour, and its reader notices nothing', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  let isOld = true
  const { ask, notices, requests } = await serve(400, 'm-1 does not support tools', (b) => isOld && hasTools(b))
  const fine = { answer: 'An answer.', error_msg: null }
  expect(await ask('Where are the keys?')).toMatchObject(fine)
  vi.setSystemTime(Date.now() + 3_600_001)
  expect(await ask('Where are the keys?')).toMatchObject(fine)
  expect(requests.filter(({ body }) => hasTools(body))).toHaveLength(2)
  isOld = false
  vi.setSystemTime(Date.now() + 3_600_001)
  expect(await ask('Where are the keys?')).toMatchObject(fine)
  expect(requests.filter(({ body }) => hasTools(body)).length).toBeGreaterThan(2)
  expect(notices).toHaveLength(1)
})

test.each([
  ['Ollama', 400, 'm-1 does not support tools'],
  ['llama.cpp', 500, 'tools param requires --jinja flag'],
])(
  'a server that takes no tools, as %s, gets the results of a search in plain messages',
  async (_, status, message) => {
    const { ask, post, requests } = await serve(status, message, hasTools)
    expect((await post('/service-api/ingestion', { document })).status).toBe(200)
    await ask('Where are the keys?')
    expect(requests).toHaveLength(2)
    expect(requests[1]?.body['messages']).toContainEqual({
      role: 'user',
      content: expect.stringMatching(/^Results of a search made for you:[^]*behind the boiler/),
    })
  },
)

test('a temperature that a model does not take is left out from then on', async () => {
  const message =
    "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) is supported."
  const { ask, requests } = await serve(400, message, (body) => 'temperature' in body)
  const override = { llm_override: { temperature: 0.3 } }
  expect(await ask('Where are the keys?', override)).toMatchObject({ answer: 'An answer.', error_msg: null })
  expect(await ask('And the doors?', override)).toMatchObject({ answer: 'An answer.', error_msg: null })
  expect(requests.filter(({ body }) => 'temperature' in body)).toHaveLength(1)
})

/** How a refused field is sent from then on. */
const fields: readonly (readonly [string, number, string, string | undefined])[] = [
  [
    'max_tokens',
    400,
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    'max_completion_tokens',
  ],
  ['reasoning_effort', 400, 'Unrecognized request argument supplied: reasoning_effort', undefined],
  [
    'reasoning_effort',
    422,
    '[{"type":"extra_forbidden","loc":["body","reasoning_effort"],"msg":"Extra inputs are not permitted"}]',
    undefined,
  ],
]

/** Follows the way of a research as far as it is offered. */
function research({ tools, messages }: Body): Reply {
  const [offered, said] = [JSON.stringify(tools ?? []), JSON.stringify(messages)]
  const call = (name: string, input: object): Reply => [{ calls: [{ id: name, name, input }] }]
  if (offered.includes('generate_plan')) return call('generate_plan', {})
  if (offered.includes('generate_report') && said.includes('"role":"tool"')) return call('generate_report', {})
  if (offered.includes('research_agent')) return call('research_agent', { task: 'Find the keys.' })
  if (offered.includes('generate_report')) return call('internal_search', { queries: ['keys'] })
  return [{ text: 'An answer.' }]
}

describe.each(['chat', 'deep research'])('in %s', (kind) => {
  test.each(fields)('%s is left out once a server refused it by %i', async (field, status, message, instead) => {
    const refuses = (body: Body): boolean => field in body
    const { ask, post, notices, requests } = await serve(status, message, refuses, {
      maxOutputTokens: 700,
      answer: research,
    })
    await post('/service-api/ingestion', { document })
    const created = await (await post('/chat/create-chat-session', {})).json()
    const { chat_session_id } = created as { chat_session_id: string }
    const effort = { chat_session_id, reasoning_effort_override: 'low' }
    await post('/chat/update-chat-session-reasoning', effort, 'PUT')
    const more = { chat_session_id, deep_research: kind === 'deep research' }
    expect(await ask('Where are the keys?', more)).toMatchObject({ answer: 'An answer.', error_msg: null })
    expect(await ask('And the doors?', more)).toMatchObject({ answer: 'An answer.', error_msg: null })
    expect(requests.filter(({ body }) => refuses(body))).toHaveLength(1)
    const answered = requests.filter(({ body }) => !refuses(body))
    if (instead) expect(answered.every(({ body }) => instead in body)).toBe(true)
    expect(notices).toHaveLength(1)
  })
})

// Inlay sends these for nobody: a host that calls the model itself does.
test.each([
  ['parallel_tool_calls', 'Unknown parameter: parallel_tool_calls'],
  ['response_format', "'response_format' of type 'json_object' is not supported with this model."],
])('%s of a host is left out once a server refused it', async (field, message) => {
  const refuses = (body: Body): boolean => field in body
  const server = await startOpenAi(({ body }: RecordedRequest) =>
    refuses(body) ? { status: 400, body: { error: { message } } } : [{ text: 'An answer.' }],
  )
  onTestFinished(() => server.close())
  const { resolve } = modelProviders({
    providers: [
      { name: 'local', type: 'openai-compatible', baseUrl: `${server.origin}/v1`, models: [{ name: 'm-1' }] },
    ],
  })
  const { model } = await resolve()
  const call: LanguageModelV4CallOptions = {
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'Where are the keys?' }] }],
    responseFormat: { type: 'json' },
    providerOptions: { local: { parallel_tool_calls: false } },
  }
  for (let count = 0; count < 2; count++)
    expect((await model.doGenerate(call)).content).toMatchObject([{ type: 'text', text: 'An answer.' }])
  expect(server.requests.map(({ body }) => refuses(body))).toEqual([true, false, false])
})

describe('keywords of schemas', () => {
  const refused = /"(?:\$schema|pattern|format|default|examples|\$id|\$ref)":/
  const message = "JSON schema conversion failed: Pattern must start with '^' and end with '$'"
  const refuses = ({ tools }: Body): boolean => refused.test(JSON.stringify(tools ?? []))

  test('that a server refuses stand in no tool of our own', async () => {
    const { ask, requests, notices } = await serve(400, message, refuses)
    expect(await ask('Where are the keys?')).toMatchObject({ answer: 'An answer.', error_msg: null })
    expect(requests.some(({ body }) => hasTools(body))).toBe(true)
    expect([requests.filter(({ body }) => refuses(body)), notices]).toEqual([[], []])
  })

  test('in a tool of the host are left out once a server refused them', async () => {
    const action = defineAction({
      name: 'order_state',
      description: 'Tells how far an order is.',
      input: z.object({ number: z.string().regex(/[0-9]+/) }),
      run: async () => 'packed',
    })
    const { ask, requests } = await serve(400, message, refuses, { actions: [action] })
    expect(await ask('Where is my order?')).toMatchObject({ answer: 'An answer.', error_msg: null })
    expect(await ask('And now?')).toMatchObject({ answer: 'An answer.', error_msg: null })
    expect(requests.filter(({ body }) => refuses(body))).toHaveLength(1)
    expect(JSON.stringify(requests.at(-1)?.body['tools'])).toContain('order_state')
  })
})
