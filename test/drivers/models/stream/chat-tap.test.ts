import fc from '../../../fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createChatTap } from '@inlay/drivers/internal/models/stream/chat-tap'
import { createEventReader } from '@inlay/drivers/internal/http/event-reader'

const compatible = ['reasoning_content', 'reasoning']

/** Events for clients, in order, and the bytes for the provider. */
function tap(stream: string, { cuts = [] as readonly number[], reasoningFields = compatible } = {}) {
  const deltas: string[] = []
  const handed: string[] = []
  const ahead = { text: 0, reasoning: 0 }
  const provider = createEventReader(({ data }) => handed.push(data))
  const chatTap = createChatTap({
    listener: { onText: (delta) => void deltas.push(delta), onReasoning: (delta) => void deltas.push(`(${delta})`) },
    reasoningFields,
    ahead,
    emit: (text) => provider.push(new TextEncoder().encode(text)),
  })
  const bytes = new TextEncoder().encode(stream)
  let at = 0
  for (const length of cuts) chatTap.push(bytes.subarray(at, (at += length)))
  chatTap.push(bytes.subarray(at))
  chatTap.end()
  return { deltas, handed, ahead }
}

const event = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: unknown, more: object = {}): string =>
  event({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })
const deltasOf = (handed: readonly string[]): unknown[] =>
  handed.map((data) => (data.startsWith('{') ? (JSON.parse(data).choices?.[0]?.delta ?? data) : data))

test.each([
  [{ object: 'error', message: 'boom', code: 400 }, 'boom'],
  [{ detail: 'boom' }, 'boom'],
  [{ detail: [{ msg: 'boom' }] }, '[{"msg":"boom"}]'],
])('an error without choices reaches the provider as one: %j', (error, message) => {
  const { handed } = tap(`${chunk({ content: 'Half' })}${event(error)}`)
  expect(JSON.parse(handed[1] ?? '')).toMatchObject({ error: { message } })
})

test('a field for the older form of calls that is always there, and empty, calls nothing', () => {
  for (const older of [{}, { name: '', arguments: '' }])
    expect(deltasOf(tap(chunk({ content: 'a', function_call: older })).handed)).toEqual([{ content: 'a' }])
})

test('tokens counted in texts are numbers for the provider, and those that are none are unknown', () => {
  const usage = { prompt_tokens: '10', completion_tokens: '3', total_tokens: 'n/a' }
  const handed = [event({ id: 'c', choices: [], usage }), chunk({}, { finish_reason: 'stop', usage })]
    .flatMap((data) => tap(data).handed)
    .map((json) => JSON.parse(json) as { usage?: unknown })
  expect(handed[0]?.usage).toEqual({ prompt_tokens: 10, completion_tokens: 3, total_tokens: null })
})

test('text is told delta by delta and handed to the provider in one', () => {
  const stream = [
    chunk({ role: 'assistant', content: '' }),
    ...['Good', ' morn', 'ing'].map((content) => chunk({ content })),
    chunk({}, { finish_reason: 'stop' }),
    event({ id: 'c', choices: [], usage: { prompt_tokens: 1 } }),
    event('[DONE]'),
  ].join('')
  const { deltas, handed, ahead } = tap(stream)
  expect(deltas).toEqual(['Good', ' morn', 'ing'])
  expect(deltasOf(handed).slice(0, 2)).toEqual([{ content: 'Good morning' }, {}])
  expect(handed.slice(2)).toEqual(['{"id":"c","choices":[],"usage":{"prompt_tokens":1}}', '[DONE]'])
  expect(ahead).toEqual({ text: 12, reasoning: 0 })
})

test('reasoning comes before text, under whatever name it has', () => {
  const stream =
    chunk({ content: null, reasoning: 'a' }) +
    chunk({ content: '', reasoning: 'b', reasoning_details: [{ text: 'b' }] }) +
    chunk({ reasoning_content: 'c', content: 'd' }) +
    chunk({ content: 'e' })
  const { deltas, handed } = tap(stream)
  expect(deltas).toEqual(['(a)', '(b)', '(c)', 'd', 'e'])
  expect(deltasOf(handed)).toEqual([{ reasoning: 'abc', reasoning_details: [{ text: 'b' }] }, { content: 'de' }])
})

