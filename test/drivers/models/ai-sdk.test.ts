import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { afterEach, describe, expect, test } from 'vitest'
import { stepFailure, toFailure, type Failure } from '@inlay/agent/internal/model/failures'
import { aiSdkModels } from '@inlay/drivers/internal/models/ai-sdk'
import { startAnthropic } from '../../stand-in/anthropic.ts'
import type { Replies, StandIn } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'

const key = 'unguessable-key-hunter2'
const call: LanguageModelV4CallOptions = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  tools: [{ type: 'function', name: 'search', inputSchema: { type: 'object', properties: { q: { type: 'string' } } } }],
}

type Type = 'openai' | 'openai-compatible' | 'anthropic'
/** `told`: deltas come from the tap, before the stream. */
type Way = 'streamed' | 'told'
const ways: readonly (readonly [Type, Way])[] = [
  ['openai', 'streamed'],
  ['openai', 'told'],
  ['openai-compatible', 'streamed'],
  ['openai-compatible', 'told'],
  ['anthropic', 'streamed'],
]
let server: StandIn | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

async function model(type: Type, replies: Replies) {
  server = await (type === 'anthropic' ? startAnthropic(replies) : startOpenAi(replies))
  return aiSdkModels({ type, name: 'own', baseUrl: `${server.origin}/v1`, apiKey: key })('m-1')
}

/** Runs a call to its end and returns its failure, as a run would. */
async function runAs(
  [type, way]: readonly [Type, Way],
  replies: Replies,
  more: Partial<LanguageModelV4CallOptions> = {},
) {
  const parts: LanguageModelV4StreamPart[] = []
  const deltas: string[] = []
  let failure: Failure | undefined
  try {
    const target = await model(type, replies)
    const listener = { onText: (delta: string) => void deltas.push(delta), onReasoning: () => {} }
    const options = { ...call, ...more }
    const opened =
      way === 'told' && 'doStreamTapped' in target ? target.doStreamTapped(options, listener) : target.doStream(options)
    const { stream } = await opened
    for await (const part of stream) {
      parts.push(part)
      if (part.type === 'error') failure ??= toFailure(part.error)
    }
    const finish = parts.find((part) => part.type === 'finish')
    const saidAnything = parts.some((part) => part.type === 'text-delta' || part.type === 'tool-call')
    failure ??= stepFailure({ finishReason: finish?.finishReason, saidAnything })
  } catch (error) {
    failure = toFailure(error)
  }
  const inParts = parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('')
  return { parts, inParts, text: way === 'told' ? deltas.join('') : inParts, failure, code: failure?.code }
}

