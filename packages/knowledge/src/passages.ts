import type { SearchDoc } from '@inlay/protocol'
import { readCard, titleOf } from './card.ts'
import type { FoundPassage, Hit } from './contracts.ts'
import { highlight } from './highlights.ts'

/** Most chunks in one passage: about what a reader, or a model, takes in at once. */
const mostChunks = 4

/**
 * Joins hits that follow each other in a document, and shows them as passages.
 * @param hits by falling score
 * @returns passages by the score of their best hit
 */
export function toPassages(hits: readonly Hit[], query: string): FoundPassage[] {
  const byGeneration = Map.groupBy(hits, (hit) => hit.generation)
  return [...byGeneration.values()]
    .flatMap(join)
    .toSorted((left, right) => right.best.score - left.best.score)
    .map(({ best, chunks }) => toPassage(best, chunks, query))
}

interface Joined {
  readonly best: Hit
  /** By position, without gaps. */
  chunks: Hit[]
}

/** Hits of one document. Each, best first, joins the passage it adjoins, or begins one. */
function join(hits: readonly Hit[]): Joined[] {
  const joined: Joined[] = []
  for (const hit of hits) {
    const before = joined.find(({ chunks }) => chunks.at(-1)!.position === hit.position - 1)
    const after = joined.find(({ chunks }) => chunks[0]!.position === hit.position + 1)
    const room = (passage: Joined | undefined): passage is Joined =>
      passage !== undefined && passage.chunks.length < mostChunks
    if (room(before)) before.chunks = [...before.chunks, hit]
    else if (room(after)) after.chunks = [hit, ...after.chunks]
    else joined.push({ best: hit, chunks: [hit] })
  }
  return joined
}

function toPassage(best: Hit, chunks: readonly Hit[], query: string): FoundPassage {
  const card = readCard(best.card)
  const text = chunks.map((chunk) => chunk.text).join('\n\n')
  const document: SearchDoc = {
    document_id: best.documentId,
    chunk_ind: best.position,
    semantic_identifier: card.s.trim() === '' ? 'Unknown' : card.s,
    link: card.l ?? null,
    blurb: toBlurb(best.text || titleOf(card)),
    source_type: best.source,
    boost: 0,
    hidden: false,
    metadata: card.m,
    score: best.score,
    is_relevant: null,
    relevance_explanation: null,
    match_highlights: highlight(text, query),
    updated_at: new Date(best.updatedAt).toISOString(),
    primary_owners: card.o ?? null,
    secondary_owners: card.q ?? null,
    is_internet: false,
    file_id: card.f ?? null,
  }
  return { document, content: text || titleOf(card), headings: readCard(chunks[0]!.card).h ?? [] }
}

/** About 128 tokens, as in the reference. */
const longestBlurb = 480
const sentenceEnd = /[.!?…](?=\s)|[。！？]/g

/** How a text begins: whole sentences if that gives a fair length, else whole words. */
export function toBlurb(text: string): string {
  const start = text
    .slice(0, longestBlurb * 4)
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (start.length <= longestBlurb) return start
  const window = start.slice(0, longestBlurb)
  const end = [...window.matchAll(sentenceEnd)].at(-1)
  if (end && end.index >= longestBlurb / 3) return window.slice(0, end.index + 1)
  const space = window.lastIndexOf(' ')
  return `${(space > longestBlurb / 2 ? window.slice(0, space) : window).toWellFormed()}…`
}
