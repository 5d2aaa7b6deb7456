import { afterEach, describe, expect, test } from 'vitest'
import { createLineDecoder, type ChatSessionDetail, type StreamLine } from '@inlay/protocol'
import { modelProviders } from '@inlay/drivers/model-providers'
import { inShort } from '../agent/setting.ts'
import { startAnthropic } from '../stand-in/anthropic.ts'
import type { Reply, ReplyPart, StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { newService } from './conversation.ts'

const key = 'sk-this-key-must-never-leave'
let provider: StandIn | undefined

afterEach(async () => {
  await provider?.close()
  provider = undefined
})

const kinds = [
  ['openai-compatible', startOpenAi],
  ['anthropic', startAnthropic],
] as const

/** A service whose model is a real HTTP server with scripted answers. */
async function behind([type, start]: (typeof kinds)[number], replies: readonly Reply[]) {
  provider = await start(replies)
  const { origin } = provider
  const config = {
    name: 'house',
    type,
    baseUrl: `${origin}/v1`,
    apiKey: key,
    models: [{ name: 'm-1', grounding: 'tools' as const }],
  }
  return newService([], { models: modelProviders({ providers: [config] }) })
}

const long = { error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' } }
const quota = { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } }
const policy = { error: { code: 'content_policy_violation', message: 'rejected by our safety system' } }

/** How the provider fails before its first token, the code that is reported, and the number of attempts. */
const refusals: readonly (readonly [string, Reply, string, number])[] = [
  ['400', { status: 400, body: { error: { message: 'bad' } } }, 'BAD_REQUEST', 1],
  ['401', { status: 401, body: { error: { message: `Incorrect API key provided: ${key}` } } }, 'AUTH_ERROR', 1],
  ['403', { status: 403, body: { error: { message: 'no' } } }, 'PERMISSION_DENIED', 1],
  ['404', { status: 404, body: { error: { message: 'no model' } } }, 'NOT_FOUND', 1],
  ['413', { status: 413, body: '<html>too big</html>' }, 'REQUEST_TOO_LARGE', 1],
  ['422', { status: 422, body: {} }, 'UNPROCESSABLE_ENTITY', 1],
  ['429', { status: 429, headers: { 'retry-after': '1' } }, 'RATE_LIMIT', 3],
  ['429 of a quota', { status: 429, body: quota }, 'BUDGET_EXCEEDED', 1],
  ['500', { status: 500, body: { error: { message: `oops at https://u:${key}@host` } } }, 'API_ERROR', 3],
  ['503', { status: 503, body: {} }, 'SERVICE_UNAVAILABLE', 3],
  // The prompt is too short to be cut, so it is not sent again.
  ['a context that is too long', { status: 400, body: long }, 'CONTEXT_TOO_LONG', 1],
  ['its content policy', { status: 400, body: policy }, 'CONTENT_POLICY', 1],
  ['a cut connection', [{ cut: true }], 'CONNECTION_ERROR', 3],
  ['garbage', [{ raw: 'data: {"broken\n\n' }, { end: null }], 'API_ERROR', 3],
  ['a stream without an end', [{ end: null }], 'CONNECTION_ERROR', 3],
  ['an empty answer', [], 'EMPTY_LLM_RESPONSE', 1],
]

/** Failures in the middle of an answer. */
const breaks: readonly (readonly [string, readonly ReplyPart[], string])[] = [
  ['a cut connection', [{ cut: true }], 'CONNECTION_ERROR'],
  ['a stream without an end', [{ end: null }], 'CONNECTION_ERROR'],
  ['garbage', [{ raw: 'data: {"broken\n\n' }, { end: null }], 'API_ERROR'],
  [
    'a rate limit inside the stream',
    [{ error: { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: `key ${key}` } }, { end: null }],
    'RATE_LIMIT',
  ],
  [
    'an overload inside the stream',
    [{ error: { type: 'overloaded_error', message: 'Overloaded' } }, { end: null }],
    'SERVICE_UNAVAILABLE',
  ],
]

async function linesOf(response: Response): Promise<{ readonly lines: StreamLine[]; readonly text: string }> {
  const text = await response.text()
  const decoder = createLineDecoder()
  return { text, lines: [...decoder.push(text), ...decoder.end()].map(({ line }) => line) }
}

describe.each(kinds)('a provider that speaks %s', (...kind) => {
  test.each(refusals)('and answers with %s fails the run with a code', async (_what, reply, code, call) => {
    const { ask, fetchJson } = await behind(kind, [reply])
    const { lines, text } = await linesOf(await ask('/chat/send-chat-message', { json: { message: 'Hi' } }))
    expect(lines.slice(2).map(inShort)).toEqual([`0.0 error ${code}`, `error line ${code}`])
    expect(provider?.requests).toHaveLength(call)
    const [packet, last] = lines.slice(-2)
    expect(last).toMatchObject({ stack_trace: null, details: { model: 'm-1', provider: 'house', model_index: 0 } })
    expect(packet).toMatchObject({ obj: { exception: last && 'error' in last ? last.error : '' } })
    const whole = await fetchJson('/chat/send-chat-message', { json: { message: 'Hi', stream: false } })
    expect(whole).toMatchObject({ status: 200, body: { answer: '', error_msg: expect.any(String) } })
    expect(text + JSON.stringify(whole)).not.toContain(key)
  })

  test.each(breaks)('and breaks off with %s keeps what was said', async (_what, parts, code) => {
    const { ask, fetchJson } = await behind(kind, [[{ text: 'So far' }, ...parts]])
    const { lines, text } = await linesOf(await ask('/chat/send-chat-message', { json: { message: 'Hi' } }))
    expect(lines.slice(2).map(inShort)).toEqual([
      '0.0 message_start null',
      '0.0 message_delta "So far"',
      `0.0 error ${code}`,
      `error line ${code}`,
    ])
    // An answer that has begun is not retried.
    expect(provider?.requests).toHaveLength(1)
    const session = lines[0] && 'chat_session_id' in lines[0] ? lines[0].chat_session_id : ''
    const detail = (await fetchJson(`/chat/get-chat-session/${session}`)).body as ChatSessionDetail
    expect(detail.messages.at(-1)).toMatchObject({ message: 'So far', error: expect.any(String) })
    const whole = await fetchJson('/chat/send-chat-message', { json: { message: 'Hi', stream: false } })
    expect(whole).toMatchObject({ status: 200, body: { answer: 'So far', error_msg: expect.any(String) } })
    expect(text + JSON.stringify(detail) + JSON.stringify(whole)).not.toContain(key)
  })

  test('and fails twice before it answers is waited for', async () => {
    const { fetchJson } = await behind(kind, [{ status: 503 }, { status: 429 }, [{ text: 'There.' }]])
    const { body } = await fetchJson('/chat/send-chat-message', { json: { message: 'Hi', stream: false } })
    expect(body).toMatchObject({ answer: 'There.', error_msg: null })
    expect(provider?.requests).toHaveLength(3)
  })

  test('and refuses to answer is told so', async () => {
    const reason = kind[0] === 'anthropic' ? 'refusal' : 'content_filter'
    const { ask } = await behind(kind, [[{ end: reason }]])
    const { lines } = await linesOf(await ask('/chat/send-chat-message', { json: { message: 'Hi' } }))
    expect(lines.slice(2).map(inShort)).toEqual(['0.0 error MODEL_REFUSAL', 'error line MODEL_REFUSAL'])
  })

  test('and hangs is left when the user stops', async () => {
    const { ask, fetchJson, setting } = await behind(kind, [[{ text: 'So far' }, { hang: true }]])
    const response = await ask('/chat/send-chat-message', { json: { message: 'Hi' } })
    const reader = response.body?.getReader()
    let text = ''
    while (!text.includes('So far')) text += new TextDecoder().decode((await reader?.read())?.value)
    const session = /"chat_session_id":"([^"]+)"/.exec(text)?.[1]
    expect((await fetchJson(`/chat/stop-chat-session/${session}`, { method: 'POST' })).status).toBe(200)
    await expect.poll(() => provider?.abandoned()).toBe(1)
    const detail = (await fetchJson(`/chat/get-chat-session/${session}`)).body as ChatSessionDetail
    expect(detail.messages.at(-1)).toMatchObject({ message: 'So far', error: null })
    expect(detail.packets[0]?.at(-1)?.obj).toEqual({ type: 'stop', stop_reason: 'user_cancelled' })
    expect(setting.errors).toEqual([])
  })
})

