import { serviceOptions } from '../http/retrying.ts'
import type { Embedder } from '@inlay/knowledge'
import { checkRequired, isText } from '@inlay/protocol'
import { createEmbedder, type RemoteEmbedderOptions } from './create-embedder.ts'
import { requiredDimensions, readVectors } from './embeddings-reply.ts'
import { createJsonPost, endpointOf } from '../http/json-post.ts'
import { embedPiecemeal, refusalOfTexts } from './refused-texts.ts'

export interface OpenaiEmbedderOptions extends RemoteEmbedderOptions {
  /** Address before `/embeddings`, e.g. `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** Sent as `Authorization: Bearer`; local servers often need none. */
  readonly apiKey?: string
  /** Name of the model. */
  readonly model: string
  /** Begins the name of the vector space. Default `openai`. */
  readonly provider?: string
  /** Whether to request that length. Default: for OpenAI's `text-embedding-3` models, which support it. */
  readonly asksForDimensions?: boolean
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * An embedding model behind an OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, TEI, LM Studio, …). Retries after
 * 408, 429, 5xx and broken connections, waiting as long as the server asks. Texts refused together are sent in smaller
 * requests; of a text that is too long for the model, only the beginning is embedded. Run `embedderConformance`.
 * @throws INVALID_INPUT for options that cannot work; from `embed`: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT (with
 * `data.retryAfterSeconds` when the service sends it), BUDGET_EXCEEDED, REQUEST_TOO_LARGE, UNPROCESSABLE_ENTITY, NOT_FOUND, API_ERROR,
 * CONNECTION_ERROR, GATEWAY_TIMEOUT, BAD_GATEWAY (a reply of another shape), INDEX_MISMATCH (vectors of another length)
 * @example openaiEmbedder({ baseUrl: 'http://127.0.0.1:11434/v1', model: 'nomic-embed-text', dimensions: 768 })
 */
export function openaiEmbedder(options: OpenaiEmbedderOptions): Embedder {
  checkRequired(
    'openaiEmbedder',
    options,
    `${serviceOptions} dimensions apiKey provider asksForDimensions fetch maxBatchSize maxBatchCharacters prefixes`,
    {
      model: ['the name of a model', isText],
      baseUrl: ['the address of the API', isText],
      dimensions: requiredDimensions,
    },
  )
  const { model, dimensions, provider = 'openai', maxBatchSize = 96, maxBatchCharacters = 400_000 } = options
  const asksForDimensions = options.asksForDimensions ?? model.startsWith('text-embedding-3')
  const post = createJsonPost({
    ...options,
    subject: 'The embedding service',
    toRefusal: refusalOfTexts,
    url: endpointOf(options.baseUrl, '/embeddings', 'an embedding model'),
  })

  async function request(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const reply = await post(
      { model, input: texts, encoding_format: 'float', ...(asksForDimensions ? { dimensions } : {}) },
      signal,
    )
    return readVectors(reply, { count: texts.length, dimensions })
  }

  let maxTexts = maxBatchSize
  const limits = (): { count: number; characters: number } => ({ count: maxTexts, characters: maxBatchCharacters })
  const space = `${provider}/${model}`
  return createEmbedder({ ...options, space, maxBatchSize, limits }, (group, _use, signal) =>
    embedPiecemeal(
      group,
      (texts) => request(texts, signal),
      (most) => (maxTexts = Math.min(maxTexts, most)),
    ),
  )
}
