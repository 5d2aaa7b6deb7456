import type { SearchDoc } from '@inlay/protocol'
import { readCard, titleOf, type Card } from './card.ts'
import type { FoundPassage, Hit } from './contracts.ts'
import { highlight } from './highlights.ts'

/** Most chunks in one passage: about what a reader, or a model, takes in at once. */
const mostChunks = 4

/**
 * Joins hits that follow each other in a document under the same link, and shows them as passages.
 * @param hits by falling score
 * @returns passages by the score of their best hit
 */
export function toPassages(hits: readonly Hit[], query: string): FoundPassage[] {
  const byGeneration = Map.groupBy(hits, (hit) => hit.generation)
  return [...byGeneration.values()]
    .flatMap((ofDocument) => join(ofDocument.map((hit) => ({ hit, card: readCard(hit.card) }))))
    .toSorted((left, right) => right.best.hit.score - left.best.hit.score)
    .map(({ best, chunks }) => toPassage(best, chunks, query))
}

interface ReadHit {
  readonly hit: Hit
  readonly card: Card
}

interface Joined {
  readonly best: ReadHit
  /** By position, without gaps; all of one link, so that a citation never leads elsewhere. */
  chunks: ReadHit[]
}

/** Hits of one document. Each, best first, joins the passage it adjoins, or begins one. */
function join(hits: readonly ReadHit[]): Joined[] {
  const joined: Joined[] = []
  for (const one of hits) {
    const open = joined.filter(({ best, chunks }) => chunks.length < mostChunks && best.card.l === one.card.l)
    const before = open.find(({ chunks }) => chunks.at(-1)!.hit.position === one.hit.position - 1)
    const after = open.find(({ chunks }) => chunks[0]!.hit.position === one.hit.position + 1)
    if (before) before.chunks = [...before.chunks, one]
    else if (after) after.chunks = [one, ...after.chunks]
    else joined.push({ best: one, chunks: [one] })
  }
  return joined
}

function toPassage({ hit: best, card }: ReadHit, chunks: readonly ReadHit[], query: string): FoundPassage {
  const text = chunks.map(({ hit }) => hit.text).join('\n\n')
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
  return { document, content: text || titleOf(card), headings: chunks[0]!.card.h ?? [] }
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
  // A cut may fall between the halves of a character.
  const cut = space > longestBlurb / 2 ? window.slice(0, space) : window.replace(/[\uD800-\uDBFF]$/, '')
  return `${cut}…`
}
