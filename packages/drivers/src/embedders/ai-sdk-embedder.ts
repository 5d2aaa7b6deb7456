import type { EmbeddingModelV2, EmbeddingModelV3, EmbeddingModelV4 } from '@ai-sdk/provider'
import type { Embedder } from '@inlay/knowledge'
import { InlayError, checkRequired, isObject } from '@inlay/protocol'
import { createEmbedder, type RemoteEmbedderOptions } from './create-embedder.ts'
import { requiredDimensions, readVectors } from './embeddings-reply.ts'
import { refusalOf } from '../http/refusals.ts'
import { serviceOptions, retrying } from '../http/retrying.ts'
import { callSdk, type FailureWords } from '../http/sdk-failure.ts'

/** An embedding model of the AI SDK, of any of its last three specifications. */
export type EmbeddingModelObject = EmbeddingModelV2<string> | EmbeddingModelV3 | EmbeddingModelV4

export interface AiSdkEmbedderOptions extends RemoteEmbedderOptions {
  /** Embedding model of a provider package, e.g. `createOpenAI(…).embeddingModel('text-embedding-3-small')`. */
  readonly model: EmbeddingModelObject
  /** Whether to request that length. Default false: the model has a fixed length. */
  readonly asksForDimensions?: boolean
  /** Names the vector space, without the dimensions. Default: provider and id of the model. */
  readonly space?: string
  /** Options for the provider, for documents and for queries, e.g. `{ query: { google: { taskType: 'RETRIEVAL_QUERY' } }, … }`. */
  readonly providerOptions?: Partial<Record<'document' | 'query', ProviderOptions>>
  /** Maximum number of texts per request; never more than the model accepts. Default 96. */
  readonly maxBatchSize?: number
}

/** Options that a provider of the AI SDK understands, by its name. */
export type ProviderOptions = NonNullable<Parameters<EmbeddingModelV4['doEmbed']>[0]['providerOptions']>

const subject = 'The embedding service'

/**
 * Any embedding model of the AI SDK. Requests contain as many texts as the model accepts, and are retried after rate
 * limits, server errors and broken connections, waiting as long as the service asks. Run `embedderConformance`.
 * @throws INVALID_INPUT for options that cannot work; from `embed`: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT (with
 * `data.retryAfterSeconds` when the service sends it), BUDGET_EXCEEDED, REQUEST_TOO_LARGE, UNPROCESSABLE_ENTITY, NOT_FOUND, API_ERROR,
 * CONNECTION_ERROR, GATEWAY_TIMEOUT, BAD_GATEWAY (vectors of another number or form), INDEX_MISMATCH (of another length)
 * @example aiSdkEmbedder({ model: createOpenAI({ apiKey }).embeddingModel('text-embedding-3-small'), dimensions: 1536 })
 */
export function aiSdkEmbedder(options: AiSdkEmbedderOptions): Embedder {
  checkRequired(
    'aiSdkEmbedder',
    options,
    `${serviceOptions} dimensions asksForDimensions space providerOptions maxBatchSize maxBatchCharacters prefixes`,
    {
      model: ['an embedding model of the AI SDK', isObject],
      dimensions: requiredDimensions,
    },
  )
  const { model, dimensions, maxBatchSize = 96, maxBatchCharacters: characters = 400_000 } = options
  const { modelId, provider } = model
  const named = { model: modelId, space: options.space ?? `${provider}/${modelId}` }
  const limits = async (): Promise<{ count: number; characters: number }> => ({
    count: Math.min(maxBatchSize, (await model.maxEmbeddingsPerCall) ?? Infinity),
    characters,
  })
  return createEmbedder({ ...options, ...named, maxBatchSize, limits }, async (values, use, signal) => {
    const embeddings = await retrying(() => request(options, { values, use, signal }), signal, options)
    const data = embeddings.map((embedding, index) => ({ index, embedding }))
    return readVectors({ data }, { count: values.length, dimensions })
  })
}

async function request(
  options: AiSdkEmbedderOptions,
  { values, use, signal }: { values: string[]; use: 'document' | 'query'; signal: AbortSignal | undefined },
): Promise<readonly unknown[]> {
  const { dimensions, asksForDimensions, headers, timeoutMs = 60_000 } = options
  // The specifications agree in what is sent and read here.
  const model = options.model as EmbeddingModelV4
  const providerOptions = options.providerOptions?.[use]
  const call = {
    values,
    ...(asksForDimensions ? { dimensions } : {}),
    ...(providerOptions ? { providerOptions } : {}),
    ...(headers ? { headers } : {}),
  }
  const send = (abortSignal: AbortSignal): ReturnType<typeof model.doEmbed> => model.doEmbed({ ...call, abortSignal })
  return (await callSdk(send, { signal, timeoutMs }, words)).embeddings
}

const words: FailureWords = {
  subject,
  refused: (refusal) => refusalOf({ subject, ...refusal }),
  unusable: (cause) =>
    new InlayError('BAD_GATEWAY', {
      message: `${subject} sent something else than embeddings: check its base URL.`,
      cause,
    }),
}
