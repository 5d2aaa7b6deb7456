import type { Embedder } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import { readVectors } from './openai-embedder-reply.ts'
import { createRetrying } from './openai-embedder-retry.ts'

/** An embeddings endpoint that speaks OpenAI's protocol. */
export interface OpenaiEmbedderOptions {
  /** Address before `/embeddings`, e.g. `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** Sent as `Authorization: Bearer`; local servers often need none. */
  readonly apiKey?: string
  readonly model: string
  /** Length of the vectors, 1 to 8192; a vector of another length is refused. */
  readonly dimensions: number
  /** Begins the name of the vector space. Default `openai`. */
  readonly provider?: string
  /** Whether the endpoint is asked for that length. Default: for OpenAI's `text-embedding-3` models, which can shorten. */
  readonly asksForDimensions?: boolean
  /** How vectors travel: `base64` is a third of the size, but not every server knows it. Default `float`. */
  readonly encoding?: 'float' | 'base64'
  /** Put before each text, for models that want to be told what a text is, e.g. `{ document: 'passage: ', query: 'query: ' }`. */
  readonly prefixes?: { readonly document: string; readonly query: string }
  /** Most texts in one request. Default 96. */
  readonly batch?: number
  /** Most characters in one request; one longer text still goes alone. Default 400 000. */
  readonly batchCharacters?: number
  /** Tries per request, at least 1. Default 4. */
  readonly attempts?: number
  /** Longest time one try may take, in milliseconds. Default 60 000. */
  readonly timeoutMs?: number
  /** Longest wait between two tries, in milliseconds; a server that asks for more ends the call. Default 30 000. */
  readonly longestWaitMs?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: typeof fetch
  /** Waits between two tries; rejects when the signal aborts. */
  readonly sleep?: (delayMs: number, signal: AbortSignal | undefined) => Promise<void>
}

/**
 * An embedding model behind an OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, TEI, LM Studio, …). Tries again after
 * 408, 429, 5xx and broken connections, as long as the server asks. Laws: `embedderLaws`.
 * @throws INVALID_INPUT for options that cannot work; from `embed`: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT (with
 * `data.retryAfterSeconds` when told), BUDGET_EXCEEDED, REQUEST_TOO_LARGE, UNPROCESSABLE_ENTITY, NOT_FOUND, API_ERROR,
 * CONNECTION_ERROR, GATEWAY_TIMEOUT, BAD_GATEWAY (a reply of another shape), INDEX_MISMATCH (vectors of another length)
 * @example openaiEmbedder({ baseUrl: 'http://127.0.0.1:11434/v1', model: 'nomic-embed-text', dimensions: 768 })
 */
export function openaiEmbedder(options: OpenaiEmbedderOptions): Embedder {
  const { model, dimensions, provider = 'openai', batch = 96, batchCharacters = 400_000, encoding = 'float' } = options
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > 8192)
    throw new InlayError('INVALID_INPUT', {
      message: 'The dimensions of an embedding model are a number from 1 to 8192.',
    })
  if (!model) throw new InlayError('INVALID_INPUT', { message: 'An embedding model needs its name.' })
  const asksForDimensions = options.asksForDimensions ?? model.startsWith('text-embedding-3')
  const post = createRetrying({ ...options, address: addressOf(options.baseUrl) })

  async function request(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const reply = await post(
      { model, input: texts, encoding_format: encoding, ...(asksForDimensions ? { dimensions } : {}) },
      signal,
    )
    return readVectors(reply, { count: texts.length, dimensions })
  }

  return {
    id: `${provider}/${model}@${dimensions}`,
    dimensions,
    batch,
    async embed(texts, use, signal) {
      signal?.throwIfAborted()
      // An empty input is refused by many servers.
      const inputs = texts.map((text) => `${options.prefixes?.[use] ?? ''}${text}` || ' ')
      const vectors: Float32Array[] = []
      for (const group of groupsOf(inputs, Math.max(1, batch), batchCharacters))
        vectors.push(...(await request(group, signal)))
      return vectors
    },
  }
}

function addressOf(baseUrl: string): URL {
  const address = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!address || !/^https?:$/.test(address.protocol) || address.username || address.password)
    throw new InlayError('INVALID_INPUT', {
      message: 'The base URL of an embedding model is an http or https address without a user name or password.',
    })
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/embeddings`
  return address
}

function* groupsOf(texts: readonly string[], count: number, characters: number): Generator<string[]> {
  let group: string[] = []
  let size = 0
  for (const text of texts) {
    if (group.length > 0 && (group.length === count || size + text.length > characters)) {
      yield group
      group = []
      size = 0
    }
    group.push(text)
    size += text.length
  }
  if (group.length > 0) yield group
}
