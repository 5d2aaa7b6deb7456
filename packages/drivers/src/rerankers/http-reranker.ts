import type { Reranker } from '@inlay/knowledge'
import { InlayError, isJsonObject, checkRequired, isText } from '@inlay/protocol'
import { groupsOf } from '../http/batches.ts'
import { createJsonPost, endpointOf } from '../http/json-post.ts'
import { serviceOptions, type RetryOptions } from '../http/retrying.ts'

export interface HttpRerankerOptions extends RetryOptions {
  /** API format: `cohere` (version 2), `jina` (also vLLM, Infinity, LiteLLM …), or `tei`, Text Embeddings Inference. */
  readonly protocol: 'cohere' | 'jina' | 'tei'
  /** Address before `/rerank`: `https://api.cohere.com/v2`, `https://api.jina.ai/v1`, `http://127.0.0.1:8080`. */
  readonly baseUrl: string
  /** Name of the model; `tei` serves one and needs none. */
  readonly model?: string
  /** Sent as `Authorization: Bearer`; local servers often need none. */
  readonly apiKey?: string
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Maximum number of texts per request; requests run concurrently. Default 32 for `tei`, its own default, else 100.
   */
  readonly maxBatchSize?: number
  /** Timeout of one attempt, in milliseconds. Default 5000: a person is waiting for the search. */
  readonly timeoutMs?: number
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

const subject = 'The reranking service'

/**
 * A reranking model over HTTP. Retries once (`attempts`: 2) after 408, 429, 5xx and broken connections, unless the
 * service asks to wait longer than a second (`maxWaitMs`).
 * @throws INVALID_INPUT for options that cannot work; from `rerank`: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT,
 * BUDGET_EXCEEDED, REQUEST_TOO_LARGE, UNPROCESSABLE_ENTITY, NOT_FOUND, API_ERROR, CONNECTION_ERROR, GATEWAY_TIMEOUT,
 * BAD_GATEWAY (a reply of another shape)
 * @example httpReranker({ protocol: 'tei', baseUrl: 'http://127.0.0.1:8080' })
 */
export function httpReranker(options: HttpRerankerOptions): Reranker {
  checkRequired('httpReranker', options, `${serviceOptions} apiKey maxBatchSize fetch`, {
    protocol: ['"cohere", "jina" or "tei"', (value) => value === 'cohere' || value === 'jina' || value === 'tei'],
    baseUrl: ['the address of the API', isText],
    ...(options?.protocol !== 'tei' && { model: ['the name of a model', isText] }),
  })
  const { protocol, maxBatchSize = protocol === 'tei' ? 32 : 100 } = options
  const post = createJsonPost({
    attempts: 2,
    maxWaitMs: 1000,
    timeoutMs: 5000,
    ...options,
    subject,
    url: endpointOf(options.baseUrl, '/rerank', 'a reranking model'),
  })
  return {
    async rerank(query, texts, signal) {
      signal?.throwIfAborted()
      // An empty text is refused by many services.
      const filled = texts.map((text) => text || ' ')
      const groups = [...groupsOf(filled, { count: maxBatchSize, characters: Infinity })]
      const scores = await Promise.all(
        groups.map(async (group) => readScores(await post(bodyOf(options, query, group), signal), group.length)),
      )
      return scores.flat()
    },
  }
}

/** Request body by API; optional features are turned off or left at their defaults. */
function bodyOf({ protocol, model }: HttpRerankerOptions, query: string, texts: readonly string[]): unknown {
  if (protocol === 'tei') return { query, texts, truncate: true }
  const shared = { model, query, documents: texts, top_n: texts.length }
  return protocol === 'jina' ? { ...shared, return_documents: false } : shared
}

/** Scores in the order of the texts; services send them by falling score, each with the number of its text. */
function readScores(reply: unknown, count: number): number[] {
  const results = isJsonObject(reply) && !Array.isArray(reply) ? reply['results'] : reply
  if (!Array.isArray(results)) throw unusable('sent something else than scores: check its base URL and protocol.')
  const scores: (number | undefined)[] = Array.from({ length: count }, () => undefined)
  for (const result of results) {
    const index: unknown = isJsonObject(result) ? result['index'] : undefined
    const score: unknown = isJsonObject(result) ? (result['relevance_score'] ?? result['score']) : undefined
    if (typeof index !== 'number' || !(index in scores) || scores[index] !== undefined)
      throw unusable('did not say which score belongs to which text.')
    if (typeof score !== 'number' || !Number.isFinite(score)) throw unusable('sent a score that is no number.')
    scores[index] = score
  }
  if (scores.includes(undefined)) throw unusable(`sent ${results.length} scores for ${count} texts.`)
  // Every place was filled, see above.
  return scores as number[]
}

function unusable(what: string): InlayError {
  return new InlayError('BAD_GATEWAY', { message: `${subject} ${what}` })
}
