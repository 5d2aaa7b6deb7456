import { InlayError, type SearchDoc } from '@inlay/protocol'
import { isAmong } from '@inlay/records'
import { readMetadata } from '../access-and-filters/document-metadata.ts'
import { isInPairs } from '../access-and-filters/documents.ts'
import { resolveFilters } from '../access-and-filters/permissions-and-filters.ts'
import type { EmbeddingCalls } from '../calls/embedding.ts'
import { type ReadHit, decodeChunkMetadata, textOf, titleOf } from '../chunking/chunk-metadata.ts'
import { toSearchQuery } from '../chunking/search-text.ts'
import type { FoundPassage, SearchRequest } from '../contracts/search.ts'
import type { DocumentMetadata } from '../contracts/stored-document.ts'
import type { IndexFilter, IndexQuery, Hit, VectorIndex } from '../contracts/vector-index.ts'
import type { Records } from '../schema/tables.ts'
import type { SearchGate } from './concurrent-searches.ts'
import { createHighlighter, type Highlighter } from './highlights.ts'
import { hitsToRank, rank, type RankingContext } from './reranking.ts'

export interface SearchContext extends LookContext, RankingContext {
  readonly embedding?: EmbeddingCalls
  /** Whether searches use the vector of a query now. */
  readonly takesVectors: () => Promise<boolean>
  /** Whether documents of a lost or damaged index are still to be indexed again, so that no search finds them. */
  readonly lacksDocuments?: () => Promise<boolean>
}

/** Characters of a query that are looked for: a longer text is no question, and each of its words costs. */
const longestQuery = 8000

/** Asked for again with three times as many hits until enough of them are visible and apart, at most this many. */
const mostHits = 3000

/**
 * Finds passages, best first. Filters and access bind inside the index; rows of a generation that is not the visible
 * one are dropped, and others asked for in their place.
 * @param given instead of the filters of the request and the caller's access
 * @throws SERVICE_UNAVAILABLE when nothing is found while a lost index is made anew
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
  const recency = request.recency === undefined ? context.ranking?.recency : request.recency
  const isRanked = Boolean(context.reranker ?? recency)
  for (let count = Math.max(limit * 2 + 10, isRanked ? hitsToRank(context, request) : 0); ; count *= 3) {
    const { hits, isAll } = await findVisible({ ...query, limit: count }, { ...context, caller: request.caller?.id })
    const joined = joinHits(hits)
    if (!isAll && count < mostHits && joined.length < limit) continue
    const ranked = isRanked ? await rank(hits, request, context) : hits
    const shown = (ranked === hits ? joined : joinHits(ranked)).slice(0, limit)
    // Nothing found would say that there is nothing.
    if (shown.length === 0 && (await context.lacksDocuments?.())) throw beingMadeAnew()
    const bare = shown.filter(({ best }) => !best.metadata.metadata).map(({ best }) => best.hit.documentId)
    const metadata = bare.length > 0 ? await readMetadata(context.db, bare) : undefined
    const highlight = createHighlighter(text)
    return shown.map((each) => toPassage(each, { highlight, metadata: metadata?.get(each.best.hit.documentId) }))
  }
}

function beingMadeAnew(): InlayError {
  return new InlayError('SERVICE_UNAVAILABLE', {
    message:
      'The index was lost or damaged and is being made anew: nothing that is in it by now fits. Search again later.',
    retryable: true,
    data: { retryAfterSeconds: 5 },
  })
}

/** Search results the caller may see. */
export interface VisibleHits {
  /** By falling score. */
  readonly hits: readonly Hit[]
  /** Whether the index has no further hits, visible or not. */
  readonly isAll: boolean
}

export interface LookContext {
  readonly db: Records
  readonly index: VectorIndex
  readonly now: () => number
  /** Absent: every search goes to the index at once. */
  readonly gate?: SearchGate
  /** Id of the searching caller, for the gate. */
  readonly caller?: string
}

/** The moment a document was settled is read before its transaction, and from the clock of its process. */
const slackMs = 1000
/** One does, unless rows are cleared away right after they were replaced. */
const mostRounds = 3

/**
 * Asks the index and drops what is not visible. A document that got a new version after the index was read and before
 * the records were has only its old rows among the hits: it is asked for again, by itself, so that no search misses a
 * document because it is being updated.
 */
