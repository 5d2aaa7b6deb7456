import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider'
import { createOpenAI } from '@ai-sdk/openai'
import { modelProviders } from '@inlay/drivers/model-providers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startOpenAi } from '../../stand-in/openai.ts'

type Body = Readonly<Record<string, unknown>>
type Refuses = (body: Body, count: number) => readonly [status: number, message: string] | undefined

const jira: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'jira_search',
  inputSchema: { type: 'object', properties: { limit: { type: 'integer', minimum: 1 } } },
  providerOptions: { inlay: { isForeign: true } },
}
const user = (text: string): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] })
const searched = (question: string, input: object, id = 'functions.jira_search:0'): LanguageModelV4Prompt => [
  user(question),
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'tool-call', toolCallId: id, toolName: 'jira_search', input },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: id, toolName: 'jira_search', output: { type: 'text', value: 'One issue.' } },
    ],
  },
]
const picture: LanguageModelV4Message = {
  role: 'user',
  content: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } }],
}

/** A model whose server refuses some requests. */
async function serve(refuses: Refuses) {
  let count = 0
  const learned: string[] = []
  const server = await startOpenAi(({ body }) => {
    const [status, message] = refuses(body, ++count) ?? []
    return status === undefined ? [{ text: 'An answer.' }] : { status, body: { error: { message } } }
  })
  onTestFinished(() => server.close())
  const { resolve } = modelProviders({
    providers: [{ name: 'p', type: 'openai-compatible', baseUrl: `${server.origin}/v1`, models: [{ name: 'm' }] }],
    onNotice: (notice) => void learned.push(notice),
  })
  const { model } = await resolve()
  const ask = async (prompt: LanguageModelV4Prompt, more: Partial<LanguageModelV4CallOptions> = {}) =>
    (await model.doGenerate({ prompt, tools: [jira], ...more })).content
  return { ask, learned, requests: server.requests }
}

const fine = [{ type: 'text' as const, text: 'An answer.' }]
const whole = searched('Which issues?', { limit: 1 })

describe('a slip of the model is repeated, and nothing is learned', () => {
  test.each([
    'tool call validation failed: parameters for tool jira_search did not match schema: errors: [`/limit`: expected integer, but got string]',
    "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
  ])('%s', async (message) => {
    const { ask, learned, requests } = await serve((_, count) => (count % 2 === 1 ? [400, message] : undefined))
    for (const prompt of [[user('Which issues?')], whole]) expect(await ask(prompt)).toMatchObject(fine)
    expect(requests[1]?.body).toEqual(requests[0]?.body)
    expect(requests[3]?.body).toEqual(requests[2]?.body)
    expect(learned).toEqual([])
  })

  test('and a second one is thrown', async () => {
    const { ask, requests } = await serve(() => [400, 'Failed to call a function.'])
    await expect(ask(whole)).rejects.toThrow('Failed to call a function')
    expect(requests).toHaveLength(2)
  })
})

test.each([
  [400, 'Provider returned error'],
  [500, 'relation "public.schema_migrations" does not exist'],
])('a refusal that passes is repeated, and nothing is learned: %i %s', async (status, message) => {
  const { ask, learned, requests } = await serve((_, count) => (count === 1 ? [status, message] : undefined))
  expect(await ask(whole)).toMatchObject(fine)
  expect(requests[1]?.body).toEqual(requests[0]?.body)
  expect(learned).toEqual([])
})

