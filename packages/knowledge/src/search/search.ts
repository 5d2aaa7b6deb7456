import type { Embedder, FoundPassage, IndexFilter, IndexQuery, SearchRequest } from '../contracts.ts'
import { embedQuery } from '../indexing/embedding.ts'
import { resolveFilters } from '../access/filters.ts'
import { createHighlighter } from './highlights.ts'
import { joinHits, toPassage } from './passages.ts'
import { hitsToRank, rank, type RankingContext } from './ranking.ts'
import { toSearchQuery } from './search-text.ts'
import { findVisible, type LookContext } from './visible-hits.ts'

/** What a search needs. */
export interface SearchContext extends LookContext, RankingContext {
  readonly embedder?: Embedder
  readonly embedTimeoutMs: number
}

/** Asked for again with three times as many hits until enough of them are visible and apart, at most this many. */
const mostHits = 3000

/**
 * Finds passages, best first. Filters and access bind inside the index; rows of a generation that is not the visible
 * one are dropped, and others asked for in their place.
 * @param given instead of the filters of the request and the caller's access
 * @throws INSUFFICIENT_PERMISSIONS see `resolveFilters`
 */
export async function search(
  request: SearchRequest,
  context: SearchContext,
  given?: IndexFilter,
): Promise<FoundPassage[]> {
  const limit = Math.min(Math.max(Math.trunc(request.limit), 1), 200)
  const filter = given ?? (await resolveFilters(context.db, request.filters, request.caller))
  const words = toSearchQuery(request.text)
  if (words === '' || filter.pairs?.length === 0) return []
  const vector = await toVector(request, context)
  const query: IndexQuery = { text: words, vector, filter, limit: 0, signal: request.signal }
  for (let count = Math.max(limit * 2 + 10, hitsToRank(context, request)); ; count *= 3) {
    const { hits, isAll } = await findVisible({ ...query, limit: count }, context)
    const joined = joinHits(hits)
    if (!isAll && count < mostHits && joined.length < limit) continue
    const ranked = await rank(hits, request, context)
    const highlight = createHighlighter(request.text)
    return (ranked === hits ? joined : joinHits(ranked)).slice(0, limit).map((one) => toPassage(one, highlight))
  }
}

/** An embedder that is down costs a search its sense for meaning, not its answer. */
async function toVector(request: SearchRequest, context: SearchContext): Promise<Float32Array | undefined> {
  const { embedder, embedTimeoutMs, onError } = context
  if (!embedder) return undefined
  try {
    return await embedQuery(request.text, { embedder, timeoutMs: embedTimeoutMs, signal: request.signal })
  } catch (error) {
    request.signal?.throwIfAborted()
    onError(error)
    return undefined
  }
}