export async function findVisible(
  query: IndexQuery,
  { db, index, now, gate, caller }: LookContext,
): Promise<VisibleHits> {
  const since = now() - slackMs
  const gated = (part: IndexQuery): Promise<Hit[]> =>
    gate ? gate.run(caller, () => index.search(part), query.signal) : index.search(part)
  const candidates = await gated(query)
  const first = await sortOut(db, candidates, query)
  let visible = first.visible
  let overtaken = new Map([...first.missed].filter(([, { indexedAt }]) => indexedAt >= since))
  for (let round = 0; round < mostRounds && overtaken.size > 0; round++) {
    const again = await gated({ ...query, filter: { ...query.filter, documentIds: [...overtaken.keys()] } })
    const sorted = await sortOut(db, again, query, overtaken)
    visible = [...visible, ...scaled(sorted.visible, { from: bestScores(again), to: bestScores(candidates) })]
    const known = overtaken
    // The index was asked after these versions were there: what it does not find of them now does not match.
    overtaken = new Map([...sorted.missed].filter(([id, { generation }]) => known.get(id)?.generation !== generation))
  }
  return { hits: visible.toSorted((left, right) => right.score - left.score), isAll: candidates.length < query.limit }
}

/** Scores compare within one result only: a document that was asked for again keeps the place of its old version. */
function scaled(hits: readonly Hit[], best: { from: Map<string, number>; to: Map<string, number> }): Hit[] {
  return hits.map((hit) => {
    const [from, to] = [best.from.get(hit.documentId) ?? 0, best.to.get(hit.documentId) ?? 0]
    return { ...hit, score: from > 0 ? (hit.score / from) * to : 0 }
  })
}

function bestScores(hits: readonly Hit[]): Map<string, number> {
  const best = new Map<string, number>()
  for (const { documentId, score } of hits) best.set(documentId, Math.max(best.get(documentId) ?? 0, score))
  return best
}

/** The version that is shown of a document. */
interface Shown {
  readonly generation: string
  readonly indexedAt: number
}

/**
 * Parts hits that may be shown from documents of which only rows of other versions were found.
 * @param before versions that were shown when the index was asked: as right as what is shown now, as long as the
 * document is there, since the search had begun
 */
async function sortOut(
  db: Records,
  hits: readonly Hit[],
  { filter, signal }: Pick<IndexQuery, 'filter' | 'signal'>,
  before?: ReadonlyMap<string, Shown>,
): Promise<{ visible: readonly Hit[]; missed: ReadonlyMap<string, Shown> }> {
  if (hits.length === 0) return { visible: [], missed: new Map() }
  signal?.throwIfAborted()
  const shownNow = db
    .selectFrom('inlay_documents')
    .select(['id', 'visible_generation', 'indexed_at'])
    .where(isAmong(db, 'id', [...new Set(hits.map((hit) => hit.documentId))]))
  // The index has filtered already. An index that did not would show one caller what belongs to another.
  const rows = await (filter?.pairs ? shownNow.where(isInPairs(db, filter.pairs)) : shownNow).execute()
  const there = new Set(hits.map((hit) => hit.generation))
  const shown = new Set<string>()
  const missed = new Map<string, Shown>()
  for (const { id, visible_generation: generation, indexed_at } of rows) {
    if (generation === null) continue
    const present = [generation, before?.get(id)?.generation].find(
      (candidate) => candidate !== undefined && there.has(candidate),
    )
    // One version of a document, never two beside each other.
    if (present !== undefined) shown.add(present)
    else missed.set(id, { generation, indexedAt: Number(indexed_at) })
  }
  return { visible: hits.filter((hit) => shown.has(hit.generation)), missed }
}

/** Most chunks in one passage: about what a reader, or a model, takes in at once. */
const mostChunks = 4

/** Hits that make one passage. */
export interface JoinedHits {
  readonly best: ReadHit
  /** By position, without gaps; all of one link, so that a citation never leads elsewhere. */
  readonly chunks: readonly ReadHit[]
}

/**
 * Joins hits that follow each other in a document under the same link.
 * @param hits by falling score
 * @returns by the score of the best hit of each
 */
export function joinHits(hits: readonly Hit[]): JoinedHits[] {
  const byGeneration = Map.groupBy(hits, (hit) => hit.generation)
  return [...byGeneration.values()]
    .flatMap((ofDocument) =>
      joinWithin(ofDocument.map((hit) => ({ hit, metadata: decodeChunkMetadata(hit.chunkMetadata) }))),
    )
    .toSorted((left, right) => right.best.hit.score - left.best.hit.score)
}

