import {
  documentMetadataOf,
  encodeChunkMetadata,
  titleOf,
  type ChunkMetadata,
  type Summary,
  withChunk,
} from './chunk-metadata.ts'
import type { Pause } from './blocks.ts'
import { chunkSections, type Chunk, type ChunkOptions } from './chunk.ts'
import { toSearchText } from './search-text.ts'
import type { StoredDocument } from '../contracts/stored-document.ts'
import { toTag, type IndexRow } from '../contracts/vector-index.ts'
import type { ClaimedDocument } from '../queue/claims.ts'

/** A row of the index before it has a generation and a vector. */
export interface DraftRow {
  readonly fields: Omit<IndexRow, 'generation' | 'vector'>
  /** Metadata, encoded by `chunkMetadata`. */
  readonly metadata: ChunkMetadata
  /** JSON of the metadata to be shown of its document, when that is too large for rows; null when they carry it. */
  readonly metadataBeside: string | null
  /** Text for the embedder; built only when there is one. */
  readonly embedText: () => string
  /** The same row, also searched by what was said of it. */
  readonly withSummary: (summary: Summary) => DraftRow
}

/**
 * Cuts a document into rows, lazily. One without any text still gets a row when it has a title, so that it is found by
 * it; the text of that row is "".
 */
export function* toRows(
  claimed: ClaimedDocument,
  document: StoredDocument,
  options?: Pick<ChunkOptions, 'descriptions' | 'openSection'>,
): Generator<DraftRow | Pause> {
  const { metadata: entries, ...base } = documentMetadataOf(document)
  const json = JSON.stringify(entries)
  const isLarge = json.length > longestRowMetadata
  const metadata = isLarge ? base : { ...base, metadata: entries }
  const keywords = Object.values(entries).flat().join(' ').slice(0, longestMetadata)
  const title = metadata.title ?? metadata.semanticIdentifier
  const basis = { metadata, metadataBeside: isLarge ? json : null, title, keywords }
  const ownUpdatedAt = document.doc_updated_at === null ? null : Date.parse(document.doc_updated_at)
  const shared = {
    documentId: claimed.id,
    source: document.source,
    tags: toTags(document),
    pairs: claimed.pairIds,
    ownUpdatedAt,
    createdAt: document.doc_created_at === null ? null : Date.parse(document.doc_created_at),
    updatedAt: ownUpdatedAt ?? claimed.acceptedAt,
  }
  let count = 0
  for (const chunk of chunkSections(document.sections, options)) {
    if (chunk) count++
    yield chunk && toRow(shared, basis, chunk)
  }
  if (count === 0 && title !== '') yield toRow(shared, basis, titleOnly)
}

const titleOnly = { position: 0, text: '', headings: [], link: null, imageFileId: null }

type RowChunk = Pick<Chunk, 'position' | 'text' | 'headings' | 'link' | 'imageFileId' | 'seam' | 'isDescription'>

function toRow(
  shared: Omit<DraftRow['fields'], 'position' | 'text' | 'searchText' | 'chunkMetadata'>,
  document: Pick<DraftRow, 'metadata' | 'metadataBeside'> & { readonly title: string; readonly keywords: string },
  chunk: RowChunk,
  summary?: Summary,
): DraftRow {
  const metadata = withChunk(document.metadata, chunk, summary)
  const context = withContext(metadata, chunk.text, document.keywords)
  return {
    fields: {
      ...shared,
      position: chunk.position,
      text: chunk.text,
      searchText: toSearchText({
        title: document.title,
        text: summary ? `${toNotes(metadata)}\n\n${context}` : context,
      }),
      chunkMetadata: encodeChunkMetadata(metadata),
    },
    metadata,
    metadataBeside: document.metadataBeside,
    embedText: () => toEmbedText(metadata, chunk.text),
    withSummary: (added) => toRow(shared, document, chunk, added),
  }
}

/** Summaries of a chunk and its document as notes. */
function toNotes({ documentSummary, chunkSummary }: ChunkMetadata): string {
  return [documentSummary, chunkSummary].filter((note) => note).join('\n')
}

/**
 * Text of a row for the embedder: title, summaries, headings, text, metadata. Equal metadata and text give equal
 * results, so that the vector of an unchanged row can be reused.
 */
export function toEmbedText(chunk: ChunkMetadata, text: string): string {
  const entries = Object.entries(chunk.metadata ?? {}).map(([key, value]) => `${key}: ${[value].flat().join(', ')}`)
  const metadata = entries.join('\n')
  return [titleOf(chunk), toNotes(chunk), withContext(chunk, text, metadata.length <= longestMetadata ? metadata : '')]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** A quarter of a chunk, as in the reference: longer metadata would drown the text. */
const longestMetadata = 448

/** Headings that the text does not show itself, the text, and what is known besides. */
function withContext({ headings }: ChunkMetadata, text: string, extra: string): string {
  let context = ''
  for (const heading of headings ?? []) if (!text.includes(heading)) context += `${heading}\n`
  const above = context === '' || text === '' ? context : `${context}\n`
  return extra === '' ? above + text : `${above}${text}\n\n${extra}`
}

/** Each row carries its tags, so they are bounded: nobody filters by the thousandth entry, or by a whole text. */
const [fewestTags, mostTags] = [50, 1000]
/** Across all sections, as each creates at least one row. */
const mostTagsOfSections = 500_000
const longestTag = 1000

/** Metadata as an index filters by it: the first 1000 entries; fewer, but 50 at least, of more than 500 sections. */
export function toTags({ metadata, sections }: Pick<StoredDocument, 'metadata' | 'sections'>): string[] {
  const limit = Math.max(fewestTags, Math.min(mostTags, Math.floor(mostTagsOfSections / sections.length)))
  const tags: string[] = []
  for (const [key, value] of Object.entries(metadata))
    for (const item of [value].flat()) {
      if (tags.length === limit) return tags
      const tag = toTag(key, item)
      if (tag.length <= longestTag) tags.push(tag)
    }
  return tags
}

/** Ids of the files that a document names: its raw file, and the images and tables of its sections. */
export function filesOf({ file_id, sections }: Pick<StoredDocument, 'file_id' | 'sections'>): string[] {
  const named = sections.flatMap((section) => [
    'image_file_id' in section && section.image_file_id,
    'csv_file_id' in section && section.csv_file_id,
  ])
  return [file_id, ...named].filter(Boolean) as string[]
}

/** Ids of the images that sections of a document name, in order. */
export function imagesOf({ sections }: Pick<StoredDocument, 'sections'>): string[] {
  return sections.flatMap((section) =>
    'image_file_id' in section && section.image_file_id ? [section.image_file_id] : [],
  )
}

/** Longer metadata is kept once a document, in the records, instead of once a row. */
const longestRowMetadata = 1000
