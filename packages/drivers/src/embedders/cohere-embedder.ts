import { serviceOptions } from '../http/retrying.ts'
import type { Embedder } from '@inlay/knowledge'
import { checkRequired, InlayError, isJsonObject, isText } from '@inlay/protocol'
import { createEmbedder, type RemoteEmbedderOptions } from './create-embedder.ts'
import { requiredDimensions, readVectors } from './embeddings-reply.ts'
import { createJsonPost, endpointOf } from '../http/json-post.ts'

/** An embedding model of Cohere, or of a gateway that speaks version 2 of its API. */
export interface CohereEmbedderOptions extends RemoteEmbedderOptions {
  /** Name of the model, e.g. `embed-v4.0` or `embed-multilingual-v3.0`. */
  readonly model: string
  /** API key; refused if it is undefined, as an unset variable is. */
  readonly apiKey: string | undefined
  /** Address before `/embed`. Default `https://api.cohere.com/v2`. */
  readonly baseUrl?: string
  /** Whether to request that length. Default: for `embed-v4` models, which support 256, 512, 1024 and 1536. */
  readonly asksForDimensions?: boolean
  /** Maximum number of texts per request, at most the 96 that Cohere accepts. Default 96. */
  readonly maxBatchSize?: number
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

/** What Cohere accepts in one request. */
const mostTexts = 96

/**
 * An embedding model of Cohere. Its API tells documents from queries by `input_type`, which OpenAI's protocol does not
 * have. Of a text that is too long, the service embeds the beginning. Retries after 408, 429, 5xx and broken connections,
 * waiting as long as the service asks. Run `embedderConformance`.
 * @throws INVALID_INPUT for options that cannot work; from `embed`: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT (with
 * `data.retryAfterSeconds` when the service sends it), BUDGET_EXCEEDED, REQUEST_TOO_LARGE, UNPROCESSABLE_ENTITY, NOT_FOUND, API_ERROR,
 * CONNECTION_ERROR, GATEWAY_TIMEOUT, BAD_GATEWAY (a reply of another shape), INDEX_MISMATCH (vectors of another length)
 * @example cohereEmbedder({ apiKey, model: 'embed-v4.0', dimensions: 1024 })
 */
export function cohereEmbedder(options: CohereEmbedderOptions): Embedder {
  checkRequired(
    'cohereEmbedder',
    options,
    `${serviceOptions} dimensions baseUrl asksForDimensions maxBatchSize fetch maxBatchCharacters prefixes`,
    {
      model: ['the name of a model', isText],
      apiKey: ['an API key', isText],
      dimensions: requiredDimensions,
    },
  )
  const { model, dimensions, baseUrl = 'https://api.cohere.com/v2', maxBatchCharacters: characters = 400_000 } = options
  const maxBatchSize = Math.min(options.maxBatchSize ?? mostTexts, mostTexts)
  const asksForDimensions = options.asksForDimensions ?? model.startsWith('embed-v4')
  const { apiKey, ...given } = options
  const post = createJsonPost({
    ...given,
    ...(apiKey !== undefined && { apiKey }),
    subject: 'The embedding service',
    url: endpointOf(baseUrl, '/embed', 'an embedding model'),
  })
  const limits = { count: maxBatchSize, characters }
  return createEmbedder(
    { ...options, space: `cohere/${model}`, maxBatchSize, limits: () => limits },
    async (texts, use, signal) => {
      const reply = await post(
        {
          model,
          texts,
          input_type: use === 'query' ? 'search_query' : 'search_document',
          embedding_types: ['float'],
          truncate: 'END',
          ...(asksForDimensions ? { output_dimension: dimensions } : {}),
        },
        signal,
      )
      return readVectors({ data: listedIn(reply) }, { count: texts.length, dimensions })
    },
  )
}

/** The vectors of a reply in the form that `readVectors` takes; they come in the order of the texts. */
function listedIn(reply: unknown): { embedding: unknown }[] {
  const byType = isJsonObject(reply) ? reply['embeddings'] : undefined
  const vectors = isJsonObject(byType) ? byType['float'] : undefined
  if (!Array.isArray(vectors))
    throw new InlayError('BAD_GATEWAY', {
      message: 'The embedding service sent something else than embeddings: check its base URL.',
    })
  return vectors.map((embedding: unknown) => ({ embedding }))
}
