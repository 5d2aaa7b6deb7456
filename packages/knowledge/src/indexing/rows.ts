import { titleOf, toChunkCard, toDocumentCard, type Card } from '../chunking/chunk-metadata.ts'
import { chunkSections, type Chunk } from '../chunking/chunk.ts'
import type { ClaimedDocument } from './claims.ts'
import type { IndexRow } from '../contracts.ts'
import type { Summary } from './known-rows.ts'
import { toSearchText } from '../search/search-text.ts'
import { toTag } from '../access/tags.ts'
import type { StoredDocument } from '../intake/version.ts'

/** A row of the index before it has a generation and a vector. */
export interface DraftRow extends Omit<IndexRow, 'generation' | 'vector'> {
  /** What `card` is the JSON of. */
  readonly cardOf: Card
  /** What an embedder reads; made only when there is one. */
  readonly embedText: () => string
  /** The same row, also searched by what was said of it. */
  readonly withSummary: (summary: Summary) => DraftRow
}

/** Reads what a claimed document holds. */
export function readDocument(claimed: ClaimedDocument): StoredDocument {
  // Written by this package alone, from a validated request.
  return JSON.parse(claimed.content) as StoredDocument
}

/**
 * Cuts a document into rows, lazily. One without any text still gets a row when it has a title, so that it is found by
 * it; the text of that row is "".
 * @param descriptions of its images, by id
 */
export function* toRows(
  claimed: ClaimedDocument,
  document: StoredDocument,
  descriptions?: ReadonlyMap<string, string>,
): Generator<DraftRow> {
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
  for (const chunk of chunkSections(document.sections, { descriptions })) {
    count++
    yield toRow(shared, { card, keywords }, chunk)
  }
  if (count === 0 && titleOf(card) !== '') yield toRow(shared, { card, keywords }, titleOnly)
}

const titleOnly = { position: 0, text: '', headings: [], link: null, imageFileId: null }

type RowChunk = Pick<Chunk, 'position' | 'text' | 'headings' | 'link' | 'imageFileId' | 'seam' | 'isDescription'>

function toRow(
  shared: Pick<DraftRow, 'documentId' | 'source' | 'tags' | 'pairs' | 'ownUpdatedAt' | 'createdAt' | 'updatedAt'>,
  document: { card: Card; keywords: string },
  chunk: RowChunk,
  summary?: Summary,
): DraftRow {
  const card = toChunkCard(document.card, chunk, summary)
  const context = withContext(card, chunk.text, document.keywords)
  return {
    ...shared,
    position: chunk.position,
    text: chunk.text,
    searchText: toSearchText({ title: titleOf(card), text: summary ? `${toNotes(card)}\n\n${context}` : context }),
    card: JSON.stringify(card),
    cardOf: card,
    embedText: () => toEmbedText(card, chunk.text),
    withSummary: (added) => toRow(shared, document, chunk, added),
  }
}

/** What models said of a chunk and its document. */
function toNotes({ d, c }: Card): string {
  return [d, c].filter((note) => note).join('\n')
}

/**
 * What an embedder reads of a row: title, what was said of it, headings, text, metadata. The same card and text give the same, so that the
 * vector of a row that did not change can be kept.
 */
export function toEmbedText(card: Card, text: string): string {
  const title = titleOf(card)
  const entries = Object.entries(card.m).map(([key, value]) => `${key}: ${[value].flat().join(', ')}`)
  const metadata = entries.join('\n')
  return [title, toNotes(card), withContext(card, text, metadata.length <= longestMetadata ? metadata : '')]
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

/** Metadata as an index keeps it: `longestTag` and `mostTags` bound it. */
export function toTags(metadata: StoredDocument['metadata']): string[] {
  const tags = Object.entries(metadata).flatMap(([key, value]) => [value].flat().map((item) => toTag(key, item)))
  return tags.filter((tag) => tag.length <= longestTag).slice(0, mostTags)
}

function toMoment(date: string | null): number | null {
  return date === null ? null : Date.parse(date)
}
