import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { modelProviders } from '@inlay/drivers/model-providers'
import { expect, onTestFinished, test } from 'vitest'
import { startAnthropic } from '../../stand-in/anthropic.ts'
import { startOpenAi } from '../../stand-in/openai.ts'

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly tool_call_id?: string
  readonly reasoning_content?: string
  readonly reasoning_details?: readonly unknown[]
  readonly tool_calls?: readonly { readonly id: string; readonly extra_content?: unknown }[]
}

/** A search with what the model thought, its result, and words of the user right behind. */
const prompt: LanguageModelV4CallOptions['prompt'] = [
  { role: 'user', content: [{ type: 'text', text: 'Where are the keys?' }] },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'tool-call', toolCallId: 'search-first', toolName: 'search', input: { queries: ['keys'] } },
    ],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'search-first',
        toolName: 'search',
        output: { type: 'text', value: 'Behind the boiler.' },
      },
    ],
  },
  { role: 'user', content: [{ type: 'text', text: 'Answer now.' }] },
]

/** The messages of each request to a server that refuses some, by two calls of a model. */
async function messagesTo(
  refuses: (messages: readonly Message[]) => string | undefined,
  sent = prompt,
): Promise<readonly Message[][]> {
  const server = await startOpenAi(({ body }) => {
    // Sent by the provider of the model.
    const message = refuses(body['messages'] as Message[])
    return message === undefined ? [{ text: 'An answer.' }] : { status: 400, body: { error: { message } } }
  })
  onTestFinished(() => server.close())
  const { resolve } = modelProviders({
    providers: [
      { name: 'local', type: 'openai-compatible', baseUrl: `${server.origin}/v1`, models: [{ name: 'm-1' }] },
    ],
  })
  const { model } = await resolve()
  for (let count = 0; count < 2; count++)
    expect((await model.doGenerate({ prompt: sent })).content).toMatchObject([{ type: 'text', text: 'An answer.' }])
  return server.requests.map(({ body }) => body['messages'] as Message[])
}

const callsOf = (messages: readonly Message[]) => messages.flatMap(({ tool_calls: calls = [] }) => calls)
const rolesOf = (messages: readonly Message[] = []): string => messages.map(({ role }) => role).join(' ')

test.each([
  'Tool call id was search-first but must be a-z, A-Z, 0-9, with a length of 9.',
  "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
  "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
])('ids of calls become as short as a server wants them: %s', async (message) => {
  const sent = await messagesTo((messages) =>
    callsOf(messages).every(({ id }) => /^[a-zA-Z0-9]{9}$/.test(id)) ? undefined : message,
  )
  expect(sent).toHaveLength(3)
  expect(sent[2]?.find(({ role }) => role === 'tool')?.tool_call_id).toBe(callsOf(sent[2] ?? [])[0]?.id)
})

test('the assistant speaks between results and the user, where Mistral wants it so', async () => {
  const sent = await messagesTo((messages) =>
    rolesOf(messages).includes('tool user') ? "Unexpected role 'user' after role 'tool'" : undefined,
  )
  expect(sent.map(rolesOf)).toEqual([
    'user assistant tool user',
    'user assistant tool assistant user',
    'user assistant tool assistant user',
  ])
})

test.each([
  "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
  '[{"type":"extra_forbidden","loc":["body","messages",1,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted"}]',
])('reasoning is left out of messages where a server refuses it: %s', async (message) => {
  const sent = await messagesTo((messages) =>
    messages.some(({ reasoning_content: thought }) => thought !== undefined) ? message : undefined,
  )
  expect(sent).toHaveLength(3)
})

test('reasoning goes back to DeepSeek, which wants it', async () => {
  const sent = await messagesTo((messages) =>
    messages.some(({ tool_calls: calls, reasoning_content: thought }) => calls && !thought)
      ? 'Missing `reasoning_content` field in the assistant message at message index 2.'
      : undefined,
  )
  expect(sent).toHaveLength(2)
})

// https://api-docs.deepseek.com/guides/thinking_mode, https://github.com/bytedance/deer-flow/issues/3043
test.each([
  'The `reasoning_content` in the thinking mode must be passed back to the API.',
  'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
])('calls of other models get a thought where a server wants one with each: %s', async (message) => {
  const withoutThoughts = prompt.map((each) =>
    each.role === 'assistant' ? { ...each, content: each.content.filter(({ type }) => type !== 'reasoning') } : each,
  )
  const sent = await messagesTo(
    (messages) =>
      messages.some(({ tool_calls: calls, reasoning_content: thought }) => calls && !thought) ? message : undefined,
    withoutThoughts,
  )
  expect(sent).toHaveLength(3)
  expect(sent[2]?.map(({ role, reasoning_content: thought }) => [role, thought])).toContainEqual(['assistant', '.'])
})

test('calls that Gemini did not make are signed as it documents', async () => {
  const sent = await messagesTo((messages) =>
    callsOf(messages).every((call) => call.extra_content)
      ? undefined
      : 'Function call is missing a thought_signature in functionCall parts. Additional data, function call `default_api:search`, position 2.',
  )
  expect(callsOf(sent[2] ?? [])).toMatchObject([
    { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } },
  ])
})

// https://github.com/RooCodeInc/Roo-Code/pull/10640
test('calls that Gemini did not make behind OpenRouter are sealed as it documents', async () => {
  const sent = await messagesTo((messages) =>
    messages.every(({ tool_calls: calls, reasoning_details: details }) => !calls || details)
      ? undefined
      : 'Gemini models require OpenRouter reasoning details to be preserved in each request. Upstream error: Function call is missing a thought_signature in functionCall parts.',
  )
  expect(sent).toHaveLength(3)
  expect(sent[2]?.flatMap(({ reasoning_details: details = [] }) => details)).toMatchObject([
    { type: 'reasoning.encrypted', id: 'search-first', data: 'skip_thought_signature_validator' },
  ])
})

test('Anthropic does not think beside a search that was made for it', async () => {
  const message =
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.'
  const server = await startAnthropic(({ body }) =>
    'thinking' in body && JSON.stringify(body).includes('tool_use')
      ? { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message } } }
      : [{ text: 'An answer.' }],
  )
  onTestFinished(() => server.close())
  const { resolve } = modelProviders({
    providers: [
      {
        name: 'anthropic',
        type: 'anthropic',
        baseUrl: `${server.origin}/v1`,
        apiKey: 'the-key-of-the-test',
        models: [{ name: 'claude-sonnet-4-5' }],
      },
    ],
  })
  const { model } = await resolve()
  const searched = prompt
    .filter((_, at) => at < 3)
    .map((part) => (part.role === 'assistant' ? withoutThought(part) : part))
  const answers = async (given: typeof prompt): Promise<boolean> => {
    const { stream } = await model.doStream({ prompt: given, reasoning: 'high' })
    for await (const part of stream) if (part.type === 'error') throw part.error
    return 'thinking' in (server.requests.at(-1)?.body ?? {})
  }
  expect(await answers(searched)).toBe(false)
  expect(server.requests).toHaveLength(2)
  expect(await answers(searched)).toBe(false)
  expect(server.requests).toHaveLength(3)
  expect(await answers(prompt.slice(0, 1))).toBe(true)
})

type AssistantMessage = Extract<(typeof prompt)[number], { role: 'assistant' }>
const withoutThought = (message: AssistantMessage): AssistantMessage => ({
  ...message,
  content: message.content.filter(({ type }) => type !== 'reasoning'),
})
