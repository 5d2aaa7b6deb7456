import {
  decodeChunkMetadata,
  documentMetadataOf,
  encodeChunkMetadata,
  titleOf,
  type ChunkMetadata,
  type Summary,
  withChunk,
} from './chunk-metadata.ts'
import type { Pause } from './blocks.ts'
import { chunkSections, type Chunk, type ChunkOptions } from './chunk.ts'
import { searchTextsOf } from './search-text.ts'
import type { DocumentMetadata, StoredDocument } from '../contracts/stored-document.ts'
import { toTag, type Hit, type IndexRow } from '../contracts/vector-index.ts'
import type { ClaimedDocument } from '../queue/claims.ts'

export interface DraftRow {
  readonly fields: Omit<IndexRow, 'generation' | 'vector'>
  readonly metadata: ChunkMetadata
  /** JSON of the document's metadata if it is too large for rows; null if the rows contain it. */
  readonly metadataBeside: string | null
  /** Text for the embedder; only built if there is one. */
  readonly embedText: () => string
  /** Returns the row with a summary added to its searchable text. */
  readonly withSummary: (summary: Summary) => DraftRow
}

/** Lazy. A document without text gets a row with the text "" if it has a title, so that the title is searchable. */
export function* toRows(
  claimed: ClaimedDocument,
  document: StoredDocument,
  options?: Pick<ChunkOptions, 'descriptions' | 'openSection'>,
): Generator<DraftRow | Pause> {
  const { metadata: entries, ...base } = documentMetadataOf(document)
  const json = JSON.stringify(entries)
  const isLarge = json.length > maxRowMetadataLength
  const metadata = isLarge ? base : { ...base, metadata: entries }
  const keywords = keywordsOf(entries)
  const title = metadata.title ?? metadata.semanticIdentifier
  const basis = { metadata, metadataBeside: isLarge ? json : null, searchTextOf: searchTextsOf(title), keywords }
  const shared = sharedFields(claimed, document)
  let count = 0
  for (const chunk of chunkSections(document.sections, options)) {
    if (chunk) count++
    yield chunk && toRow(shared, basis, chunk)
  }
  if (count === 0 && title !== '') yield toRow(shared, basis, titleOnly)
}

function sharedFields(
  { id, pairIds, acceptedAt }: Pick<ClaimedDocument, 'id' | 'pairIds' | 'acceptedAt'>,
  document: StoredDocument,
): SharedFields {
  const ownUpdatedAt = document.doc_updated_at === null ? null : Date.parse(document.doc_updated_at)
  return {
    documentId: id,
    source: document.source,
    tags: toTags(document),
    pairs: pairIds,
    ownUpdatedAt,
    createdAt: document.doc_created_at === null ? null : Date.parse(document.doc_created_at),
    updatedAt: ownUpdatedAt ?? acceptedAt,
  }
}

const titleOnly = { position: 0, text: '', headings: [], link: null, imageFileId: null }

type SharedFields = Omit<DraftRow['fields'], 'position' | 'text' | 'searchText' | 'chunkMetadata'>

type RowChunk = Pick<Chunk, 'position' | 'text' | 'headings' | 'link' | 'imageFileId' | 'seam' | 'isDescription'>

interface RowDocument extends Pick<DraftRow, 'metadata' | 'metadataBeside'> {
  readonly searchTextOf: (text: string) => string
  readonly keywords: string
}

function toRow(shared: SharedFields, document: RowDocument, chunk: RowChunk, summary?: Summary): DraftRow {
  const metadata = withChunk(document.metadata, chunk, summary)
  return {
    fields: {
      ...shared,
      position: chunk.position,
      text: chunk.text,
      searchText: document.searchTextOf(searchedIn(metadata, chunk.text, document.keywords)),
      chunkMetadata: encodeChunkMetadata(metadata),
    },
    metadata,
    metadataBeside: document.metadataBeside,
    embedText: () => toEmbedText(metadata, chunk.text),
    withSummary: (added) => toRow(shared, document, chunk, added),
  }
}

