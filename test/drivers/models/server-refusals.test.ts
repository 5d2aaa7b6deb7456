import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, defineAction, type InlayOptions } from 'inlay'
import type { ChatFullResponse } from '@inlay/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { RecordedRequest } from '../../stand-in/model-server.ts'

type Body = Readonly<Record<string, unknown>>

/** A server that refuses with these words whatever `refuses` picks, and answers otherwise. */
async function serve(
  status: number,
  message: string,
  refuses: (body: Body) => boolean,
  options: Omit<InlayOptions, 'model'> = {},
) {
  const server = await startOpenAi(({ body }: RecordedRequest) =>
    refuses(body) ? { status, body: { error: { message } } } : [{ text: 'An answer.' }],
  )
  const folder = mkdtempSync(join(tmpdir(), 'inlay-refusals-'))
  const notices: string[] = []
  const inlay = createInlay({
    dataFolder: folder,
    apiKey: 'the-key-of-the-test',
    model: { name: 'm-1', baseUrl: `${server.origin}/v1` },
    searchHelp: { expand: false, choose: false },
    onError: (error) => void notices.push(String(error)),
    ...options,
  })
  onTestFinished(async () => {
    await inlay.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const headers = { authorization: 'Bearer the-key-of-the-test', prefer: 'wait=20' }
  const post = async (path: string, body: object): Promise<Response> =>
    inlay.fetch(new Request(`http://host.example/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
  const ask = async (question: string, more: object = {}): Promise<ChatFullResponse> => {
    const reply = await post('/chat/send-chat-message', { message: question, stream: false, ...more })
    return (await reply.json()) as ChatFullResponse
  }
  return { ask, post, notices, requests: server.requests }
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

test('a server that takes no tools gets the results of a search in plain messages', async () => {
  const { ask, post, requests } = await serve(400, 'm-1 does not support tools', hasTools)
  const document = {
    id: 'keys',
    semantic_identifier: 'Keys',
    sections: [{ text: 'The keys hang behind the boiler.', link: 'https://docs.example/keys' }],
    source: 'ingestion_api',
    metadata: {},
  }
  expect((await post('/service-api/ingestion', { document })).status).toBe(200)
  await ask('Where are the keys?')
  expect(requests.at(-1)?.body['messages']).toContainEqual({
    role: 'user',
    content: expect.stringMatching(/^Results of a search made for you:[^]*behind the boiler/),
  })
})

test('a temperature that a model does not take is left out from then on', async () => {
  const message =
    "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) is supported."
  const { ask, requests } = await serve(400, message, (body) => 'temperature' in body)
  const override = { llm_override: { temperature: 0.3 } }
  expect(await ask('Where are the keys?', override)).toMatchObject({ answer: 'An answer.', error_msg: null })
  expect(await ask('And the doors?', override)).toMatchObject({ answer: 'An answer.', error_msg: null })
  expect(requests.filter(({ body }) => 'temperature' in body)).toHaveLength(1)
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
