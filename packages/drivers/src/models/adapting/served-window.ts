import { isJsonObject, readJson } from '@inlay/protocol'
import type { Transport } from '../stream/transport.ts'
import { readAnswer } from './answer-text.ts'

/** Model information from the server; undefined where it provides none. */
export interface ServedModel {
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number | undefined
  readonly takesTools: boolean | undefined
  /** Whether to stop querying: the value does not change while the server runs. */
  readonly isFinal: boolean
}

export interface ModelServer {
  readonly transport: Transport
  /** Address of its API with its version. */
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

const untold: ServedModel = { contextTokens: undefined, takesTools: undefined, isFinal: false }
// The list of a large gateway has half a megabyte.
const maxAnswerChars = 4_000_000

// Field names of vLLM and SGLang, OpenRouter and Together, Groq, Mistral, LiteLLM and LM Studio.
const windowFields = [
  'max_model_len',
  'loaded_context_length',
  'context_length',
  'context_window',
  'max_context_length',
  'max_input_tokens',
]

/** By its list of models, and the APIs of llama.cpp, Ollama and LM Studio. Never rejects. */
export async function askServer(server: ModelServer, modelId: string): Promise<ServedModel> {
  const base = server.baseUrl.replace(/(?<!\/)\/+$/, '')
  const root = base.replace(/\/v\d+$/, '')
  const get = (url: string, body?: object): Promise<unknown> => fetchJson(server, url, body).catch(() => undefined)
  const listed = await get(`${base}/models`)
  const entry = entryOf(listed, modelId)
  // A server without a list has no other information either.
  if (!entry) return { ...untold, isFinal: isJsonObject(listed) }
  const contextTokens = windowOf(entry)
  if (contextTokens !== undefined) return { ...untold, contextTokens, isFinal: true }
  switch (entry['owned_by']) {
    case 'llamacpp':
      // A server with several models returns nothing without a name.
      return readLlamaCpp(entry, await get(`${root}/props?model=${encodeURIComponent(String(entry['id']))}`))
    case 'organization_owner': {
      const known = await get(`${root}/api/v0/models`)
      return { ...untold, contextTokens: windowOf(entryOf(known, modelId) ?? {}) }
    }
    default: {
      // Ollama's name for the part before the model name: `library`, or a namespace.
      const show = await get(`${root}/api/show`, { model: modelId })
      if (!isJsonObject(show)) return { ...untold, isFinal: true }
      return readOllama(modelId, show, await get(`${root}/api/ps`))
    }
  }
}

async function fetchJson(
  { transport, headers, signal }: ModelServer,
  url: string,
  body: object | undefined,
): Promise<unknown> {
  const type = { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) }
  const answer = await transport({
    url,
    method: body ? 'POST' : 'GET',
    headers: { ...headers, ...type },
    ...(body && { body: JSON.stringify(body) }),
    signal,
  })
  const text = await readAnswer(answer, maxAnswerChars)
  return answer.status === 200 ? readJson(text) : undefined
}

/** The model in a list; a server with one model accepts any name. */
function entryOf(listed: unknown, modelId: string): Readonly<Record<string, unknown>> | undefined {
  const data = isJsonObject(listed) && Array.isArray(listed['data']) ? listed['data'].filter(isJsonObject) : []
  const named = data.find(({ id }) => id === modelId) ?? data.find(({ id }) => id === `${modelId}:latest`)
  return named ?? (data.length === 1 ? data[0] : undefined)
}

function windowOf(entry: Readonly<Record<string, unknown>>): number | undefined {
  return windowFields.map((field) => toWindow(entry[field])).find((tokens) => tokens !== undefined)
}

function toWindow(value: unknown): number | undefined {
  const tokens = typeof value === 'string' ? Number(value) : value
  return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 256 ? tokens : undefined
}

/** The context of one slot; that of the whole server is shared among them. */
function readLlamaCpp(entry: Readonly<Record<string, unknown>>, props: unknown): ServedModel {
  const settings = isJsonObject(props) ? props['default_generation_settings'] : undefined
  const slot = isJsonObject(settings) ? toWindow(settings['n_ctx']) : undefined
  const meta = isJsonObject(entry['meta']) ? entry['meta'] : {}
  return { ...untold, contextTokens: slot ?? toWindow(meta['n_ctx']), isFinal: true }
}

// With little graphics memory, Ollama loads a model with this many tokens, and silently truncates longer prompts.
const ollamaTokens = 4_096

/** The context of a loaded model, otherwise the one it will be loaded with. */
function readOllama(modelId: string, show: Readonly<Record<string, unknown>>, running: unknown): ServedModel {
  const loaded = isJsonObject(running) && Array.isArray(running['models']) ? running['models'].filter(isJsonObject) : []
  const own = loaded.find(({ name }) => name === modelId || name === `${modelId}:latest`)
  const parameters = typeof show['parameters'] === 'string' ? show['parameters'] : ''
  const set = /^num_ctx\s+(\d+)$/m.exec(parameters)?.[1]
  const info = isJsonObject(show['model_info']) ? show['model_info'] : {}
  const [, trained] = Object.entries(info).find(([name]) => name.endsWith('.context_length')) ?? []
  const capabilities = Array.isArray(show['capabilities']) ? show['capabilities'] : undefined
  return {
    contextTokens:
      toWindow(own?.['context_length']) ?? toWindow(set) ?? Math.min(toWindow(trained) ?? ollamaTokens, ollamaTokens),
    takesTools: capabilities?.includes('tools'),
    isFinal: own !== undefined,
  }
}

interface Answer {
  readonly answer: Promise<void>
  readonly times: number
  /** Time at which the information was stored. */
  readonly since: number
  isOver: boolean
}

/** Queries each model until its server has responded, at most a few times; again after the information was replaced. */
export function createServedModels(
  server: Omit<ModelServer, 'signal'>,
  onAnswer: (modelId: string, answer: ServedModel) => void,
): (modelId: string, since: number) => Promise<void> {
  const answers = new Map<string, Answer>()
  return (modelId, since) => {
    const earlier = answers.get(modelId)
    const last = earlier?.since === since ? earlier : undefined
    if (last && (!last.isOver || last.times >= maxAttempts)) return last.answer
    if (answers.size >= maxNames) answers.clear()
    const current = {
      times: (last?.times ?? 0) + 1,
      since,
      isOver: false,
      answer: askServer({ ...server, signal: AbortSignal.timeout(waitMs) }, modelId).then((answer) => {
        current.isOver = !answer.isFinal
        onAnswer(modelId, answer)
      }),
    }
    answers.set(modelId, current)
    return current.answer
  }
}

const maxAttempts = 5
const maxNames = 1_000
const waitMs = 2_000