test('signed thoughts reach the provider, also those that come without text', () => {
  const detail = (more: object) => ({ reasoning_details: [{ type: 'reasoning.text', index: 0, ...more }] })
  const stream =
    chunk({ reasoning: 'a', ...detail({ text: 'a' }) }) +
    chunk({ reasoning: 'b', ...detail({ text: 'b' }) }) +
    chunk({ content: '', ...detail({ text: '', signature: 's' }) }) +
    chunk({ content: 'c', reasoning_details: [{ type: 'reasoning.encrypted', data: 'E' }] }) +
    chunk({ content: 'd', reasoning_details: [] })
  const { deltas, handed } = tap(stream)
  expect(deltas).toEqual(['(a)', '(b)', 'c', 'd'])
  const text = { type: 'reasoning.text', index: 0, text: 'ab', signature: 's' }
  expect(deltasOf(handed)).toEqual([
    { reasoning: 'ab', reasoning_details: [text, { type: 'reasoning.encrypted', data: 'E' }] },
    { content: 'cd' },
  ])
})

test('a provider that reads no reasoning is told none', () => {
  const { deltas } = tap(chunk({ reasoning_content: 'a' }) + chunk({ content: 'b', reasoning_content: 'x' }), {
    reasoningFields: [],
  })
  expect(deltas).toEqual(['b'])
})

test('long text is handed on in pieces', () => {
  const { handed } = tap(Array.from({ length: 3 }, () => chunk({ content: 'x'.repeat(2_500) })).join(''))
  expect(deltasOf(handed)).toEqual([{ content: 'x'.repeat(5_000) }, { content: 'x'.repeat(2_500) }])
})

test('chunks that say nothing are left out, unless they hold an end, an error or a count of tokens', () => {
  const counted = event({
    id: 'c',
    choices: [{ index: 0, delta: {}, finish_reason: null }],
    usage: { total_tokens: 2 },
  })
  const failed = chunk({}, { error: { message: 'boom' } })
  const ended = chunk({ content: '' }, { finish_reason: 'length' })
  const { handed } = tap([chunk({ role: 'assistant' }), counted, chunk({}), failed, ended].join(''))
  expect(handed).toHaveLength(3)
  expect(JSON.parse(handed[0]!)).toMatchObject({ usage: { total_tokens: 2 } })
  expect(JSON.parse(handed[1]!)).toEqual({ error: { message: 'boom' } })
  expect(JSON.parse(handed[2]!)).toMatchObject({ choices: [{ finish_reason: 'length' }] })
})

describe('what says something in another way is left to the provider, and all that follows', () => {
  test.each([
    ['a call', chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] })],
    ['a refusal', chunk({ refusal: 'no' })],
    ['content in parts', chunk({ content: [{ type: 'text', text: 'x' }] })],
    ['text with probabilities', chunk({ content: 'x' }, { logprobs: { content: [] } })],
    ['text together with its end', chunk({ content: 'x' }, { finish_reason: 'stop' })],
    ['text with something unknown beside it', chunk({ content: 'x', extra_content: { google: {} } })],
  ])('%s', (_, other) => {
    const { deltas, handed } = tap(chunk({ content: 'a' }) + other + chunk({ content: 'b' }))
    expect(deltas).toEqual(['a'])
    expect(handed).toHaveLength(3)
    expect(event(handed[1] ?? '')).toBe(other)
    expect(deltasOf(handed.slice(2))).toEqual([{ content: 'b' }])
  })

  test('but not what says nothing: errors, garbage, keep-alives', () => {
    for (const idle of [event({ error: { message: 'x' } }), event('{"broken'), chunk({}), chunk({ tool_calls: [] })]) {
      expect(tap(chunk({ content: 'a' }) + idle + chunk({ content: 'b' })).deltas).toEqual(['a', 'b'])
    }
  })
})

test('wherever the bytes are cut, every delta is told once and the provider gets the same text', () => {
  const texts = fc.array(fc.constantFrom('a', 'ä', '€uro', '😀', '\n', '"', '\u2028'), { maxLength: 12 })
  const lineEnd = fc.constantFrom('\n\n', '\r\n\r\n', '\r\r', '\n: ping\n\n')
  fc.assert(
    fc.property(texts, lineEnd, fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 200 }), (said, end, cuts) => {
      const stream = said.map((content) => chunk({ content }).replace('\n\n', end)).join('')
      const { deltas, handed, ahead } = tap(stream, { cuts })
      expect(deltas).toEqual(said)
      expect(deltasOf(handed)).toEqual(said.length > 0 ? [{ content: said.join('') }] : [])
      expect(ahead.text).toBe(said.join('').length)
    }),
    { numRuns: 300 },
  )
})
