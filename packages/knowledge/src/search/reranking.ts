import { InlayError } from '@inlay/protocol'
import { boundedCall } from '../calls/bounded-call.ts'
import { decodeChunkMetadata } from '../chunking/chunk-metadata.ts'
import { toEmbedText } from '../chunking/rows.ts'
import type { Recency, Reranker } from '../contracts/search.ts'
import type { Hit, HitRanking } from '../contracts/vector-index.ts'

/** Options for reordering the hits of the index. */
export interface RankingOptions {
  /** Number of best hits that the reranker scores. Default 50. */
  readonly maxRerankedHits?: number
  /** Timeout of the reranker, in milliseconds; after it, the order of the index is used. Default 5000. */
  readonly rerankTimeoutMs?: number
  /** Default preference for newer documents. Default: none. */
  readonly recency?: Recency
}

export interface RankingContext {
  readonly ranking?: RankingOptions
  readonly reranker?: Reranker
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

export interface RankedQuery {
  readonly text: string
  readonly recency?: Recency | null
  readonly signal?: AbortSignal
}

/** Number of hits to request from the index, so that ranking has enough to choose from. */
export function hitsToRank({ ranking, reranker }: RankingContext, { recency }: RankedQuery): number {
  const isWeighed = recency === undefined ? ranking?.recency !== undefined : recency !== null
  const judged = reranker ? (ranking?.maxRerankedHits ?? defaultHits) : 0
  return Math.max(judged, isWeighed ? defaultHits : 0)
}

const defaultHits = 50
const defaultTimeoutMs = 5000

/**
 * Puts hits in their final order: the best ones by the scores of the reranker, then all by recency.
 * @param hits by descending score
 * @returns by descending score, in [0, 1]
 * @throws INVALID_INPUT for a recency without a half-life
 */
export async function rank(hits: readonly Hit[], query: RankedQuery, context: RankingContext): Promise<readonly Hit[]> {
  const { reranker } = context
  const judged = reranker && hits.length > 1 ? await rerank(hits, query, reranker, context) : hits
  const recency = query.recency === undefined ? context.ranking?.recency : query.recency
  return recency ? preferRecent(judged, recency, context.now()) : judged
}

/** If the reranker fails, the search continues with the order of the index. */
async function rerank(
  hits: readonly Hit[],
  { text, signal }: RankedQuery,
  reranker: Reranker,
  { ranking, onError }: RankingContext,
): Promise<readonly Hit[]> {
  const best = hits.slice(0, ranking?.maxRerankedHits ?? defaultHits)
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
    const judged = best
      .map((hit, at): Hit => ({ ...hit, score: scores[at]!, ranking: { ...rankingOf(hit), isReranked: true } }))
      .toSorted(byScore)
    return [...judged, ...below(hits.slice(best.length), judged.at(-1)!.score)]
  } catch (error) {
    signal?.throwIfAborted()
    onError(error)
    return hits
  }
}

function check(scores: readonly number[], count: number): void {
  if (scores.length === count && scores.every((score) => Number.isFinite(score))) return
  throw new InlayError('BAD_GATEWAY', { message: 'The reranker did not return one number per text.' })
}

/** Scores in [0, 1] in the same order: logits are converted with the logistic function. */
function toShares(scores: readonly number[]): readonly number[] {
  const areShares = scores.every((score) => score >= 0 && score <= 1)
  return areShares ? scores : scores.map((score) => 1 / (1 + Math.exp(-score)))
}

/** Hits that were not reranked follow the others, in their own order. */
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
      const factor = 1 - weight + weight * 2 ** (-ageDays / halfLifeDays)
      return { ...hit, score: hit.score * factor, ranking: { ...rankingOf(hit), recency: factor } }
    })
    .toSorted(byScore)
}

/** Parts of a score; an index without fusion has only words to rank by. */
export function rankingOf({ ranking, score }: Hit): HitRanking {
  return ranking ?? { words: score, vectorWeight: 0 }
}

function byScore(left: Hit, right: Hit): number {
  return right.score - left.score
}
