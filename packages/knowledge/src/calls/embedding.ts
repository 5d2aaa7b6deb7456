import { InlayError, isInlayError } from '@inlay/protocol'
import { boundedCall } from './bounded-call.ts'
import type { Embedder } from '../contracts/vector-index.ts'

/** Options of the calls to an embedder. Times are in milliseconds. */
export interface EmbeddingOptions {
  readonly embedder: Embedder
  /** Timeout of a call with texts of documents. Default 60 000. */
  readonly documentTimeoutMs?: number | undefined
  /** Maximum wait for the vector of a query; after it, only keyword search is used. Default 300. */
  readonly queryTimeoutMs?: number | undefined
  /** Receives the reason why queries use keyword search only; at most once a minute for timeouts. */
  readonly onError: (error: unknown) => void
  /** Monotonic clock. Default `performance.now`. */
  readonly elapsedMs?: () => number
}

/** Maximum number of texts per call if the embedder sets no limit, so that other calls are not delayed. */
const maxBatch = 256
const firstBatch = 8
/** Target duration of a call with texts of documents: a query may have to wait that long at the embedder. */
const [usualCallMs, callMsBesideQueries] = [1000, 150]
/** For this long after a query, further queries are expected. */
const queriesExpectedMs = 10_000
/** Maximum delay of texts of documents in favour of queries. */
const maxHoldMs = 1000
/** Documents of one claim become searchable together, after about this time. */
const claimMs = 10_000
/** Used before the speed of the embedder is known. */
const firstClaimCharacters = 200_000
/** A vector that arrives after the query's timeout, but within this time, is kept for the next identical query. */
const lateQueryMs = 10_000
const maxLateQueries = 4
const keptVectors = 200
const reportEveryMs = 60_000

/**
 * Calls an embedder for documents and queries. The size of document batches follows the embedder's speed: halved after
 * a timeout, then growing again. Batches wait while a query is running, so that queries do not wait for them.
 */
export class EmbeddingCalls {
  readonly embedder: Embedder
  readonly #documentTimeoutMs: number
  readonly #queryTimeoutMs: number
  readonly #elapsedMs: () => number
  readonly #onError: (error: unknown) => void
  /** Maximum number of texts per call, adapted to measured calls. */
  #batchLimit = firstBatch
  #msPerText = 0
  #charactersPerMs = 0
  #lastQueryAt = -Infinity
  #reportedAt = -Infinity
  /** Promises that settle once their queries are answered or have timed out. */
  readonly #waitingQueries = new Set<Promise<unknown>>()
  #lateQueries = 0
  /** Vectors that arrived after their query's timeout, by text, newest last. */
  readonly #lateVectors = new Map<string, Float32Array>()

  constructor(options: EmbeddingOptions) {
    this.embedder = options.embedder
    this.#documentTimeoutMs = options.documentTimeoutMs ?? 60_000
    this.#queryTimeoutMs = options.queryTimeoutMs ?? 300
    this.#elapsedMs = options.elapsedMs ?? (() => performance.now())
    this.#onError = options.onError
  }

  claimCharacters(): number {
    return this.#charactersPerMs === 0 ? firstClaimCharacters : this.#charactersPerMs * claimMs
  }

  /**
   * Embeds the texts of documents. Duplicates are embedded once; texts with a known vector are skipped.
   * @returns one validated vector per text, in the order of the texts
   * @throws InlayError with a message that is safe to show; `retryable` when the model may work later
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
   * The vector of a query; undefined after a failure, after the timeout, or for a text that the embedder cannot embed
   * well. A late vector is kept for the next identical query.
   */
  async embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array | undefined> {
    if (this.embedder.isLatinOnly && !isMostlyLatin(text)) return undefined
    this.#lastQueryAt = this.#elapsedMs()
    const kept = this.#lateVectors.get(text)
    if (kept) return kept
    // More calls would only pile up at an embedder that does not respond.
    if (this.#lateQueries >= maxLateQueries) return undefined
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
        message: `The embedding model did not respond to a query within ${this.#queryTimeoutMs} ms, so only keyword search was used.`,
      }),
    )
  }

  async #letQueriesPass(): Promise<void> {
    const began = this.#elapsedMs()
    while (this.#waitingQueries.size > 0 && this.#elapsedMs() - began < maxHoldMs)
      await Promise.all(this.#waitingQueries)
  }

  #batchSize(): number {
    const expectsQueries = this.#elapsedMs() - this.#lastQueryAt < queriesExpectedMs
    const callMs = expectsQueries ? callMsBesideQueries : usualCallMs
    const inTime = this.#msPerText === 0 ? Infinity : Math.floor(callMs / this.#msPerText)
    return Math.max(1, Math.min(this.#batchLimit, inTime, this.embedder.maxBatchSize, maxBatch))
  }

  /** Undefined if the embedder was too slow for the batch; the next batch is then smaller. */
  async #embedBatch(batch: string[], signal: AbortSignal | undefined): Promise<Float32Array[] | undefined> {
    const began = this.#elapsedMs()
    try {
      const vectors = await this.#call(batch, 'document', this.#documentTimeoutMs, signal)
      this.#noteSpeed(batch, Math.max(0.01, this.#elapsedMs() - began))
      if (batch.length >= this.#batchLimit) this.#batchLimit = Math.min(this.#batchLimit * 2, maxBatch)
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

/** An index accepts vectors with the wrong length or values without an error and then returns wrong results. */
function check(vectors: readonly Float32Array[], count: number, dimensions: number): void {
  const isRight =
    vectors.length === count && vectors.every((vector) => vector.length === dimensions && isFiniteVector(vector))
  if (!isRight)
    throw new InlayError('BAD_GATEWAY', {
      message:
        'The embedding model returned vectors with the wrong number, length or values: check the ' +
        'configured dimensions.',
      retryable: false,
    })
}

/**
 * Whether all values are finite: multiplied by zero, only finite numbers give zero. Ten times faster than checking each
 * value.
 */
function isFiniteVector(vector: Float32Array): boolean {
  let sum = 0
  for (let at = 0; at < vector.length; at++) sum += vector[at]! * 0
  return sum === 0
}
