import { createHash } from 'node:crypto'
import type { Hit, IndexQuery } from '@inlay/knowledge'
import { fuse } from '../hybrid-search/fusion.ts'
import type { RecentValues } from '../hybrid-search/recent-values.ts'
import { isJsonObject } from '@inlay/protocol'
import { untilAborted } from '@inlay/scheduling'
import { clausesOf } from './filter.ts'
import type { Cluster } from './transport.ts'

export interface SearchedIndex {
  readonly cluster: Cluster
  readonly name: string
  /** Weight of the vector in a fused score, 0 to 1. */
  readonly vectorShare: number | undefined
  /** Rows that match a filter, averaged per shard. They only affect how a search is run. */
  readonly counts: RecentValues<number>
}

/** Maximum number of hits that the cluster returns at once. */
export const maxHits = 10_000

/** Maximum number of words of a query that are used; the beginning of a pasted page is enough. */
const queryWords = 64

/** Minimum number of candidates in a graph walk (`k`): with only ten, one in six of the nearest rows is missed. */
const minWalked = 100

/**
 * If at most this many rows per shard match a filter, all their vectors are compared. The cluster does so if the graph
 * walk would visit at least as many, about ten per candidate: if one row in twenty matches, a walk takes longer.
 */
const comparedRows = 20_000
const visitedForOne = 10

export const hitFields = ['documentId', 'generation', 'position', 'text', 'chunkMetadata', 'source', 'updatedAt']

/** If the index lacks words of the query, searches again with similarly spelled words. */
export async function searchIndex(index: SearchedIndex, query: IndexQuery): Promise<Hit[]> {
  const { vector, signal } = query
  const limit = Math.min(query.limit, maxHits)
  const text = (query.text ?? '').trim().split(/\s+/).slice(0, queryWords).join(' ')
  const isFused = text !== '' && vector !== undefined
  // Fusing needs more candidates from both searches than it returns.
  const size = isFused ? Math.min(maxHits, Math.max(limit * 4, 50)) : limit
  const filter = clausesOf(query.filter)
  const near = vector?.some((value) => value !== 0)
    ? [nearSearch(vector, filter, { size, held: await heldFor(index, filter, size, signal) })]
    : []
  const words = text === '' ? [] : [{ ...wordSearch([matchOf(text)], filter, size), suggest: suggestFor(text) }]
  const replies = await searchAll(index, [...words, ...near], signal)
  const byWords = words.length > 0 ? replies[0] : undefined
  const byVector = near.length > 0 ? toHits(replies.at(-1)) : []
  const spelt = byWords ? await speltLike(index, byWords, signal) : []
  const [again] =
    spelt.length > 0 ? await searchAll(index, [wordSearch([matchOf(text), ...spelt], filter, size)], signal) : []
  const hits = shareOfBest(toHits(again ?? byWords))
  if (vector === undefined) return hits
  if (!isFused) return byVector
  // The engine's score is (1 + cosine) / 2.
  const nearest = byVector.map((hit) => ({ hit, nearness: 2 * hit.score - 1 }))
  return fuse(
    hits.map((hit) => ({ hit, score: hit.score })),
    nearest,
    { share: index.vectorShare, text, limit },
  )
}

type Search = Record<string, unknown>

const matchOf = (text: string): Search => ({ match: { searchText: { query: text } } })

function wordSearch(should: readonly Search[], filter: readonly Search[], size: number): Search {
  return {
    size,
    _source: hitFields,
    track_total_hits: false,
    query: { bool: { should, minimum_should_match: 1, filter } },
    sort: ['_score', { generation: 'asc' }, { position: 'asc' }],
  }
}

