import { InlayError, isInlayError } from '@inlay/protocol'
import { boundedCall } from './bounded-call.ts'
import type { Embedder } from '../contracts/vector-index.ts'

/** How an embedder is called. Times are milliseconds. */
export interface EmbeddingOptions {
  readonly embedder: Embedder
  /** Longest wait for one call with texts of documents. Default 60 000. */
  readonly documentTimeoutMs?: number | undefined
  /** Longest wait for the vector of a query before words alone answer it. Default 300. */
  readonly queryTimeoutMs?: number | undefined
  /** Hears why queries are answered by words alone; at most once a minute for those that take too long. */
  readonly onError: (error: unknown) => void
  /** A clock that never goes back. Default `performance.now`. */
  readonly elapsedMs?: () => number
}

/** Most texts in one call even when the embedder sets no bound, so that others get their turn. */
const largestBatch = 256
const firstBatch = 8
/** How long a call with texts of documents should take: a query may have to wait as long at the embedder. */
const [usualCallMs, callMsBesideQueries] = [1000, 150]
/** So long after a query more queries are expected. */
const queriesExpectedMs = 10_000
/** Texts of documents wait no longer for queries. */
const longestHoldMs = 1000
/** Documents of a claim become searchable together: after about this time. */
const claimMs = 10_000
/** Before anything is known of the embedder's speed. */
const firstClaimCharacters = 200_000
/** A vector that comes late is kept for the next time, up to this. */
const lateQueryMs = 10_000
const mostLateQueries = 4
const keptVectors = 200
const reportEveryMs = 60_000

/**
 * Calls an embedder for documents and queries. Batches of documents are sized by how fast it is: half as large after a
 * timeout, then growing again. They wait while a query is on its way, so that a query does not wait for them.
 */
export class EmbeddingCalls {
  readonly embedder: Embedder
  readonly #documentTimeoutMs: number
  readonly #queryTimeoutMs: number
  readonly #elapsedMs: () => number
  readonly #onError: (error: unknown) => void
  /** Most texts in a call, as calls have shown. */
  #batchLimit = firstBatch
  #msPerText = 0
  #charactersPerMs = 0
  #lastQueryAt = -Infinity
  #reportedAt = -Infinity
  /** Settle once their queries are answered or given up. */
  readonly #waitingQueries = new Set<Promise<unknown>>()
  #lateQueries = 0
  /** Vectors that came too late for their queries, by text, the newest last. */
  readonly #lateVectors = new Map<string, Float32Array>()

  constructor(options: EmbeddingOptions) {
    this.embedder = options.embedder
    this.#documentTimeoutMs = options.documentTimeoutMs ?? 60_000
    this.#queryTimeoutMs = options.queryTimeoutMs ?? 300
    this.#elapsedMs = options.elapsedMs ?? (() => performance.now())
    this.#onError = options.onError
  }

  /** Most characters of documents that a claim should take. */
  claimCharacters(): number {
    return this.#charactersPerMs === 0 ? firstClaimCharacters : this.#charactersPerMs * claimMs
  }

