import { InlayError } from '@inlay/protocol'
import { boundedCall } from './bounded-call.ts'
import type { Embedder } from '../contracts/vector-index.ts'

/** How texts are embedded. */
export interface EmbedOptions {
  readonly embedder: Embedder
  /** Vectors there are already, by text. */
  readonly known?: ReadonlyMap<string, Float32Array>
  /** Longest wait for one call, in milliseconds. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** Most texts in one call even when the embedder sets no bound, so that others get their turn. */
const largestBatch = 256

/**
 * Embeds the texts of documents, each different one once, those with a known vector not at all.
 * @returns one checked vector a text, in the order of the texts
 * @throws InlayError with a safe message; `retryable` when the model may work later
 */
export async function embedDocuments(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
  const { embedder, known } = options
  const vectors = new Map<string, Float32Array>()
  const missing: string[] = []
  for (const text of new Set(texts)) {
    const vector = known?.get(text)
    if (vector?.length === embedder.dimensions) vectors.set(text, vector)
    else missing.push(text)
  }
  const size = Math.max(1, Math.min(embedder.batch, largestBatch))
  for (let from = 0; from < missing.length; from += size) {
    const batch = missing.slice(from, from + size)
    const embedded = await call(batch, 'document', options)
    batch.forEach((text, at) => vectors.set(text, embedded[at]!))
  }
  return texts.map((text) => vectors.get(text)!)
}

/** Embeds a query; see {@link embedDocuments}. */
export async function embedQuery(text: string, options: EmbedOptions): Promise<Float32Array> {
  const [vector] = await call([text], 'query', options)
  return vector!
}

function call(
  texts: readonly string[],
  use: 'document' | 'query',
  { embedder, timeoutMs, signal }: EmbedOptions,
): Promise<Float32Array[]> {
  return boundedCall(
    async (either) => {
      const vectors = await embedder.embed(texts, use, either)
      check(vectors, texts.length, embedder.dimensions)
      return vectors
    },
    { part: 'The embedding model', timeoutMs, signal },
  )
}

/** An index takes a vector of the wrong length without a word and finds nonsense ever after. */
function check(vectors: readonly Float32Array[], count: number, dimensions: number): void {
  const isRight =
    vectors.length === count && vectors.every((vector) => vector.length === dimensions && isFiniteVector(vector))
  if (!isRight)
    throw new InlayError('BAD_GATEWAY', {
      message:
        'The embedding model answered with vectors of the wrong number, length or values: check the configured dimensions.',
      retryable: false,
    })
}

/** Whether all values are finite numbers: times zero only those are zero. A tenth of the cost of asking each. */
function isFiniteVector(vector: Float32Array): boolean {
  let sum = 0
  for (let at = 0; at < vector.length; at++) sum += vector[at]! * 0
  return sum === 0
}