/** The parts of a row that search finds, besides its title. */
function searchedIn(metadata: ChunkMetadata, text: string, keywords: string): string {
  const notes = toNotes(metadata)
  const context = withContext(metadata, text, keywords)
  return notes === '' ? context : `${notes}\n\n${context}`
}

/** The rows of a document that an index returned, as they were when they were written. */
export function rowsOfHits(
  claimed: Pick<ClaimedDocument, 'id' | 'pairIds' | 'acceptedAt'>,
  document: StoredDocument,
  hits: readonly Hit[],
): IndexRow[] {
  const shared = sharedFields(claimed, document)
  const keywords = keywordsOf(documentMetadataOf(document).metadata)
  return hits.map((hit) => {
    const { generation, position, text, chunkMetadata, source, updatedAt, vector } = hit
    const metadata = decodeChunkMetadata(chunkMetadata)
    const searchText = searchTextsOf(titleOf(metadata))(searchedIn(metadata, text, keywords))
    return {
      ...shared,
      generation,
      position,
      text,
      searchText,
      chunkMetadata,
      source,
      updatedAt,
      ...(vector && { vector }),
    }
  })
}

const keywordsOf = (entries: DocumentMetadata): string =>
  Object.values(entries).flat().join(' ').slice(0, maxMetadataLength)

/** The summaries of a chunk and its document, one per line. */
function toNotes({ documentSummary, chunkSummary }: ChunkMetadata): string {
  return [documentSummary, chunkSummary].filter((note) => note).join('\n')
}

/** Equal metadata and text give equal results, so the vector of an unchanged row can be reused. */
export function toEmbedText(chunk: ChunkMetadata, text: string): string {
  const entries = Object.entries(chunk.metadata ?? {}).map(([key, value]) => `${key}: ${[value].flat().join(', ')}`)
  const metadata = entries.join('\n')
  return [
    titleOf(chunk),
    toNotes(chunk),
    withContext(chunk, text, metadata.length <= maxMetadataLength ? metadata : ''),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** A quarter of a chunk: longer metadata would outweigh the text. */
const maxMetadataLength = 448

/** The headings that the text does not contain, the text, and additional notes. */
function withContext({ headings }: ChunkMetadata, text: string, extra: string): string {
  let context = ''
  for (const heading of headings ?? []) if (!text.includes(heading)) context += `${heading}\n`
  const above = context === '' || text === '' ? context : `${context}\n`
  return extra === '' ? above + text : `${above}${text}\n\n${extra}`
}

/** Limits, since each row stores its tags; more or longer tags are of no use as filters. */
const [fewestTags, maxTags] = [50, 1000]
/** Total over all sections, since each has at least one row. */
const maxTagsOfSections = 500_000
const maxTagLength = 1000

/** The first 1000 entries; for documents of more than 500 sections fewer, but at least 50. */
export function toTags({ metadata, sections }: Pick<StoredDocument, 'metadata' | 'sections'>): string[] {
  const limit = Math.max(fewestTags, Math.min(maxTags, Math.floor(maxTagsOfSections / sections.length)))
  const tags: string[] = []
  for (const [key, value] of Object.entries(metadata))
    for (const item of [value].flat()) {
      if (tags.length === limit) return tags
      const tag = toTag(key, item)
      if (tag.length <= maxTagLength) tags.push(tag)
    }
  return tags
}

export function filesOf({ file_id, sections }: Pick<StoredDocument, 'file_id' | 'sections'>): string[] {
  const named = sections.flatMap((section) => [
    'image_file_id' in section && section.image_file_id,
    'csv_file_id' in section && section.csv_file_id,
  ])
  return [file_id, ...named].filter(Boolean) as string[]
}

export function imagesOf({ sections }: Pick<StoredDocument, 'sections'>): string[] {
  return sections.flatMap((section) =>
    'image_file_id' in section && section.image_file_id ? [section.image_file_id] : [],
  )
}

/** Longer metadata is stored once per document, in the records, instead of in each row. */
const maxRowMetadataLength = 1000
