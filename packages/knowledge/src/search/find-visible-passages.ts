import { InlayError, type SearchDoc } from '@inlay/protocol'
import { idList, isAmongIds, prepared } from '@inlay/records'
import { readMetadata } from '../access-and-filters/document-metadata.ts'
import { isInPairs } from '../access-and-filters/documents.ts'
import { resolveFilters } from '../access-and-filters/search-filters.ts'
import type { EmbeddingCalls } from '../calls/embedding.ts'
import { type ChunkMetadata, type ReadHit, decodeChunkMetadata, textOf, titleOf } from '../chunking/chunk-metadata.ts'
import { toSearchQuery } from '../chunking/search-text.ts'
import type { FoundPassage, DocumentReplacement, SearchRequest } from '../contracts/search.ts'
import type { DocumentMetadata } from '../contracts/stored-document.ts'
import type { IndexFilter, IndexQuery, Hit, VectorIndex } from '../contracts/vector-index.ts'
import type { Records } from '../schema/tables.ts'
import type { SearchGate } from './concurrent-searches.ts'
import { createHighlighter, type Highlighter } from './highlights.ts'
import { exactTitlesFirst } from './exact-titles.ts'
import { hitsToRank, rank, rankingOf, type RankingContext } from './reranking.ts'
import { orderVersions } from './versions.ts'

export interface SearchContext extends LookContext, RankingContext {
  readonly embedding?: EmbeddingCalls
  /** Whether searches currently use query vectors. */
  readonly takesVectors: () => Promise<boolean>
  /** Whether documents of a lost or damaged index still have to be indexed again, so that searches may miss them. */
  readonly lacksDocuments?: () => Promise<boolean>
}

/** Number of characters of a query that are used: longer texts are not questions, and each word has a cost. */
const maxQueryLength = 8000

/**
 * The search is repeated with three times as many hits until there are enough visible and separate passages, up to this
 * number of hits.
 */
const maxHits = 3000

/**
 * Finds passages, best first. Filters and access apply inside the index. Rows that are not of the visible generation
 * are dropped and replaced by searching again.
 * @param given replaces the filters of the request and the caller's access
 * @throws SERVICE_UNAVAILABLE if nothing is found while a lost index is being rebuilt
 * @throws INSUFFICIENT_PERMISSIONS see `resolveFilters`
 */
export async function search(
  request: SearchRequest,
  context: SearchContext,
  given?: IndexFilter,
): Promise<FoundPassage[]> {
  const limit = Math.min(Math.max(Math.trunc(request.limit ?? 10), 1), 200)
  const filter = given ?? (await resolveFilters(context.db, request.filters, request.caller))
  const text = request.text.slice(0, maxQueryLength)
  const words = toSearchQuery(text)
  if (words === '' || filter.pairs?.length === 0) return []
  const { embedding, takesVectors } = context
  const vector = embedding && (await takesVectors()) ? await embedding.embedQuery(text, request.signal) : undefined
  const query: IndexQuery = { text: words, vector, filter, limit: 0, signal: request.signal }
  const recency = request.recency === undefined ? context.ranking?.recency : request.recency
  const isRanked = Boolean(context.reranker ?? recency)
  for (let count = Math.max(limit * 2 + 10, isRanked ? hitsToRank(context, request) : 0); ; count *= 3) {
    const { hits, isAll } = await findVisible({ ...query, limit: count }, { ...context, caller: request.caller?.id })
    const decode = decodedOnce()
    const joined = joinHits(hits, decode)
    if (!isAll && count < maxHits && joined.length < limit) continue
    const ranked = exactTitlesFirst(isRanked ? await rank(hits, request, context) : hits, text, decode)
    const shown = orderVersions(ranked === hits ? joined : joinHits(ranked, decode), text).slice(0, limit)
    // An empty result would claim that no document matches.
    if (shown.length === 0 && (await context.lacksDocuments?.())) throw beingMadeAnew()
    const bare = shown.filter(({ best }) => !best.metadata.metadata).map(({ best }) => best.hit.documentId)
    const metadata = bare.length > 0 ? await readMetadata(context.db, bare) : undefined
    let highlighter: Highlighter | undefined
    const highlight: Highlighter = (content) => (highlighter ??= createHighlighter(text))(content)
    return shown.map((each) => {
      const { note, replacedBy } = each
      return toPassage(each, { highlight, note, replacedBy, metadata: metadata?.get(each.best.hit.documentId) })
    })
  }
}

