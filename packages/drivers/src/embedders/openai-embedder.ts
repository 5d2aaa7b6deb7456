import type { Embedder } from '@inlay/knowledge'
import { checkRequired, isText } from '@inlay/protocol'
import { groupsOf } from '../http/batches.ts'
import { requiredDimensions, readVectors } from './embeddings-reply.ts'
import { createJsonPost, endpointOf } from '../http/json-post.ts'
import type { RetryOptions } from '../http/retrying.ts'
import { embedPiecemeal, refusalOfTexts } from './refused-texts.ts'
import { isEnglishModel, knownPrefixes, spaceOfPrefix, type EmbedderPrefixes } from './known-prefixes.ts'

/** An embeddings endpoint that speaks OpenAI's protocol. */
export interface OpenaiEmbedderOptions extends RetryOptions {
  /** Address before `/embeddings`, e.g. `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** Sent as `Authorization: Bearer`; local servers often need none. */
  readonly apiKey?: string
  /** Name of the model. */
  readonly model: string
  /** Length of the vectors, 1 to 8192; a vector of another length is refused. */
  readonly dimensions: number
  /** Begins the name of the vector space. Default `openai`. */
  readonly provider?: string
  /** Whether to request that length. Default: for OpenAI's `text-embedding-3` models, which support it. */
  readonly asksForDimensions?: boolean
  /** Encoding of vectors: `base64` is a third of the size, but not every server supports it. Default `float`. */
  readonly encoding?: 'float' | 'base64'
  /**
   * Put before each text, for models that distinguish documents from queries, e.g. `{ document: 'passage: ', query: 'query: ' }`.
   * Default: what is known of the model by its name (E5, BGE, Nomic, Snowflake Arctic, GTE, Jina, Qwen3 and some more).
   */
  readonly prefixes?: Partial<EmbedderPrefixes>
  /** Most texts in one request. Default 96. */
  readonly maxBatchSize?: number
  /** Maximum number of characters per request; a single longer text is sent alone. Default 400 000. */
  readonly maxBatchCharacters?: number
  /** Longest time one try may take, in milliseconds. Default 60 000. */
  readonly timeoutMs?: number
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * An embedding model behind an OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, TEI, LM Studio, …). Tries again after
 * 408, 429, 5xx and broken connections, as long as the server asks. Texts that it refuses together go in smaller requests;
 * of a text that is too long for the model, the beginning is embedded. Run `embedderConformance`.
 * @throws INVALID_INPUT for options that cannot work; from `embed`: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT (with
 * `data.retryAfterSeconds` when the service sends it), BUDGET_EXCEEDED, REQUEST_TOO_LARGE, UNPROCESSABLE_ENTITY, NOT_FOUND, API_ERROR,
 * CONNECTION_ERROR, GATEWAY_TIMEOUT, BAD_GATEWAY (a reply of another shape), INDEX_MISMATCH (vectors of another length)
 * @example openaiEmbedder({ baseUrl: 'http://127.0.0.1:11434/v1', model: 'nomic-embed-text', dimensions: 768 })
 */
export function openaiEmbedder(options: OpenaiEmbedderOptions): Embedder {
  checkRequired('openaiEmbedder', options, {
    model: ['the name of a model', isText],
    baseUrl: ['the address of the API', isText],
    dimensions: requiredDimensions,
  })
  const {
    model,
    dimensions,
    provider = 'openai',
    maxBatchSize = 96,
    maxBatchCharacters = 400_000,
    encoding = 'float',
  } = options
  const prefixes = { ...knownPrefixes(model), ...options.prefixes }
  const asksForDimensions = options.asksForDimensions ?? model.startsWith('text-embedding-3')
  const post = createJsonPost({
    ...options,
    subject: 'The embedding service',
    toRefusal: refusalOfTexts,
    address: endpointOf(options.baseUrl, '/embeddings', 'an embedding model'),
  })

  async function request(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const reply = await post(
      { model, input: texts, encoding_format: encoding, ...(asksForDimensions ? { dimensions } : {}) },
      signal,
    )
    return readVectors(reply, { count: texts.length, dimensions })
  }

  let maxTexts = maxBatchSize
  return {
    id: `${provider}/${model}${spaceOfPrefix(prefixes)}@${dimensions}`,
    dimensions,
    maxBatchSize,
    isLatinOnly: isEnglishModel(model),
    async embed(texts, use, signal) {
      signal?.throwIfAborted()
      // An empty input is refused by many servers.
      const inputs = texts.map((text) => `${prefixes[use]}${text}` || ' ')
      const vectors: Float32Array[] = []
      const send = (group: readonly string[]): Promise<Float32Array[]> => request(group, signal)
      for (const group of groupsOf(inputs, { count: maxTexts, characters: maxBatchCharacters }))
        vectors.push(...(await embedPiecemeal(group, send, (most) => (maxTexts = Math.min(maxTexts, most)))))
      return vectors
    },
  }
}