describe.each(ways)('%s, %s', (type, way) => {
  const run = (replies: Replies, more?: Partial<LanguageModelV4CallOptions>) => runAs([type, way], replies, more)

  test('text, reasoning, interleaved calls and usage arrive', async () => {
    const { parts, inParts, text, failure } = await run([
      [
        { reasoning: 'hm' },
        { text: 'Let me ' },
        { text: 'see.' },
        {
          calls: [
            { id: 'a', name: 'search', input: { q: 'one' } },
            { id: 'b', name: 'search', input: { q: 'two' } },
          ],
        },
      ],
    ])
    expect(failure).toBeUndefined()
    expect([text, inParts]).toEqual(['Let me see.', 'Let me see.'])
    if (type !== 'openai')
      expect(parts.some((part) => part.type === 'reasoning-delta' && part.delta === 'hm')).toBe(true)
    const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [JSON.parse(part.input)] : []))
    expect(calls).toEqual([{ q: 'one' }, { q: 'two' }])
    const finish = parts.at(-1)
    expect(finish).toMatchObject({ type: 'finish', finishReason: { unified: 'tool-calls' } })
    if (finish?.type === 'finish')
      expect(finish.usage).toMatchObject({ inputTokens: { total: 12 }, outputTokens: { total: 7 } })
    expect(JSON.stringify(server?.requests[0]?.headers)).toContain(key)
    expect(server?.requests[0]?.body).toMatchObject({ model: 'm-1', stream: true })
  })

  test('a whole answer arrives', async () => {
    const whole = await (await model(type, [[{ text: 'Hello.' }]])).doGenerate(call)
    expect(whole.content).toMatchObject([{ type: 'text', text: 'Hello.' }])
  })

  test.each([
    [400, {}, 'BAD_REQUEST'],
    [401, { error: { type: 'authentication_error', message: `Incorrect API key provided: ${key}` } }, 'AUTH_ERROR'],
    [403, { error: { message: 'no' } }, 'PERMISSION_DENIED'],
    [404, { error: { type: 'not_found_error', message: 'model: m-1' } }, 'NOT_FOUND'],
    [413, '<html>too big</html>', 'REQUEST_TOO_LARGE'],
    [
      400,
      { error: { code: 'context_length_exceeded', message: "This model's maximum context length is 10 tokens" } },
      'CONTEXT_TOO_LONG',
    ],
    [
      400,
      { error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' } },
      'CONTEXT_TOO_LONG',
    ],
    [400, { error: { code: 'content_policy_violation', message: 'rejected by our safety system' } }, 'CONTENT_POLICY'],
    [429, { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } }, 'BUDGET_EXCEEDED'],
    [500, { error: { message: `oops at https://u:${key}@host` } }, 'API_ERROR'],
    [500, 'not json', 'API_ERROR'],
    [502, '<html>Bad gateway</html>', 'API_ERROR'],
    [503, {}, 'SERVICE_UNAVAILABLE'],
  ] as const)('status %i %j is %s, without the key', async (status, body, code) => {
    const { failure } = await run([{ status, body }])
    expect(failure?.code).toBe(code)
    expect(JSON.stringify(failure)).not.toContain(key)
  })

  test('an event that the SDK does not know ends no answer', async () => {
    if (type !== 'anthropic') return
    const unknown = { type: 'content_block_note', index: 0, note: { type: 'of_tomorrow' } }
    const raw = `event: ${unknown.type}\ndata: ${JSON.stringify(unknown)}\n\n`
    const { failure, parts } = await run([[{ text: 'Twenty ' }, { raw }, { text: 'days.' }]])
    expect(failure).toBeUndefined()
    expect(parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : [])).join('')).toBe('Twenty days.')
  })

  test('a rate limit tells how long to wait', async () => {
    const { failure } = await run([{ status: 429, headers: { 'retry-after': '3' } }])
    expect(failure).toMatchObject({ code: 'RATE_LIMIT', retryable: true, details: { retry_after_seconds: 3 } })
  })

  test('no error that leaves a call holds the key', async () => {
    const target = await model(type, [
      { status: 401, body: { error: { type: 'authentication_error', message: `bad key ${key}` } } },
    ])
    const error: unknown = await target.doStream(call).then(
      () => undefined,
      (caught: unknown) => caught,
    )
    expect(error).toBeInstanceOf(Error)
    const texts = Object.getOwnPropertyNames(error).map(
      (name) => JSON.stringify(Reflect.get(Object(error), name)) ?? '',
    )
    expect(texts.join('\n')).not.toContain(key)
  })

  test('a connection cut after some text is a connection error; what was said is kept', async () => {
    expect(await run([[{ text: 'partial' }, { cut: true }]])).toMatchObject({
      text: 'partial',
      code: 'CONNECTION_ERROR',
    })
  })

  test('a stream that just ends is a connection error', async () => {
    expect((await run([[{ text: 'partial' }, { end: null }]])).code).toBe('CONNECTION_ERROR')
  })

  test('an error inside the stream is told by its type', async () => {
    const overloaded = { type: 'overloaded_error', message: 'Overloaded' }
    expect((await run([[{ text: 'a' }, { error: overloaded }, { end: null }]])).code).toBe('SERVICE_UNAVAILABLE')
    const limited = { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'slow down' }
    expect((await run([[{ text: 'a' }, { error: limited }, { end: null }]])).code).toBe('RATE_LIMIT')
  })

  test.each(['x', 'none', 'ollama'])('the placeholder %j for a key hides no word of an error', async (apiKey) => {
    const message = "This model's maximum context length is 10 tokens: none of ollama's servers takes more."
    server = await (type === 'anthropic' ? startAnthropic : startOpenAi)([
      { status: 400, body: { error: { type: 'invalid_request_error', message } } },
    ])
    const target = aiSdkModels({ type, name: 'own', baseUrl: `${server.origin}/v1`, apiKey })('m-1')
    const error: unknown = await target.doGenerate(call).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(String(Reflect.get(Object(error), 'responseBody'))).toContain(message)
    expect(toFailure(error).code).toBe('CONTEXT_TOO_LONG')
  })

  test('an error inside the stream is handed on without the key', async () => {
    const refused = { type: 'invalid_request_error', message: `the key ${key} is not for this model` }
    const { failure, parts } = await run([[{ text: 'a' }, { error: refused }, { end: null }]])
    expect(failure?.code).toBe('BAD_REQUEST')
    expect(JSON.stringify(parts)).not.toContain(key)
  })

  test('garbage inside the stream is a provider error', async () => {
    expect((await run([[{ text: 'a' }, { raw: 'data: {"broken\n\n' }]])).code).toBe('API_ERROR')
  })

  test('an empty answer and a refusal are told apart', async () => {
    expect((await run([[]])).code).toBe('EMPTY_LLM_RESPONSE')
    expect((await run([[{ end: type === 'anthropic' ? 'refusal' : 'content_filter' }]])).code).toBe('MODEL_REFUSAL')
  })

  test('an abort while it is silent ends the call and closes the connection', async () => {
    const controller = new AbortController()
    const { stream } = await (
      await model(type, [[{ text: 'a' }, { hang: true }]])
    ).doStream({ ...call, abortSignal: controller.signal })
    const reading = (async () => {
      for await (const part of stream) if (part.type === 'text-delta') controller.abort()
    })()
    await expect(reading).rejects.toThrow()
    await expect.poll(() => server?.abandoned()).toBe(1)
  })
})

test('nothing listens: a connection error', async () => {
  const closed = await startOpenAi([])
  await closed.close()
  const target = aiSdkModels({ type: 'openai-compatible', name: 'own', baseUrl: `${closed.origin}/v1` })('m-1')
  const failure = await target.doStream(call).then(
    () => undefined,
    (error: unknown) => toFailure(error),
  )
  expect(failure?.code).toBe('CONNECTION_ERROR')
})

test('a provider without a key is sent none', async () => {
  server = await startOpenAi([[{ text: 'hi' }]])
  await aiSdkModels({
    type: 'openai-compatible',
    name: 'own',
    baseUrl: `${server.origin}/v1`,
    headers: { 'x-team': 'a' },
  })('m').doGenerate(call)
  expect(server.requests[0]?.headers).not.toHaveProperty('authorization')
  expect(server.requests[0]?.headers).toMatchObject({ 'x-team': 'a' })
})

test('a stream is handed out as soon as something was heard, though its parts come together later', async () => {
  const target = await model('openai-compatible', () => [{ text: 'First half' }, { hang: true }])
  const heard: string[] = []
  const listener = { onText: (delta: string) => void heard.push(delta), onReasoning: () => {} }
  if (!('doStreamTapped' in target)) throw new Error('it has no tap')
  const { stream } = await target.doStreamTapped(call, listener)
  expect(heard).toEqual(['First half'])
  await stream.cancel()
})
