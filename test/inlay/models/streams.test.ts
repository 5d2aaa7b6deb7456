import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fact, openOverServer, type OverServer } from './fixture.ts'

/** Speaks to one request; the count of requests before it in this test is `index`. */
type Speak = (response: ServerResponse, index: number, path: string) => void

// The server's reply until the results of the search are in the prompt, and its reply afterwards.
let first: Speak
let second: Speak
let requests = 0
let shared: OverServer

const server = createServer((request, response) => void answer(request, response))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? ''
  let text = ''
  for await (const piece of request) text += piece
  if (!path.includes('completions')) return void response.writeHead(404).end()
  const index = requests++
  const speak = text.includes(fact) ? second : first
  speak(response, index, path)
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this form.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
  }
  shared = await openOverServer(
    { origin, requests: [], abandoned: () => 0, close },
    { name: 'm-1', grounding: 'tools' },
  )
})
afterAll(() => shared.close())

const chunk = (delta: object | null, end: unknown = null, more: object = {}): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm-1',
  choices: [{ index: 0, delta, finish_reason: end }],
  ...more,
})
const event = (part: object | string, lineEnd = '\n'): string =>
  `data: ${typeof part === 'string' ? part : JSON.stringify(part)}${lineEnd}${lineEnd}`
const streamHead = { 'content-type': 'text/event-stream' }
/** Sends events; a text that begins with a line of the protocol goes out as it is. */
const events =
  (...parts: readonly (object | string)[]): Speak =>
  (response) => {
    const texts = parts.map((part) => (typeof part === 'string' && part !== '[DONE]' ? part : event(part)))
    response.writeHead(200, streamHead).end(texts.join(''))
  }

const args = '{"queries":["keys"]}'
const called = (more: object = {}, named: object = {}): object => ({
  index: 0,
  id: 'call_abc',
  type: 'function',
  function: { name: 'internal_search', arguments: args, ...named },
  ...more,
})
const calls = (...list: readonly object[]): object => chunk({ tool_calls: list })
const statement = chunk({ content: `${fact} [1]` })
const stop = chunk({}, 'stop')
const cited = `${fact} [[1]](https://docs.example/keys)`
const search = events(calls(called()), chunk({}, 'tool_calls'), '[DONE]')
const reply = events(statement, stop, '[DONE]')

interface Said {
  readonly first?: Speak
  readonly second?: Speak
}

async function ask({ first: before = search, second: after = reply }: Said) {
  first = before
  second = after
  requests = 0
  const { answer: text, error_msg: error } = await shared.ask('Where do the keys hang?')
  return { text, error }
}

describe('a call is understood', () => {
  const second = { function: { name: 'internal_search', arguments: '{"queries":["boiler"]}' } }
  test.each<[string, readonly (object | string)[]]>([
    ['without an index, as Gemini sends it', [calls(called({ index: undefined })), stop]],
    [
      'two of them without an index',
      [calls(called({ index: undefined }), called({ index: undefined, id: 'b', ...second })), stop],
    ],
    ['without an id', [calls(called({ id: undefined })), stop]],
    ['with an empty id', [calls(called({ id: '' })), stop]],
    ['two of them with one id', [calls(called(), called({ index: 1, ...second })), stop]],
    ['two of them with one index', [calls(called()), calls(called({ id: 'b', ...second })), stop]],
    [
      'with its name in every piece',
      [calls(called({}, { arguments: '{"queries":' })), calls(called({}, { arguments: '["keys"]}' })), stop],
    ],
    [
      'with an empty name in later pieces',
      [
        calls(called({}, { arguments: '{"queries":' })),
        calls({ index: 0, id: '', function: { name: '', arguments: '["keys"]}' } }),
        stop,
      ],
    ],
    [
      'with a name that comes later',
      [calls({ index: 0, id: 'a', function: { arguments: '' } }), calls(called({ id: undefined })), stop],
    ],
    ['beside text, in one piece', [chunk({ content: 'I look. ', tool_calls: [called()] }), stop]],
    ['together with its end', [chunk({ tool_calls: [called()] }, 'tool_calls')]],
    ['of a stream that names no end', [calls(called())]],
    [
      'as the API had it before',
      [chunk({ function_call: { name: 'internal_search', arguments: args } }), chunk({}, 'function_call')],
    ],
    ['with a namespace', [calls(called({}, { name: 'functions.internal_search' })), stop]],
    ['with a sign of gpt-oss in its name', [calls(called({}, { name: 'internal_search<|channel|>commentary' })), stop]],
    ['with fenced arguments', [calls(called({}, { arguments: `\`\`\`json\n${args}\n\`\`\`` })), stop]],
    ['with a bracket too many', [calls(called({}, { arguments: `${args}}` })), stop]],
    ['with arguments in arguments', [calls(called({}, { arguments: `{"arguments":${args}}` })), stop]],
    ['with objects for texts', [calls(called({}, { arguments: '{"queries":[{"query":"keys"}]}' })), stop]],
  ])('%s', async (_, parts) => {
    const { text, error } = await ask({ first: events(...parts, '[DONE]') })
    expect([text.replace(/^I look\. */, ''), error]).toEqual([cited, null])
  })

  test('that is cut is refused in words to the model', async () => {
    const cut = events(calls(called({}, { arguments: '{"queries":["ke' })), chunk({}, 'length'), '[DONE]')
    const first: Speak = (response, index, path) => (index === 0 ? cut : search)(response, index, path)
    expect(await ask({ first })).toEqual({ text: cited, error: null })
  })
})

