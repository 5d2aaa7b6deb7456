import type { Owner } from '@inlay/protocol'
import type { Chunk } from './chunk.ts'
import { supersededNotice } from './superseded.ts'
import type { DocumentMetadata, StoredDocument } from '../contracts/stored-document.ts'
import type { Hit } from '../contracts/vector-index.ts'

/** Written by models; each is "" if there is none. */
export interface Summary {
  readonly document: string
  readonly chunk: string
}

/** Displayed properties of a passage besides its text. Stored with each row of the index, encoded. */
export interface ChunkMetadata {
  readonly semanticIdentifier: string
  /** Title used for search if it differs; "" for none. */
  readonly title?: string
  readonly link?: string
  /** Headings above the chunk, outermost first. */
  readonly headings?: readonly string[]
  /** Absent if it is large: it is then stored once per document, in the records. */
  readonly metadata?: DocumentMetadata
  readonly primaryOwners?: readonly string[]
  readonly secondaryOwners?: readonly string[]
  readonly fileId?: string
  readonly imageId?: string
  /** Text between the chunk and the previous one. Absent: a blank line. */
  readonly seam?: string
  /** Number of characters that splitting added: at the end of the previous chunk, and at the beginning of this one. */
  readonly addedByCut?: readonly [number, number]
  /** Whether the chunk is a model's description of its image. */
  readonly isDescription?: true
  /** The sentence in which the document says that it is superseded. */
  readonly superseded?: string
  /** Used for search only; see {@link Summary}. */
  readonly documentSummary?: string
  readonly chunkSummary?: string
}

/**
 * The stored form has a one-letter key per field, since each chunk stores it. A letter never changes its meaning; older
 * rows may also have `r`.
 */
const letters = {
  semanticIdentifier: 's',
  title: 't',
  link: 'l',
  headings: 'h',
  metadata: 'm',
  primaryOwners: 'o',
  secondaryOwners: 'q',
  fileId: 'f',
  imageId: 'i',
  seam: 'j',
  addedByCut: 'w',
  isDescription: 'g',
  superseded: 'u',
  documentSummary: 'd',
  chunkSummary: 'c',
} as const satisfies Record<keyof ChunkMetadata, string>

const fieldOf = new Map<string, string>(Object.entries(letters).map(([field, letter]) => [letter, field]))

/** Encodes chunk metadata for the index. Equal metadata gives equal text. */
export function encodeChunkMetadata(metadata: ChunkMetadata): string {
  const short: Record<string, unknown> = {}
  // Absent fields stay absent, since JSON omits undefined values.
  for (const [field, value] of Object.entries(metadata)) short[letters[field as keyof ChunkMetadata]] = value
  return JSON.stringify(short)
}

export function decodeChunkMetadata(encoded: string): ChunkMetadata {
  const short = JSON.parse(encoded) as Record<string, unknown>
  const metadata: Record<string, unknown> = {}
  for (const letter in short) metadata[fieldOf.get(letter) ?? letter] = short[letter]
  // Written only by this package.
  return metadata as unknown as ChunkMetadata
}

/** Limits in characters, since each chunk stores the metadata. Filters still use the omitted part. */
const maxNameLength = 1000
const maxTitleLength = 500
const maxMetadataLength = 8000
const maxOwners = 50
const maxLinkLength = 8000
const maxSeamLength = 100

/** The part of the metadata that all chunks of a document share. */
export function documentMetadataOf(document: StoredDocument): ChunkMetadata & { readonly metadata: DocumentMetadata } {
  const name = cut(document.semantic_identifier, maxNameLength)
  const title = cut(document.title ?? document.semantic_identifier, maxTitleLength)
    .replaceAll(/[\r\n]+/g, ' ')
    .trim()
  const superseded = supersededNotice(document)
  return {
    semanticIdentifier: name,
    ...(title === name ? {} : { title }),
    ...(superseded === undefined ? {} : { superseded }),
    metadata:
      JSON.stringify(document.metadata).length > maxMetadataLength ? cutMetadata(document.metadata) : document.metadata,
    ...(document.primary_owners ? { primaryOwners: toOwnerTexts(document.primary_owners) } : {}),
    ...(document.secondary_owners ? { secondaryOwners: toOwnerTexts(document.secondary_owners) } : {}),
    ...(document.file_id ? { fileId: cut(document.file_id, maxNameLength) } : {}),
  }
}

function cut(text: string, limit: number): string {
  // Removes half a surrogate pair at the cut.
  return text.length <= limit ? text : text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '')
}

/** Keeps as many complete entries and list items as fit. */
function cutMetadata(metadata: DocumentMetadata): DocumentMetadata {
  let room = maxMetadataLength
  const kept: [string, string | string[]][] = []
  const fits = (text: string): boolean => {
    if (text.length > room) return false
    room -= text.length
    return true
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (!fits(key)) continue
    const items = [value].flat().filter(fits)
    if (typeof value !== 'string') kept.push([key, items])
    else if (items.length > 0) kept.push([key, value])
  }
  return Object.fromEntries(kept)
}

export function withChunk(
  document: ChunkMetadata,
  chunk: Pick<Chunk, 'headings' | 'link' | 'imageFileId' | 'seam' | 'isDescription'>,
  summary?: Summary,
): ChunkMetadata {
  return {
    ...document,
    // A truncated link would not work.
    ...(chunk.link && chunk.link.length <= maxLinkLength ? { link: chunk.link } : {}),
    ...(chunk.headings.length > 0 ? { headings: chunk.headings } : {}),
    ...(chunk.seam ? { seam: chunk.seam.between.slice(0, maxSeamLength) } : {}),
    ...(chunk.seam?.added.some((count) => count > 0) ? { addedByCut: chunk.seam.added } : {}),
    ...(chunk.isDescription ? { isDescription: true } : {}),
    ...(summary?.document ? { documentSummary: summary.document } : {}),
    ...(summary?.chunk ? { chunkSummary: summary.chunk } : {}),
    ...(chunk.imageFileId ? { imageId: chunk.imageFileId } : {}),
  }
}

/** Title used for search; "" if there is none. */
export function titleOf({ title, semanticIdentifier }: ChunkMetadata): string {
  return title ?? semanticIdentifier
}

const emailForm = /^[^\s@]+@[^\s@]+$/

function toOwnerTexts(owners: readonly Owner[]): string[] {
  const texts = owners.slice(0, maxOwners).map(toOwnerText)
  return texts.filter((text) => text !== undefined).map((text) => cut(text, 200))
}

function toOwnerText(owner: Owner): string | undefined {
  const { first_name: first, last_name: last, middle_initial: middle, display_name: name, email } = owner
  if (first && last) return [first, middle, last].filter(Boolean).join(' ')
  if (name) return name
  if (email && emailForm.test(email)) return email
  return first || undefined
}

export interface ReadHit {
  readonly hit: Hit
  readonly metadata: ChunkMetadata
}

export function readHits(hits: readonly Hit[]): ReadHit[] {
  return hits.map((hit) => ({ hit, metadata: decodeChunkMetadata(hit.chunkMetadata) }))
}

/** The text that consecutive chunks were split from, without what splitting added to a table or a code block. */
export function textOf(chunks: readonly ReadHit[]): string {
  let text = ''
  for (const [at, { hit, metadata }] of chunks.entries()) {
    const [closing, opening] = metadata.addedByCut ?? [0, 0]
    if (at === 0) text = hit.text
    else text = text.slice(0, text.length - closing) + (metadata.seam ?? '\n\n') + hit.text.slice(opening)
  }
  return text
}
