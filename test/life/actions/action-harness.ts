import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInlay, nodeListener, type InlayOptions } from 'inlay'
import type { StreamLine } from '@inlay/protocol'
import { onTestFinished } from 'vitest'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { RecordedRequest, Reply } from '../../stand-in/model-server.ts'
import { temporaryFolder } from '../process.ts'

/** Replies of a model, by step or by question. */
export type Script = readonly Reply[] | ((request: RecordedRequest) => Reply)

const apiKey = 'inlay_life_test_key_0123456789abcdef'

/** A whole Inlay behind a port, whose model is an OpenAI-compatible server that follows a script. */
export interface ActionHarness {
  /** Asks; the key goes along. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Sends a message, lets the model reply step by step, reads the whole stream but for heartbeats. */
  ask(message: string, script: Script, more?: object): Promise<StreamLine[]>
  /** Lets the model reply step by step to the next requests. */
  script(script: Script): void
  /** Requests to the model since the last message, oldest first. */
  requests(): readonly RecordedRequest[]
  /** Uploads a file; returns its id. */
  upload(name: string, content: string): Promise<string>
  /** Unexpected errors. */
  readonly errors: unknown[]
}

/** Opens one; closed with the test. */
export async function openActionHarness({
  takesImages = false,
  ...options
}: InlayOptions & { readonly takesImages?: boolean } = {}): Promise<ActionHarness> {
  const errors: unknown[] = []
  const model = await startScriptedModel()
  const base = await serveInlay(model, (error) => void errors.push(error), options, takesImages)
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(base + path, { ...init, headers: { authorization: `Bearer ${apiKey}`, ...init.headers } })
  return {
    errors,
    fetch: ask,
    requests: model.requests,
    script: model.follow,
    ask: async (message, script, more = {}) => {
      model.follow(script)
      const response = await ask('/chat/send-chat-message', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
        body: JSON.stringify({ message, ...more }),
      })
      const text = await response.text()
      if (response.status !== 200) throw new Error(`The message was answered with ${response.status}: ${text}`)
      const lines = text.split('\n').filter((line) => line !== '')
      return withoutHeartbeats(lines.map((line) => JSON.parse(line) as StreamLine))
    },
    upload: async (name, content) => {
      const form = new FormData()
      form.append('files', new Blob([content]), name)
      const response = await ask('/user/projects/file/upload', { method: 'POST', body: form })
      const { user_files: files } = (await response.json()) as { user_files: { file_id: string }[] }
      const [file] = files
      if (!file) throw new Error(`${name} was not taken.`)
      return file.file_id
    },
  }
}

/** How often a stream says that it lives depends on how busy the machine is: of a picture's heartbeats the first stays. */
export function withoutHeartbeats(lines: readonly StreamLine[]): StreamLine[] {
  const typeOf = (line: StreamLine | undefined): string => (line && 'obj' in line ? line.obj.type : '')
  const isImageHeartbeat = (line: StreamLine | undefined): boolean => typeOf(line) === 'image_generation_heartbeat'
  return lines
    .filter((line) => typeOf(line) !== 'chat_heartbeat')
    .filter((line, at, all) => !isImageHeartbeat(line) || !isImageHeartbeat(all[at - 1]))
}

interface ScriptedModel {
  readonly origin: string
  follow(script: Script): void
  requests(): readonly RecordedRequest[]
}

/** A server that replies as the last script says; closed with the test. */
async function startScriptedModel(): Promise<ScriptedModel> {
  let reply: (request: RecordedRequest) => Reply | undefined = () => undefined
  const model = await startOpenAi(
    (request) => reply(request) ?? { status: 500, body: 'The script has no further reply.' },
  )
  onTestFinished(() => model.close())
  let before = 0
  return {
    origin: model.origin,
    requests: () => model.requests.slice(before),
    follow: (script) => {
      const steps = typeof script === 'function' ? [] : [...script]
      reply = typeof script === 'function' ? script : () => steps.shift()
      before = model.requests.length
    },
  }
}

/** Puts an Inlay behind a port; returns the address of its API. */
async function serveInlay(
  model: ScriptedModel,
  onError: InlayOptions['onError'],
  options: InlayOptions,
  takesImages: boolean,
): Promise<string> {
  const folder = temporaryFolder()
  const inlay = createInlay({
    dataFolder: folder.path,
    apiKey,
    model: {
      name: 'scripted-1',
      baseUrl: `${model.origin}/v1`,
      apiKey: 'k',
      contextTokens: 100_000,
      grounding: 'tools',
      takesImages,
    },
    // Auxiliary questions would come between the steps of a script.
    searchHelp: { expand: false },
    sessionNames: 'question',
    worker: { lingerMs: 5, pollMs: 20 },
    onError,
    ...options,
  })
  const server = createServer(nodeListener(inlay.fetch)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await inlay.close()
    folder.remove()
  })
  // A listening TCP server has an address of this form.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
}

let count = 0

/** A reply that calls actions, in parallel when there are several. */
export function calls(...entries: readonly (readonly [name: string, input: unknown])[]): Reply {
  return [{ calls: entries.map(([name, input]) => ({ id: `call_${++count}`, name, input })) }]
}

/** A reply in words. */
export function says(...texts: readonly string[]): Reply {
  return texts.map((text) => ({ text }))
}