  /**
   * Embeds the texts of documents, each different one once, those with a known vector not at all.
   * @returns one checked vector a text, in the order of the texts
   * @throws InlayError with a safe message; `retryable` when the model may work later
   */
  async embedDocuments(
    texts: readonly string[],
    { known, signal }: { readonly known?: ReadonlyMap<string, Float32Array>; readonly signal?: AbortSignal } = {},
  ): Promise<Float32Array[]> {
    const vectors = new Map<string, Float32Array>()
    const missing: string[] = []
    for (const text of new Set(texts)) {
      const vector = known?.get(text)
      if (vector?.length === this.embedder.dimensions) vectors.set(text, vector)
      else missing.push(text)
    }
    for (let from = 0; from < missing.length;) {
      await this.#letQueriesPass()
      const batch = missing.slice(from, from + this.#batchSize())
      const embedded = await this.#embedBatch(batch, signal)
      if (!embedded) continue
      batch.forEach((text, at) => vectors.set(text, embedded[at]!))
      from += batch.length
    }
    return texts.map((text) => vectors.get(text)!)
  }

  /**
   * The vector of a query; undefined when it fails, does not come in time or would say nothing, so that words alone have
   * to answer. A late one is kept, so that the same query has it the next time.
   */
  async embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array | undefined> {
    if (this.embedder.isLatinOnly && !isMostlyLatin(text)) return undefined
    this.#lastQueryAt = this.#elapsedMs()
    const kept = this.#lateVectors.get(text)
    if (kept) return kept
    // More of them would only pile up at an embedder that does not answer.
    if (this.#lateQueries >= mostLateQueries) return undefined
    const call = this.#call([text], 'query', lateQueryMs, signal)
    const { promise: timeUp, resolve } = Promise.withResolvers<'late'>()
    const timer = setTimeout(resolve, this.#queryTimeoutMs, 'late')
    const answer = Promise.race([call, timeUp])
    const waiting = answer.then(
      () => {},
      () => {},
    )
    this.#waitingQueries.add(waiting)
    try {
      const vectors = await answer
      if (vectors !== 'late') return vectors[0]
      void this.#keepLate(text, call)
      this.#reportLate()
    } catch (error) {
      signal?.throwIfAborted()
      this.#onError(error)
    } finally {
      clearTimeout(timer)
      this.#waitingQueries.delete(waiting)
    }
    return undefined
  }

  async #keepLate(text: string, call: Promise<readonly Float32Array[]>): Promise<void> {
    this.#lateQueries++
    const [vector] = await call.catch(() => [])
    this.#lateQueries--
    if (!vector) return
    this.#lateVectors.set(text, vector)
    if (this.#lateVectors.size > keptVectors) this.#lateVectors.delete(this.#lateVectors.keys().next().value!)
  }

  #reportLate(): void {
    if (this.#elapsedMs() - this.#reportedAt < reportEveryMs) return
    this.#reportedAt = this.#elapsedMs()
    this.#onError(
      new InlayError('GATEWAY_TIMEOUT', {
        message: `The embedding model did not answer a query in ${this.#queryTimeoutMs} ms, so words alone answered it.`,
      }),
    )
  }

  async #letQueriesPass(): Promise<void> {
    const began = this.#elapsedMs()
    while (this.#waitingQueries.size > 0 && this.#elapsedMs() - began < longestHoldMs)
      await Promise.all(this.#waitingQueries)
  }

  #batchSize(): number {
    const expectsQueries = this.#elapsedMs() - this.#lastQueryAt < queriesExpectedMs
    const callMs = expectsQueries ? callMsBesideQueries : usualCallMs
    const inTime = this.#msPerText === 0 ? Infinity : Math.floor(callMs / this.#msPerText)
    return Math.max(1, Math.min(this.#batchLimit, inTime, this.embedder.batch, largestBatch))
  }

  /** Undefined when the embedder was too slow for so many texts: the next batch is smaller. */
  async #embedBatch(batch: string[], signal: AbortSignal | undefined): Promise<Float32Array[] | undefined> {
    const began = this.#elapsedMs()
    try {
      const vectors = await this.#call(batch, 'document', this.#documentTimeoutMs, signal)
      this.#noteSpeed(batch, Math.max(0.01, this.#elapsedMs() - began))
      if (batch.length >= this.#batchLimit) this.#batchLimit = Math.min(this.#batchLimit * 2, largestBatch)
      return vectors
    } catch (error) {
      const wasSlow = isInlayError(error) && error.code === 'GATEWAY_TIMEOUT' && batch.length > 1
      if (!wasSlow || signal?.aborted) throw error
      this.#batchLimit = Math.max(1, Math.floor(batch.length / 2))
      return undefined
    }
  }

  #noteSpeed(batch: readonly string[], tookMs: number): void {
    const characters = batch.reduce((sum, text) => sum + text.length, 0)
    const mix = (old: number, latest: number): number => (old === 0 ? latest : old * 0.7 + latest * 0.3)
    this.#msPerText = mix(this.#msPerText, tookMs / batch.length)
    this.#charactersPerMs = mix(this.#charactersPerMs, characters / tookMs)
  }

  #call(
    texts: readonly string[],
    use: 'document' | 'query',
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    const { embedder } = this
    return boundedCall(
      async (either) => {
        const vectors = await embedder.embed(texts, use, either)
        check(vectors, texts.length, embedder.dimensions)
        return vectors
      },
      { part: 'The embedding model', timeoutMs, signal },
    )
  }
}

function isMostlyLatin(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? []
  return letters.filter((letter) => /\p{Script=Latin}/u.test(letter)).length * 2 >= letters.length
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
