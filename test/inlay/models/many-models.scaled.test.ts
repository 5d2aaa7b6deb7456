import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, defineAction, type Inlay } from 'inlay'
import type { ChatFullResponse } from '@inlay/protocol'
import { expect, onTestFinished, test } from 'vitest'
import * as v from 'valibot'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { cases } from '../../cases.ts'
import type { RecordedRequest, Reply } from '../../stand-in/model-server.ts'
import { providers } from '../../stand-in/providers/index.ts'
import { objects, startProvider, type ProviderStandIn } from '../../stand-in/providers/provider.ts'

// One white pixel.
const png = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII='),
  (letter) => letter.charCodeAt(0),
)

const weather = defineAction({
  name: 'get_weather',
  description: 'The weather of a city.',
  input: toStandardJsonSchema(v.object({ city: v.string() })),
  run: async ({ city }) => ({ text: `18 degrees in ${city}` }),
})

/** A model that thinks, asks for the weather twice, and answers. */
const script = (request: RecordedRequest): Reply => {
  // OpenAI's responses API and Google's own API have other names for them.
  const { messages: chat, input, contents } = request.body
  const messages = objects(chat ?? input ?? contents)
  const turn = JSON.stringify(messages.slice(messages.findLastIndex((message) => isQuestion(message))))
  if (turn.includes('18 degrees in Bergen')) return [{ reasoning: 'I know both.' }, { text: 'It is mild.' }]
  const city = turn.includes('18 degrees in Oslo') ? 'Bergen' : 'Oslo'
  return [{ reasoning: `I ask for ${city}.` }, { calls: [{ id: '', name: 'get_weather', input: { city } }] }]
}

const isQuestion = (message: Readonly<Record<string, unknown>>): boolean =>
  JSON.stringify(message).includes('How is it there?')

type Name = keyof typeof providers
const few: readonly Name[] = ['kimi', 'anthropic', 'geminiCompatible', 'deepseek']
// Node does not find the parts of Bedrock's provider as the tests resolve them.
const more = (Object.keys(providers) as Name[]).filter((name) => !few.includes(name) && name !== 'bedrock')
const names = cases(few, [...few, ...more])

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-many-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

function open(dataFolder: string, servers: ReadonlyMap<Name, ProviderStandIn>): Inlay {
  const model = [...servers].map(([provider, server]) => ({ ...server.model, provider }))
  const inlay = createInlay({
    dataFolder,
    model,
    actions: [weather],
    apiKey: 'the-key-of-the-test',
    memories: false,
    sessionNames: 'off',
    onError: () => {},
  })
  onTestFinished(() => inlay.close())
  return inlay
}

async function call<Body>(inlay: Inlay, path: string, body: object, method = 'POST'): Promise<Body> {
  const init = { method, headers: { authorization: 'Bearer the-key-of-the-test' } }
  const sent = body instanceof FormData ? body : JSON.stringify(body)
  const response = await inlay.fetch(new Request(`http://host.example/api${path}`, { ...init, body: sent }))
  return (await response.json()) as Body
}

async function upload(inlay: Inlay): Promise<string> {
  const form = new FormData()
  form.append('files', new File([png], 'dot.png', { type: 'image/png' }))
  const { user_files } = await call<{ user_files: { file_id: string }[] }>(inlay, '/user/projects/file/upload', form)
  return user_files[0]!.file_id
}

test('a chat goes on with every model, whatever model wrote the earlier steps, after a restart as well', async () => {
  const servers = new Map<Name, ProviderStandIn>()
  for (const name of names) {
    const server = await startProvider(providers[name], script)
    onTestFinished(server.close)
    servers.set(name, server)
  }
  const folder = newFolder()
  let session: string | undefined
  const ask = async (inlay: Inlay, name: Name): Promise<string> => {
    const sent: ChatFullResponse = await call(inlay, '/chat/send-chat-message', {
      message: 'How is it there?',
      stream: false,
      llm_override: { model_provider: name, model_version: providers[name].modelId },
      file_descriptors: [{ id: await upload(inlay), type: 'image' }],
      ...(session === undefined ? {} : { chat_session_id: session }),
    })
    session = sent.chat_session_id ?? session
    return sent.error_msg ?? sent.answer
  }
  const inlay = open(folder, servers)
  for (const name of names) expect([name, await ask(inlay, name)]).toEqual([name, 'It is mild.'])
  await inlay.close()
  const again = open(folder, servers)
  const reasoning = { chat_session_id: session, reasoning_effort_override: 'high' }
  await call(again, '/chat/update-chat-session-reasoning', reasoning, 'PUT')
  for (const name of names) expect([name, await ask(again, name)]).toEqual([name, 'It is mild.'])
  for (const [name, { requests, refused }] of servers) {
    expect([name, requests.length]).toEqual([name, 6])
    // What it wants of steps of other models, a process learns once.
    if (name in learned) expect([name, refused.map(({ rule }) => rule)]).toEqual([name, learned[name]])
    // Its own steps of before the restart.
    const before = JSON.stringify(requests.at(-1)?.body)
    for (const mark of ownMarks[name] ?? []) expect(before).toContain(mark)
  }
})

const thoughts = 'thoughts come back with calls'
const learned: Partial<Record<Name, readonly string[]>> = {
  kimi: [thoughts],
  anthropic: [],
  geminiCompatible: ['signatures', 'signatures'],
  deepseek: [],
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const ownMarks: Partial<Record<Name, readonly string[]>> = {
  kimi: ['functions.get_weather:0', 'I ask for Oslo.', 'I know both.'],
  anthropic: ['toolu_01', base64('signed:I ask for Oslo.')],
  geminiCompatible: ['function-call-1234567894', base64('thought 4')],
  deepseek: ['call_00_', 'I ask for Oslo.', 'I know both.'],
}
