import { InlayError } from '@inlay/protocol'
import { boundedCall } from '../calls/bounded-call.ts'
import { decodeChunkMetadata } from '../chunking/chunk-metadata.ts'
import { toEmbedText } from '../chunking/rows.ts'
import type { Recency, Reranker } from '../contracts/search.ts'
import type { Hit } from '../contracts/vector-index.ts'

/** How hits are put in order after the index has. */
export interface RankingOptions {
  /** How many of the best hits the reranker judges. Default 50. */
  readonly rerankedHits?: number
  /** Longest wait for the reranker before the order of the index stands, in milliseconds. Default 5000. */
  readonly rerankTimeoutMs?: number
  /** Prefers newer documents in searches that do not say otherwise. Default: no preference. */
  readonly recency?: Recency
}

export interface RankingContext {
  readonly ranking?: RankingOptions
  readonly reranker?: Reranker
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** A query whose hits are ranked. */
export interface RankedQuery {
  readonly text: string
  readonly recency?: Recency | null
  readonly signal?: AbortSignal
}

/** How many of an index's best hits a search has to ask for so that ranking has something to choose from. */
export function hitsToRank({ ranking, reranker }: RankingContext, { recency }: RankedQuery): number {
  const isWeighed = recency === undefined ? ranking?.recency !== undefined : recency !== null
  const judged = reranker ? (ranking?.rerankedHits ?? defaultHits) : 0
  return Math.max(judged, isWeighed ? defaultHits : 0)
}

const defaultHits = 50
const defaultTimeoutMs = 5000

/**
 * Puts hits in their final order: first as the reranker judges the best of them, then by how recent they are.
 * @param hits by falling score
 * @returns by falling score, in [0, 1]
 * @throws INVALID_INPUT for a recency without a half-life
 */
export async function rank(hits: readonly Hit[], query: RankedQuery, context: RankingContext): Promise<readonly Hit[]> {
  const { reranker } = context
  const judged = reranker && hits.length > 1 ? await rerank(hits, query, reranker, context) : hits
  const recency = query.recency === undefined ? context.ranking?.recency : query.recency
  return recency ? preferRecent(judged, recency, context.now()) : judged
}

/** A reranker that is down costs a search its judgement, not its answer. */
async function rerank(
  hits: readonly Hit[],
  { text, signal }: RankedQuery,
  reranker: Reranker,
  { ranking, onError }: RankingContext,
): Promise<readonly Hit[]> {
  const best = hits.slice(0, ranking?.rerankedHits ?? defaultHits)
  try {
    const texts = best.map((hit) => toEmbedText(decodeChunkMetadata(hit.chunkMetadata), hit.text))
    const scores = await boundedCall(
      async (either) => {
        const scores = await reranker.rerank(text, texts, either)
        check(scores, texts.length)
        return toShares(scores)
      },
      { part: 'The reranker', timeoutMs: ranking?.rerankTimeoutMs ?? defaultTimeoutMs, signal },
    )
    const judged = best.map((hit, at) => ({ ...hit, score: scores[at]! })).toSorted(byScore)
    return [...judged, ...below(hits.slice(best.length), judged.at(-1)!.score)]
  } catch (error) {
    signal?.throwIfAborted()
    onError(error)
    return hits
  }
}

function check(scores: readonly number[], count: number): void {
  if (scores.length === count && scores.every((score) => Number.isFinite(score))) return
  throw new InlayError('BAD_GATEWAY', { message: 'The reranker did not give one number for each text.' })
}

/** Scores in [0, 1] in the same order: rerankers that answer with logits go through the logistic function. */
function toShares(scores: readonly number[]): readonly number[] {
  const areShares = scores.every((score) => score >= 0 && score <= 1)
  return areShares ? scores : scores.map((score) => 1 / (1 + Math.exp(-score)))
}

/** Hits that were not judged follow those that were, in their own order. */
function below(hits: readonly Hit[], most: number): readonly Hit[] {
  return hits.map((hit) => ({ ...hit, score: hit.score * most }))
}

const dayMs = 86_400_000

function preferRecent(hits: readonly Hit[], { halfLifeDays, weight = 0.5 }: Recency, now: number): readonly Hit[] {
  if (!(halfLifeDays > 0 && weight >= 0 && weight <= 1))
    throw new InlayError('INVALID_INPUT', {
      message: 'Recency needs a half-life above 0 days and a weight from 0 to 1.',
    })
  return hits
    .map((hit) => {
      const ageDays = Math.max(0, now - hit.updatedAt) / dayMs
      return { ...hit, score: hit.score * (1 - weight + weight * 2 ** (-ageDays / halfLifeDays)) }
    })
    .toSorted(byScore)
}

function byScore(left: Hit, right: Hit): number {
  return right.score - left.score
}