/** Decodes chunk metadata, which chunks of one document often share, once for all steps of a search. */
function decodedOnce(): (encoded: string) => ChunkMetadata {
  const known = new Map<string, ChunkMetadata>()
  return (encoded) => {
    const metadata = known.get(encoded) ?? decodeChunkMetadata(encoded)
    known.set(encoded, metadata)
    return metadata
  }
}

function beingMadeAnew(): InlayError {
  return new InlayError('SERVICE_UNAVAILABLE', {
    message: 'The index was lost or damaged and is being rebuilt: no document indexed so far matches. Try again later.',
    retryable: true,
    data: { retryAfterSeconds: 5 },
  })
}

export interface VisibleHits {
  /** By descending score. */
  readonly hits: readonly Hit[]
  /** Whether the index has no further hits, visible or not. */
  readonly isAll: boolean
}

export interface LookContext {
  readonly db: Records
  readonly index: VectorIndex
  readonly now: () => number
  /** Absent: searches are not limited. */
  readonly gate?: SearchGate
  /** Id of the caller, for the gate. */
  readonly caller?: string
}

/** Tolerance for times: `indexedAt` is read before the transaction, and from the clock of another process. */
const slackMs = 1000
/** One round suffices unless rows are removed right after they were replaced. */
const maxRounds = 3

/**
 * Searches the index and drops rows that are not visible. If a document got a new version after the index was searched
 * but before the records were read, only its old rows are among the hits: it is searched for again, so that searches
 * never miss a document because it is being updated.
 */
export async function findVisible(
  query: IndexQuery,
  { db, index, now, gate, caller }: LookContext,
): Promise<VisibleHits> {
  const since = now() - slackMs
  const gated = (part: IndexQuery): Promise<Hit[]> =>
    gate ? gate.run(caller, () => index.search(part), query.signal) : index.search(part)
  const candidates = await gated(query)
  const first = await filterVisible(db, candidates, query)
  let visible = first.visible
  let overtaken = new Map([...first.missed].filter(([, { indexedAt }]) => indexedAt >= since))
  for (let round = 0; round < maxRounds && overtaken.size > 0; round++) {
    const again = await gated({ ...query, filter: { ...query.filter, documentIds: [...overtaken.keys()] } })
    const sorted = await filterVisible(db, again, query, overtaken)
    visible = [...visible, ...scaled(sorted.visible, { from: bestScores(again), to: bestScores(candidates) })]
    const known = overtaken
    // The index was searched after these versions existed: what it does not return of them does not match.
    overtaken = new Map([...sorted.missed].filter(([id, { generation }]) => known.get(id)?.generation !== generation))
  }
  return { hits: visible.toSorted((left, right) => right.score - left.score), isAll: candidates.length < query.limit }
}

/** Scores are only comparable within one result: a document searched for again keeps the place of its old version. */
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

/** The visible version of a document. */
interface Shown {
  readonly generation: string
  readonly indexedAt: number
}

const shownAmong = (db: Records, ids: string) =>
  db
    .selectFrom('inlay_documents')
    .select(['id', 'visible_generation', 'indexed_at'])
    .where(isAmongIds(db, 'id', ids, 'text'))

const shownNow = prepared((db: Records, { ids }: { readonly ids: string }) => shownAmong(db, ids))

const shownInPairs = prepared((db: Records, { ids, pairs }: { readonly ids: string; readonly pairs: string }) =>
  shownAmong(db, ids).where(isInPairs({ holds: (column) => isAmongIds(db, column, pairs) })),
)

/**
 * Separates visible hits from documents of which only rows of other versions were found.
 * @param before versions that were visible when the index was searched: also valid as long as the document exists,
 * since the search began before they were replaced
 */
async function filterVisible(
  db: Records,
  hits: readonly Hit[],
  { filter, signal }: Pick<IndexQuery, 'filter' | 'signal'>,
  before?: ReadonlyMap<string, Shown>,
): Promise<{ visible: readonly Hit[]; missed: ReadonlyMap<string, Shown> }> {
  if (hits.length === 0) return { visible: [], missed: new Map() }
  signal?.throwIfAborted()
  const ids = idList(db, [...new Set(hits.map((hit) => hit.documentId))])
  // Checked again although the index has filtered: an error in an index driver must not disclose documents to other
  // callers.
  const rows = filter?.pairs
    ? await shownInPairs(db, { ids, pairs: idList(db, filter.pairs) })
    : await shownNow(db, { ids })
  const there = new Set(hits.map((hit) => hit.generation))
  const shown = new Set<string>()
  const missed = new Map<string, Shown>()
  for (const { id, visible_generation: generation, indexed_at } of rows) {
    if (generation === null) continue
    const present = [generation, before?.get(id)?.generation].find(
      (candidate) => candidate !== undefined && there.has(candidate),
    )
    // Only one version of a document is returned.
    if (present !== undefined) shown.add(present)
    else missed.set(id, { generation, indexedAt: Number(indexed_at) })
  }
  return { visible: hits.filter((hit) => shown.has(hit.generation)), missed }
}

