import { titleOf, toChunkCard, toDocumentCard, type Card } from './card.ts'
import { chunkSections, type Chunk } from './chunk.ts'
import type { ClaimedDocument } from './claims.ts'
import type { IndexRow } from './contracts.ts'
import { toSearchText } from './search-text.ts'
import { toTag } from './tags.ts'
import type { StoredDocument } from './version.ts'

/** A row of the index before it has a generation and a vector. */
export type DraftRow = Omit<IndexRow, 'generation' | 'vector'> & {
  /** What an embedder reads; made only when there is one. */
  readonly embedText: () => string
}

/**
 * Cuts a document into rows, lazily. One without any text still gets a row when it has a title, so that it is found by
 * it; the text of that row is "".
 */
export function* toRows(claimed: ClaimedDocument): Generator<DraftRow> {
  // Written by this package alone, from a validated request.
  const document = JSON.parse(claimed.content) as StoredDocument
  const card = toDocumentCard(document)
  const keywords = Object.values(card.m).flat().join(' ').slice(0, longestMetadata)
  const shared = {
    documentId: claimed.id,
    source: document.source,
    tags: toTags(document.metadata),
    pairs: claimed.pairIds,
    ownUpdatedAt: toMoment(document.doc_updated_at),
    createdAt: toMoment(document.doc_created_at),
    updatedAt: toMoment(document.doc_updated_at) ?? claimed.acceptedAt,
  }
  let count = 0
  for (const chunk of chunkSections(document.sections)) {
    count++
    yield toRow(shared, { card, keywords }, chunk)
  }
  if (count === 0 && titleOf(card) !== '') yield toRow(shared, { card, keywords }, titleOnly)
}

const titleOnly = { position: 0, text: '', headings: [], link: null, imageFileId: null }

function toRow(
  shared: Omit<DraftRow, 'position' | 'text' | 'searchText' | 'card' | 'embedText'>,
  document: { card: Card; keywords: string },
  chunk: Pick<Chunk, 'position' | 'text' | 'headings' | 'link' | 'imageFileId' | 'seam'>,
): DraftRow {
  const card = toChunkCard(document.card, chunk)
  return {
    ...shared,
    position: chunk.position,
    text: chunk.text,
    searchText: toSearchText({ title: titleOf(card), text: withContext(card, chunk.text, document.keywords) }),
    card: JSON.stringify(card),
    embedText: () => toEmbedText(card, chunk.text),
  }
}

/**
 * What an embedder reads of a row: title, headings, text, metadata. The same card and text give the same, so that the
 * vector of a row that did not change can be kept.
 */
export function toEmbedText(card: Card, text: string): string {
  const title = titleOf(card)
  const entries = Object.entries(card.m).map(([key, value]) => `${key}: ${[value].flat().join(', ')}`)
  const metadata = entries.join('\n')
  return [title, withContext(card, text, metadata.length <= longestMetadata ? metadata : '')]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** A quarter of a chunk, as in the reference: longer metadata would drown the text. */
const longestMetadata = 448

/** Headings that the text does not show itself, the text, and what is known besides. */
function withContext(card: Card, text: string, extra: string): string {
  let context = ''
  for (const heading of card.h ?? []) if (!text.includes(heading)) context += `${heading}\n`
  const above = context === '' || text === '' ? context : `${context}\n`
  return extra === '' ? above + text : `${above}${text}\n\n${extra}`
}

/** Each row carries them, so they are bounded: nobody filters by the thousandth entry, or by a whole text. */
const mostTags = 1000
const longestTag = 1000

function toTags(metadata: StoredDocument['metadata']): string[] {
  const tags = Object.entries(metadata).flatMap(([key, value]) => [value].flat().map((item) => toTag(key, item)))
  return tags.filter((tag) => tag.length <= longestTag).slice(0, mostTags)
}

function toMoment(date: string | null): number | null {
  return date === null ? null : Date.parse(date)
}