/** Number of candidates (`k`) per shard for a vector search. */
async function heldFor(
  { counts, cluster, name }: SearchedIndex,
  filter: readonly Search[],
  size: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const least = Math.max(size, minWalked)
  if (filter.length === 0) return least
  const query = { bool: { filter } }
  // Hashed, since a filter may contain thousands of documents.
  const key = createHash('sha256').update(JSON.stringify(query)).digest('base64')
  // Shared by searches with the same filter, so that it goes on when one of them is aborted.
  const count = counts.of(key, async () => {
    const { body } = await cluster({ path: `/${name}/_search`, body: { size: 0, track_total_hits: true, query } })
    const { total: parts = 1 } = body['_shards'] as { total?: number }
    return totalOf(body) / parts
  })
  const passing = await (signal ? untilAborted(count, signal) : count)
  return passing > comparedRows ? least : Math.max(least, Math.ceil(passing / visitedForOne))
}

function nearSearch(
  vector: Float32Array,
  filter: readonly Search[],
  { size, held }: { readonly size: number; readonly held: number },
): Search {
  const bound = filter.length > 0 ? { filter: { bool: { filter } } } : {}
  return {
    size,
    _source: hitFields,
    track_total_hits: false,
    query: { knn: { vector: { vector: [...vector], k: held, ...bound } } },
  }
}

async function searchAll(
  { cluster, name }: SearchedIndex,
  searches: readonly Search[],
  signal: AbortSignal | undefined,
): Promise<Search[]> {
  if (searches.length === 0) return []
  const body = searches.flatMap((search) => [headerOf(search), search])
  const reply = await cluster({ path: `/${name}/_msearch`, body, signal })
  const responses = reply.body['responses'] as Search[] // One per search, as documented by OpenSearch.
  const failed = responses.find(({ error }) => error !== undefined)
  if (failed === undefined) return responses
  // Sent separately, so that each search is refused or retried by its own status.
  return Promise.all(
    searches.map(async (search) => (await cluster({ path: `/${name}/_search`, body: search, signal })).body),
  )
}

/** Shards differ in how rare a word is, so frequencies are collected first; vector searches would only run twice. */
const headerOf = ({ query }: Search): Search =>
  isJsonObject(query) && 'knn' in query ? {} : { search_type: 'dfs_query_then_fetch' }

/** Requests spelling suggestions for words that a shard does not contain, in the analyzer's form. */
function suggestFor(text: string): Search {
  const term = { field: 'searchText', suggest_mode: 'missing', min_word_length: 5, prefix_length: 1, size: 5 }
  return { text, spelling: { term: { ...term, max_edits: 2 } } }
}

/** Query clauses for words spelled like those that no shard contains; each shard suggests for the words it lacks. */
async function speltLike(index: SearchedIndex, reply: Search, signal: AbortSignal | undefined): Promise<Search[]> {
  const { suggest } = reply
  if (!isJsonObject(suggest)) return []
  const spelling = suggest['spelling'] as { text: string; options: { text: string; score: number }[] }[]
  const suggestions = spelling.filter(({ options }) => options.length > 0)
  const known = await searchAll(
    index,
    suggestions.map(({ text }) => ({ size: 0, terminate_after: 1, query: { term: { searchText: text } } })),
    signal,
  )
  return suggestions.flatMap(({ options }, at) =>
    totalOf(known[at]) > 0
      ? []
      : options.map(({ text, score }) => ({ term: { searchText: { value: text, boost: score * 0.8 } } })),
  )
}

function totalOf(reply: Search | undefined): number {
  const { total } = (reply?.['hits'] ?? {}) as { total?: { value: number } }
  return total?.value ?? 0
}

interface FoundRow {
  readonly _score: number | null
  readonly _source: Omit<Hit, 'score' | 'vector'> & { readonly vector?: readonly number[] }
}

export function toHits(reply: Search | undefined): Hit[] {
  const { hits = [] } = (reply?.['hits'] ?? {}) as { hits?: readonly FoundRow[] }
  return hits.map(({ _score: score, _source: { vector, ...row } }) => ({
    ...row,
    score: score ?? 0,
    ...(vector && { vector: Float32Array.from(vector) }),
  }))
}

function shareOfBest(hits: readonly Hit[]): Hit[] {
  const best = hits[0]?.score || 1
  return hits.map((hit) => ({ ...hit, score: hit.score / best }))
}
