import { isJsonObject, readJson } from '@inlay/protocol'
import type { Transport } from '../stream/transport.ts'
import { readAnswer } from './answer-text.ts'

/** Model information from the server; undefined where it provides none. */
export interface ServedModel {
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number | undefined
  readonly takesTools: boolean | undefined
  /** Whether to ask no more: it will not change while the server runs. */
  readonly isFinal: boolean
}

/** A server to be asked. */
export interface ModelServer {
  readonly transport: Transport
  /** Address of its API with its version. */
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** Ends the asking. */
  readonly signal: AbortSignal
}

const untold: ServedModel = { contextTokens: undefined, takesTools: undefined, isFinal: false }
// The list of a large gateway has half a megabyte.
const mostAnswerChars = 4_000_000

// As vLLM and SGLang, OpenRouter and Together, Groq, Mistral, LiteLLM and LM Studio name it.
const windowFields = [
  'max_model_len',
  'loaded_context_length',
  'context_length',
  'context_window',
  'max_context_length',
  'max_input_tokens',
]

/**
 * Asks a server how many tokens a model takes: by its list of models, and by what llama.cpp, Ollama and LM Studio have
 * besides. Never rejects.
 */
export async function askServer(server: ModelServer, modelId: string): Promise<ServedModel> {
  const base = server.baseUrl.replace(/\/+$/, '')
  const root = base.replace(/\/v\d+$/, '')
  const get = (url: string, body?: object): Promise<unknown> => fetchJson(server, url, body).catch(() => undefined)
  const listed = await get(`${base}/models`)
  const entry = entryOf(listed, modelId)
  // A server that has no list has nothing else to tell.
  if (!entry) return { ...untold, isFinal: isJsonObject(listed) }
  const contextTokens = windowOf(entry)
  if (contextTokens !== undefined) return { ...untold, contextTokens, isFinal: true }
  switch (entry['owned_by']) {
    case 'llamacpp':
      // One that serves several models tells nothing without a name.
      return readLlamaCpp(entry, await get(`${root}/props?model=${encodeURIComponent(String(entry['id']))}`))
    case 'organization_owner': {
      const known = await get(`${root}/api/v0/models`)
      return { ...untold, contextTokens: windowOf(entryOf(known, modelId) ?? {}) }
    }
    default: {
      // Ollama calls the owner what stands before the name of the model: `library`, or a namespace.
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
  const text = await readAnswer(answer, mostAnswerChars)
  return answer.status === 200 ? readJson(text) : undefined
}

/** The model in a list; a server of one model answers by any name. */
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

// Without much memory for graphics, Ollama loads a model with so many tokens, and cuts longer prompts without a word.
const ollamaTokens = 4_096

/** The context of a model in memory, else what it will be loaded with. */
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
  /** Since when what it goes to is kept. */
  readonly since: number
  isOver: boolean
}

/** Asks for each model until its server has told, a few times at most; anew for what is kept since another moment. */
export function createServedModels(
  server: Omit<ModelServer, 'signal'>,
  onAnswer: (modelId: string, answer: ServedModel) => void,
): (modelId: string, since: number) => Promise<void> {
  const answers = new Map<string, Answer>()
  return (modelId, since) => {
    const earlier = answers.get(modelId)
    const last = earlier?.since === since ? earlier : undefined
    if (last && (!last.isOver || last.times >= mostTimes)) return last.answer
    if (answers.size >= mostNames) answers.clear()
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

const mostTimes = 5
const mostNames = 1_000
const waitMs = 2_000
