import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { scriptedModel, type ScriptedModel, type ScriptStep } from '@inlay/agent/testing'
import { InlayError } from '@inlay/protocol'
import { createInlay, nodeListener, type InlayOptions } from 'inlay'
import { temporaryFolder } from '../life/process.ts'

/** JSON as a client reads it, which knows no types of ours. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

/** An answer with its body read. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body, or undefined when it is no JSON. */
  readonly json: Json
}

/** A whole Inlay behind a port, as clients of the API meet it. */
export interface Service {
  readonly base: string
  readonly key: string
  /** Unexpected errors. */
  readonly errors: readonly unknown[]
  /** A string is sent as it is, anything else as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>
  upload(path: string, name: string, content: BlobPart, fields?: Readonly<Record<string, string>>): Promise<Reply>
  /** Sets how the model answers from now on, by question. */
  answerWith(step: (prompt: string, tools: readonly string[]) => ScriptStep): void
  /** Sends a message and reads all lines of the stream. */
  stream(body: object): Promise<Json[]>
  /** Sends a message and reads the whole answer. */
  ask(body: object): Promise<Json>
  /** Takes a document in, until it is searchable. */
  ingest(document: object): Promise<Reply>
  close(): Promise<void>
}

const key = 'key-of-the-contract'
const described = { provider: 'scripted', name: 's', displayName: 'S', contextTokens: 100_000, takesImages: false }

/** One model, which a request may name, and no waiting. */
function optionsOf(model: ScriptedModel): InlayOptions {
  return {
    apiKey: key,
    model: {
      resolve: async (override) => {
        if ((override?.model_version ?? 's') !== 's') throw new InlayError('VALIDATION_ERROR')
        return { ...described, model }
      },
      list: async () => [{ ...described, providerType: 'x', isDefault: true, providerDisplayName: 'X' }],
    },
    searchHelp: { expand: false },
    worker: { lingerMs: 5, pollMs: 20 },
  }
}

/** Starts one in its own folder. */
export async function startService(options: InlayOptions = {}): Promise<Service> {
  let say: Parameters<Service['answerWith']>[0] = () => ['Hello', '! How can', ' I help?']
  const model = scriptedModel(({ prompt, tools = [] }) =>
    say(
      JSON.stringify(prompt),
      tools.map(({ name }) => name),
    ),
  )
  const folder = temporaryFolder()
  const errors: unknown[] = []
  const inlay = createInlay({
    ...optionsOf(model),
    dataFolder: folder.path,
    onError: (error) => errors.push(error),
    ...options,
  })
  await inlay.start()
  const server = createServer(nodeListener(inlay.fetch)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this form.
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
  const authorization = `Bearer ${key}`
  const call: Service['call'] = async (method, path, body, more = {}) => {
    const headers = new Headers({ authorization, 'content-type': 'application/json', ...more })
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return read(await fetch(base + path, { method, headers, body: text }))
  }
  return {
    base,
    key,
    errors,
    call,
    upload: async (path, name, content, fields = {}) => {
      const form = new FormData()
      form.append('files', new File([content], name))
      for (const [field, value] of Object.entries(fields)) form.append(field, value)
      return read(await fetch(base + path, { method: 'POST', headers: { authorization }, body: form }))
    },
    answerWith: (step) => void (say = step),
    stream: async (body) => {
      const { text } = await call('POST', '/chat/send-chat-message', body, { accept: 'application/x-ndjson' })
      const lines = text.split('\n').filter((line) => line !== '')
      return lines.map((line) => JSON.parse(line) as Json)
    },
    ask: async (body) => (await call('POST', '/chat/send-chat-message', { stream: false, ...body })).json,
    ingest: (document) => call('POST', '/service-api/ingestion', { document }, { prefer: 'wait=60' }),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await inlay.close()
      folder.remove()
    },
  }
}

async function read(response: Response): Promise<Reply> {
  const text = await response.text()
  let json: Json
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: response.status, headers: response.headers, text, json }
}

/** Searches the documents first, then says this. */
export const searchThenSay =
  (...texts: readonly string[]): Parameters<Service['answerWith']>[0] =>
  (prompt) =>
    prompt.includes('"role":"tool"') ? texts : [{ call: { name: 'internal_search', input: { queries: ['heron'] } } }]

/** A document with one section. */
export const heron = (id: string, more: object = {}): object => ({
  id,
  semantic_identifier: `Heron ${id}`,
  source: 'web',
  metadata: { place: 'reeds' },
  sections: [{ text: `The heron of ${id} waits in the reeds.`, link: `https://birds.example/${id}` }],
  ...more,
})
