import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import type { Embedder } from '@inlay/knowledge'
import { InlayError, checkRequired, isObject } from '@inlay/protocol'
import { groupsOf } from '../http/batches.ts'
import { requiredDimensions, readVectors } from './embeddings-reply.ts'
import { isEnglishModel, knownPrefixes, spaceOfPrefix, type EmbedderPrefixes } from './known-prefixes.ts'
import { refusalOf } from '../http/refusals.ts'
import { retrying, type RetryOptions } from '../http/retrying.ts'
import { toSdkFailure } from '../http/sdk-failure.ts'

/** An embedding model of the AI SDK, and how it is called. */
export interface AiSdkEmbedderOptions extends RetryOptions {
  /** Embedding model of a provider package, e.g. `createOpenAI(…).embeddingModel('text-embedding-3-small')`. */
  readonly model: EmbeddingModelV4
  /** Length of the vectors, 1 to 8192; a vector of another length is refused. */
  readonly dimensions: number
  /** Whether to request that length. Default false: the model has a fixed length. */
  readonly asksForDimensions?: boolean
  /** Names the vector space, without the dimensions. Default: provider and id of the model. */
  readonly space?: string
  /**
   * Put before each text, for models that distinguish documents from queries, e.g. `{ document: 'passage: ', query: 'query: ' }`.
   * Default: what is known of the model by its name (E5, BGE, Nomic, Snowflake Arctic, GTE, Jina, Qwen3 and some more).
   */
  readonly prefixes?: Partial<EmbedderPrefixes>
  /** Options for the provider by what a text is, e.g. `{ query: { google: { taskType: 'RETRIEVAL_QUERY' } }, … }`. */
  readonly providerOptions?: Partial<Record<'document' | 'query', ProviderOptions>>
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Most texts in one request; never more than the model says it takes. Default 96. */
  readonly maxBatchSize?: number
  /** Maximum number of characters per request; a single longer text is sent alone. Default 400 000. */
  readonly maxBatchCharacters?: number
  /** Longest time one try may take, in milliseconds. Default 60 000. */
  readonly timeoutMs?: number
}

type CallOptions = Parameters<EmbeddingModelV4['doEmbed']>[0]

/** Options that a provider of the AI SDK understands, by its name. */
export type ProviderOptions = NonNullable<CallOptions['providerOptions']>

const subject = 'The embedding service'

/**
 * Any embedding model of the AI SDK. Requests carry as many texts as the model takes, and are tried again after rate
 * limits, server errors and broken connections, as long as the service asks. Run `embedderConformance`.
 * @throws INVALID_INPUT for options that cannot work; from `embed`: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT (with
 * `data.retryAfterSeconds` when the service sends it), BUDGET_EXCEEDED, REQUEST_TOO_LARGE, UNPROCESSABLE_ENTITY, NOT_FOUND, API_ERROR,
 * CONNECTION_ERROR, GATEWAY_TIMEOUT, BAD_GATEWAY (vectors of another number or form), INDEX_MISMATCH (of another length)
 * @example aiSdkEmbedder({ model: createOpenAI({ apiKey }).embeddingModel('text-embedding-3-small'), dimensions: 1536 })
 */
export function aiSdkEmbedder(options: AiSdkEmbedderOptions): Embedder {
  checkRequired('aiSdkEmbedder', options, {
    model: ['an embedding model of the AI SDK', isObject],
    dimensions: requiredDimensions,
  })
  const { model, dimensions, maxBatchSize = 96, maxBatchCharacters: characters = 400_000 } = options
  const prefixes = { ...knownPrefixes(model.modelId), ...options.prefixes }
  return {
    id: `${options.space ?? `${model.provider}/${model.modelId}`}${spaceOfPrefix(prefixes)}@${dimensions}`,
    dimensions,
    maxBatchSize,
    isLatinOnly: isEnglishModel(model.modelId),
    async embed(texts, use, signal) {
      signal?.throwIfAborted()
      // An empty input is refused by many services.
      const inputs = texts.map((text) => `${prefixes[use]}${text}` || ' ')
      const count = Math.min(maxBatchSize, (await model.maxEmbeddingsPerCall) ?? Infinity)
      const vectors: Float32Array[] = []
      for (const values of groupsOf(inputs, { count, characters })) {
        const embeddings = await retrying(() => request(options, { values, use, signal }), signal, options)
        const data = embeddings.map((embedding, index) => ({ index, embedding }))
        vectors.push(...readVectors({ data }, { count: values.length, dimensions }))
      }
      return vectors
    },
  }
}

async function request(
  options: AiSdkEmbedderOptions,
  { values, use, signal }: { values: string[]; use: 'document' | 'query'; signal: AbortSignal | undefined },
): Promise<readonly unknown[]> {
  const { model, dimensions, asksForDimensions, headers, timeoutMs = 60_000 } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  const providerOptions = options.providerOptions?.[use]
  try {
    const { embeddings } = await model.doEmbed({
      values,
      abortSignal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      ...(asksForDimensions ? { dimensions } : {}),
      ...(providerOptions ? { providerOptions } : {}),
      ...(headers ? { headers } : {}),
    })
    return embeddings
  } catch (error) {
    signal?.throwIfAborted()
    if (timeout.aborted)
      throw new InlayError('GATEWAY_TIMEOUT', { message: `${subject} did not answer in time.`, cause: error })
    throw toInlayError(error)
  }
}

const toInlayError = (error: unknown): InlayError =>
  toSdkFailure(error, {
    subject,
    refused: (refusal) => refusalOf({ subject, ...refusal }),
    unusable: (cause) =>
      new InlayError('BAD_GATEWAY', {
        message: `${subject} sent something else than embeddings: check its base URL.`,
        cause,
      }),
  })