/** Hits of one document, best first: each joins what it adjoins on either side, as far as there is room. */
function joinWithin(hits: readonly ReadHit[]): JoinedHits[] {
  const [byFirst, byLast] = [new Map<number, JoinedHits>(), new Map<number, JoinedHits>()]
  const joined = (left: JoinedHits, right: JoinedHits): JoinedHits => {
    byLast.delete(left.chunks.at(-1)!.hit.position)
    byFirst.delete(right.chunks[0]!.hit.position)
    const best = left.best.hit.score >= right.best.hit.score ? left.best : right.best
    return { best, chunks: [...left.chunks, ...right.chunks] }
  }
  for (const chunk of hits) {
    let passage: JoinedHits = { best: chunk, chunks: [chunk] }
    const before = byLast.get(chunk.hit.position - 1)
    if (before && isOnePassage(before, passage)) passage = joined(before, passage)
    const after = byFirst.get(chunk.hit.position + 1)
    if (after && isOnePassage(passage, after)) passage = joined(passage, after)
    byFirst.set(passage.chunks[0]!.hit.position, passage)
    byLast.set(passage.chunks.at(-1)!.hit.position, passage)
  }
  return [...byFirst.values()]
}

function isOnePassage(left: JoinedHits, right: JoinedHits): boolean {
  return left.chunks.length + right.chunks.length <= mostChunks && left.best.metadata.link === right.best.metadata.link
}

/** How a passage is shown. */
export interface PassageContext {
  /** Marks the words of the query. */
  readonly highlight?: Highlighter
  /** Metadata of the document, when its rows do not carry it. */
  readonly metadata?: DocumentMetadata
}

/** Shows joined hits as a passage. */
export function toPassage(
  { best: { hit: best, metadata }, chunks }: JoinedHits,
  context: PassageContext = {},
): FoundPassage {
  const text = textOf(chunks)
  let highlights: readonly string[] | undefined
  const document: SearchDoc = {
    document_id: best.documentId,
    chunk_ind: best.position,
    semantic_identifier: metadata.semanticIdentifier.trim() === '' ? 'Unknown' : metadata.semanticIdentifier,
    link: metadata.link ?? null,
    blurb: toBlurb(best.text || titleOf(metadata)),
    source_type: best.source,
    boost: 0,
    hidden: false,
    metadata: metadata.metadata ?? context.metadata ?? {},
    score: best.score,
    is_relevant: null,
    relevance_explanation: null,
    // Made when somebody reads them: of many passages only some are shown.
    get match_highlights() {
      return (highlights ??= context.highlight?.(text) ?? [])
    },
    updated_at: new Date(best.updatedAt).toISOString(),
    primary_owners: metadata.primaryOwners ?? null,
    secondary_owners: metadata.secondaryOwners ?? null,
    is_internet: false,
    file_id: metadata.imageId ?? metadata.fileId ?? null,
  }
  return {
    document,
    content: text || titleOf(metadata),
    ...(chunks.length > 1 && { core: best.text }),
    headings: chunks[0]!.metadata.headings ?? [],
    span: { first: chunks[0]!.hit.position, last: chunks.at(-1)!.hit.position },
  }
}

/** About 128 tokens, as in the reference. */
const longestBlurb = 480
const sentenceEnd = /[.!?…](?=\s)|[。！？]/g

/** How a text begins: whole sentences if that gives a fair length, else whole words; on one line, without `#` marks. */
export function toBlurb(text: string): string {
  const plain = text.slice(0, longestBlurb * 4).replaceAll(/^ {0,3}#{1,6} /gm, '')
  const start = plain.replaceAll(/\s+/g, ' ').trim()
  if (start.length <= longestBlurb) return start
  const window = start.slice(0, longestBlurb)
  const end = [...window.matchAll(sentenceEnd)].at(-1)
  if (end && end.index >= longestBlurb / 3) return window.slice(0, end.index + 1)
  const space = window.lastIndexOf(' ')
  return `${window.slice(0, space > longestBlurb / 2 ? space : lastWordEnd(window))}…`
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** End of the last whole word in text cut at any position, including scripts without spaces. */
function lastWordEnd(window: string): number {
  const from = Math.max(0, window.length - 60)
  return from + ([...segmenter.segment(window.slice(from))].at(-1)?.index ?? 0)
}
