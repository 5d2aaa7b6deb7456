import { readMetadata } from '../access/document-metadata.ts'
import { resolveFilters } from '../access/filters.ts'
import type { EmbeddingCalls } from '../calls/embedding.ts'
import { toSearchQuery } from '../chunking/search-text.ts'
import type { FoundPassage, SearchRequest } from '../contracts/search.ts'
import type { IndexFilter, IndexQuery } from '../contracts/vector-index.ts'
import { createHighlighter } from './highlights.ts'
import { joinHits, toPassage, type JoinedHits } from './passages.ts'
import { hitsToRank, rank, type RankingContext } from './ranking.ts'
import { findVisible, type LookContext } from './visible-hits.ts'

export interface SearchContext extends LookContext, RankingContext {
  readonly embedding?: EmbeddingCalls
  /** Whether searches use the vector of a query now. */
  readonly takesVectors: () => Promise<boolean>
}

/** Characters of a query that are looked for: a longer text is no question, and each of its words costs. */
const longestQuery = 8000

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
  const limit = Math.min(Math.max(Math.trunc(request.limit ?? 10), 1), 200)
  const filter = given ?? (await resolveFilters(context.db, request.filters, request.caller))
  const text = request.text.slice(0, longestQuery)
  const words = toSearchQuery(text)
  if (words === '' || filter.pairs?.length === 0) return []
  const { embedding, takesVectors } = context
  const vector = embedding && (await takesVectors()) ? await embedding.embedQuery(text, request.signal) : undefined
  const query: IndexQuery = { text: words, vector, filter, limit: 0, signal: request.signal }
  for (let count = Math.max(limit * 2 + 10, hitsToRank(context, request)); ; count *= 3) {
    const { hits, isAll } = await findVisible({ ...query, limit: count }, { ...context, caller: request.caller?.id })
    const joined = joinHits(hits)
    if (!isAll && count < mostHits && joined.length < limit) continue
    const ranked = await rank(hits, request, context)
    return toPassages((ranked === hits ? joined : joinHits(ranked)).slice(0, limit), text, context)
  }
}

async function toPassages(joined: readonly JoinedHits[], text: string, { db }: SearchContext): Promise<FoundPassage[]> {
  const highlight = createHighlighter(text)
  const bare = joined.filter(({ best }) => !best.metadata.metadata).map(({ best }) => best.hit.documentId)
  const metadata = bare.length > 0 ? await readMetadata(db, bare) : undefined
  return joined.map((hits) => toPassage(hits, { highlight, metadata: metadata?.get(hits.best.hit.documentId) }))
}