describe('an answer arrives whole', () => {
  const whole = { role: 'assistant', content: `${fact} [1]` }
  test.each<[string, Speak]>([
    ['without [DONE]', events(statement, stop)],
    ['with [DONE] alone at its end', events(statement, '[DONE]')],
    ['with an end of another name', events(statement, chunk({}, 'eos_token'), '[DONE]')],
    [
      'with comments between, as OpenRouter sends them',
      events(': OPENROUTER PROCESSING\n\n', statement, ': OPENROUTER PROCESSING\n\n', stop, '[DONE]'),
    ],
    ['with pings between', events('event: ping\ndata: {"type":"ping"}\n\n', statement, 'data:\n\n', stop, '[DONE]')],
    [
      'behind filters, as Azure sends them',
      events(
        { id: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
        statement,
        chunk(null, null, { choices: [{ index: 0, content_filter_results: {}, finish_reason: null }] }),
        stop,
        '[DONE]',
      ),
    ],
    [
      'before counts without choices',
      events(statement, stop, { id: 'c', usage: { prompt_tokens: 1, completion_tokens: 2 } }, '[DONE]'),
    ],
    [
      'before counts with no choices',
      events(statement, stop, { id: 'c', choices: null, usage: { prompt_tokens: 1 } }, '[DONE]'),
    ],
    ['before an end without a delta', events(statement, chunk(null, 'stop'), '[DONE]')],
    [
      'in parts beside thoughts, as Mistral sends them',
      events(
        chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
        chunk({ content: [{ type: 'text', text: `${fact} [1]` }] }),
        stop,
        '[DONE]',
      ),
    ],
    [
      'in lines of Windows',
      (response) =>
        response
          .writeHead(200, streamHead)
          .end([statement, stop, '[DONE]'].map((part) => event(part, '\r\n')).join('')),
    ],
    [
      'compressed',
      (response) =>
        response
          .writeHead(200, { ...streamHead, 'content-encoding': 'gzip' })
          .end(gzipSync([statement, stop, '[DONE]'].map((part) => event(part)).join(''))),
    ],
    [
      'from another address',
      (response, index, path) =>
        path.includes('moved')
          ? reply(response, index, path)
          : void response.writeHead(308, { location: '/moved/completions' }).end(),
    ],
    [
      'in one piece instead of a stream',
      (response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            id: 'c',
            object: 'chat.completion',
            choices: [{ index: 0, message: whole, finish_reason: 'stop' }],
          }),
        ),
    ],
  ])('%s', async (_, second) => {
    expect(await ask({ second })).toEqual({ text: cited, error: null })
  })

  test('in pieces of one byte', async () => {
    const bytes = Buffer.from(
      [chunk({ content: 'Grüße 🙂 ' }), statement, stop, '[DONE]'].map((part) => event(part)).join(''),
    )
    const second: Speak = (response) => {
      response.writeHead(200, streamHead)
      for (const byte of bytes) response.write(Uint8Array.of(byte))
      response.end()
    }
    expect(await ask({ second })).toEqual({ text: `Grüße 🙂 ${cited}`, error: null })
  })
})

describe('a reader is told', () => {
  const and = chunk({ content: `${fact} [1] And` })
  test.each(['max_tokens', 'MAX_TOKENS', 'model_length'])('that an answer was cut that ends with %s', async (end) => {
    const { text, error } = await ask({ second: events(and, chunk({}, end), '[DONE]') })
    expect([text.slice(cited.length), error]).toEqual([expect.stringMatching(/^ And\n\n\*.*output limit/), null])
  })

  test('that a filter ended an answer', async () => {
    const { text } = await ask({ second: events(and, chunk({}, 'content_filter'), '[DONE]') })
    expect(text).toContain("provider's content filter")
  })

  test.each<[string, object]>([
    [
      'as OpenRouter says it',
      { ...chunk({ content: '' }, 'error'), error: { code: 'server_error', message: 'Provider disconnected' } },
    ],
    [
      'within a choice',
      chunk(null, null, {
        choices: [
          {
            index: 0,
            delta: { content: '' },
            finish_reason: 'error',
            error: { code: 502, message: 'Network connection lost.' },
          },
        ],
      }),
    ],
    ['as DeepSeek says it', chunk({}, 'insufficient_system_resource')],
    ['as vLLM says it', chunk({}, 'abort')],
  ])('that an answer broke off, %s', async (_, broken) => {
    const { text, error } = await ask({ second: events(statement, broken, '[DONE]') })
    expect([text, error]).toEqual([cited, expect.stringMatching(/Try again|try again/)])
  })
})