test.each([
  [429, 'google/gemini-2.5-flash-image-preview is temporarily rate-limited upstream'],
  [429, 'You have reached the rate limit of the model grok-4-fast-reasoning'],
  [402, 'Payment required for model grok-4-fast-reasoning'],
  [403, 'The tool jira_search has an invalid schema for your plan'],
  [404, 'The model gemini-2.5-flash-image-preview with reasoning was not found'],
  [503, 'unknown variant `image_url`: the upstream of images is unavailable'],
])('a refusal for another reason than the request is told at once: %i %s', async (status, message) => {
  let isDown = true
  const prompt = [...whole, { role: 'assistant' as const, content: fine }, picture]
  const { ask, learned, requests } = await serve(() => (isDown ? [status, message] : undefined))
  await expect(ask(prompt)).rejects.toThrow(message)
  expect(requests).toHaveLength(1)
  isDown = false
  expect(await ask(prompt)).toMatchObject(fine)
  expect(requests[1]?.body).toEqual(requests[0]?.body)
  expect(learned).toEqual([])
})

test.each([
  [500, 'relation "public.schema_migrations" does not exist'],
  [400, "Invalid schema for function 'jira_search'"],
  [400, "Unsupported parameter: 'temperature'"],
])('what a refusal names is sent again where leaving it out did not help: %i %s', async (status, message) => {
  let isDown = true
  const { ask, learned, requests } = await serve(() => (isDown ? [status, message] : undefined))
  await expect(ask(whole, { temperature: 0.5 })).rejects.toThrow(message)
  isDown = false
  expect(await ask(whole, { temperature: 0.5 })).toMatchObject(fine)
  expect(requests.at(-1)?.body).toEqual(requests[0]?.body)
  expect(learned).toEqual([])
})

test('a call that is refused stays one in other chats, where ids are the same', async () => {
  const { ask, requests } = await serve(({ messages }) =>
    /tool_calls.*broken/.test(JSON.stringify(messages)) ? [400, 'Bad request.'] : undefined,
  )
  expect(await ask(searched('Which issues?', { query: 'broken' }))).toMatchObject(fine)
  expect(JSON.stringify(requests.at(-1)?.body['messages'])).not.toContain('tool_calls')
  expect(await ask(whole)).toMatchObject(fine)
  expect(JSON.stringify(requests.at(-1)?.body['messages'])).toContain('tool_calls')
})

/** A chat with stored thoughts, also those of an answer. */
const stored: LanguageModelV4Prompt = [
  ...whole.map((message) =>
    message.role === 'assistant'
      ? { ...message, content: message.content.map((part) => (part.type === 'reasoning' ? thought('rs_1') : part)) }
      : message,
  ),
  { role: 'assistant', content: [thought('rs_2'), { type: 'text', text: 'One.' }] },
  user('And now?'),
]

function thought(itemId: string) {
  return { type: 'reasoning' as const, text: '', providerOptions: { openai: { itemId } } }
}

test.each([
  [404, "Item with id 'rs_1' not found."],
  [400, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."],
  [400, 'Duplicate item found with id rs_2. Remove duplicate items from your input and try again.'],
  [400, "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."],
])('a chat goes on without thoughts that OpenAI no longer holds: %i %s', async (status, message) => {
  const sent: string[] = []
  const responses = createOpenAI({
    apiKey: 'k-not-secret',
    fetch: async (_, init) => {
      sent.push(String(init?.body))
      if (/rs_\d/.test(String(init?.body)))
        return Response.json({ error: { message, type: 'invalid_request_error', code: null } }, { status })
      const content = [{ type: 'output_text', text: 'An answer.', annotations: [] }]
      const output = [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }]
      const usage = { input_tokens: 1, output_tokens: 1 }
      return Response.json({ id: 'resp_1', created_at: 1, model: 'gpt-5', output, usage })
    },
  }).responses('gpt-5')
  const { resolve } = modelProviders({
    providers: [{ name: 'mine', type: 'ai-sdk', models: [{ name: 'gpt-5', model: responses }] }],
  })
  const { model } = await resolve()
  for (let count = 0; count < 2; count++)
    expect((await model.doGenerate({ prompt: stored, tools: [jira] })).content).toMatchObject(fine)
  expect(sent).toHaveLength(3)
  expect(sent[1]).toContain('function_call_output')
})