/** Maximum number of chunks in a passage: about as much as a reader or a model takes in at once. */
const maxChunks = 4

export interface JoinedHits {
  readonly best: ReadHit
  /** By position, without gaps, and all with the same link, so that a citation leads to the right place. */
  readonly chunks: readonly ReadHit[]
}

/**
 * Joins adjacent hits of a document that have the same link.
 * @param hits by descending score
 * @returns by the score of the best hit of each
 */
export function joinHits(hits: readonly Hit[], decode = decodeChunkMetadata): JoinedHits[] {
  const byGeneration = Map.groupBy(hits, (hit) => hit.generation)
  return [...byGeneration.values()]
    .flatMap((ofDocument) => joinWithin(ofDocument.map((hit) => ({ hit, metadata: decode(hit.chunkMetadata) }))))
    .toSorted((left, right) => right.best.hit.score - left.best.hit.score)
}

/** Joins adjacent hits of one document, given best first, up to the maximum number of chunks. */
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
  return left.chunks.length + right.chunks.length <= maxChunks && left.best.metadata.link === right.best.metadata.link
}

export interface PassageContext {
  readonly highlight?: Highlighter
  /** Metadata of the document, if it is too large for its rows. */
  readonly metadata?: DocumentMetadata
  /** Note about its version; see `orderVersions`. */
  readonly note?: string
  readonly replacedBy?: DocumentReplacement
}

export function toPassage(
  { best: { hit: best, metadata }, chunks }: JoinedHits,
  context: PassageContext = {},
): FoundPassage {
  const text = textOf(chunks)
  let highlights: readonly string[] | undefined
  let blurb: string | undefined
  const document: SearchDoc = {
    document_id: best.documentId,
    chunk_ind: best.position,
    semantic_identifier: metadata.semanticIdentifier.trim() === '' ? 'Unknown' : metadata.semanticIdentifier,
    link: metadata.link ?? null,
    // Computed when first read, like the highlights, since only some of many passages are shown.
    get blurb() {
      return (blurb ??= toBlurb(best.text || titleOf(metadata)))
    },
    source_type: best.source,
    boost: 0,
    hidden: false,
    metadata: metadata.metadata ?? context.metadata ?? {},
    score: best.score,
    is_relevant: null,
    relevance_explanation: context.note ?? null,
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
    ranking: rankingOf(best),
    ...(context.replacedBy !== undefined && { replacedBy: context.replacedBy }),
  }
}

/** About 128 tokens. */
const maxBlurbLength = 480
/** Whitespace other than a single space, since replacing each space by itself would take most of the time. */
const otherSpace = /[^\S ]\s*| \s+/g
const sentenceEnd = /[.!?…](?=\s)|[。！？]/g

/**
 * The beginning of a text: whole sentences if that gives a reasonable length, otherwise whole words; on one line,
 * without `#` marks.
 */
export function toBlurb(text: string): string {
  const plain = text.slice(0, maxBlurbLength * 4).replaceAll(/^ {0,3}#{1,6} /gm, '')
  const start = plain.replaceAll(otherSpace, ' ').trim()
  if (start.length <= maxBlurbLength) return start
  const window = start.slice(0, maxBlurbLength)
  const end = [...window.matchAll(sentenceEnd)].at(-1)
  if (end && end.index >= maxBlurbLength / 3) return window.slice(0, end.index + 1)
  const space = window.lastIndexOf(' ')
  return `${window.slice(0, space > maxBlurbLength / 2 ? space : lastWordEnd(window))}…`
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** End of the last whole word in text cut at any position, including scripts without spaces. */
function lastWordEnd(window: string): number {
  const from = Math.max(0, window.length - 60)
  return from + ([...segmenter.segment(window.slice(from))].at(-1)?.index ?? 0)
}