test('a provider that nobody reaches is a connection error', async () => {
  const config = { name: 'house', type: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKey: key } as const
  const models = modelProviders({ providers: [{ ...config, models: [{ name: 'm-1' }] }] })
  const { ask } = await newService([], { models })
  const { lines } = await linesOf(await ask('/chat/send-chat-message', { json: { message: 'Hi' } }))
  expect(lines.map(inShort).at(-1)).toBe('error line CONNECTION_ERROR')
})

test('the operator is told once, with what the provider said and the id of the request; people get neither', async () => {
  const reason = 'Tool calls are off in /srv/internal/path.py'
  provider = await startOpenAi([{ status: 400, body: { error: { message: reason } } }])
  const reports: unknown[] = []
  const config = {
    name: 'house',
    type: 'openai-compatible',
    baseUrl: `${provider.origin}/v1`,
    models: [{ name: 'm-1' }],
  }
  const models = modelProviders({ providers: [{ ...config, type: 'openai-compatible' }] })
  const { ask } = await newService([], { models, onError: (error, context) => void reports.push([error, context]) })
  const headers = { 'x-request-id': 'request-7' }
  const stream = await (await ask('/chat/send-chat-message', { json: { message: 'Q' }, headers })).text()
  expect(stream).not.toContain('/srv/internal')
  expect(stream).toContain('"request_id":"request-7"')
  const message = `house/m-1: BAD_REQUEST (HTTP 400). It says: ${reason}.`
  expect(reports).toMatchObject([[{ message, data: { isExpected: true } }, { requestId: 'request-7' }]])
})
