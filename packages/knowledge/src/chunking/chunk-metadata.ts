import type { Owner } from '@inlay/protocol'
import type { Chunk } from './chunk.ts'
import type { DocumentMetadata, StoredDocument } from '../contracts/stored-document.ts'
import type { Hit } from '../contracts/vector-index.ts'

/** Summaries of a chunk, written by models. */
export interface Summary {
  /** Summary of the document; "" if there is none. */
  readonly document: string
  /** Summary of the chunk; "" if there is none. */
  readonly chunk: string
}

/** Displayed properties of a passage besides its text. Stored with each row of the index, encoded. */
export interface ChunkMetadata {
  readonly semanticIdentifier: string
  /** Title for search when it is another: "" for none. */
  readonly title?: string
  readonly link?: string
  /** Above the chunk, outermost first. */
  readonly headings?: readonly string[]
  /** Absent when it is large: it is then kept once, in the records. */
  readonly metadata?: DocumentMetadata
  readonly primaryOwners?: readonly string[]
  readonly secondaryOwners?: readonly string[]
  /** Id of the raw file of the document. */
  readonly fileId?: string
  /** Id of the image that belongs to the chunk. */
  readonly imageId?: string
  /** Text between the chunk and the previous one. Absent: a blank line. */
  readonly seam?: string
  /** Characters that only a cut added: at the end of the chunk before, at the beginning of this one. */
  readonly addedByCut?: readonly [number, number]
  /** Whether the chunk is what a model said of its image. */
  readonly isDescription?: true
  /** For search alone; see {@link Summary}. */
  readonly documentSummary?: string
  readonly chunkSummary?: string
}

/** The stored form has one letter a field: each chunk of each document carries it. A letter never changes its meaning. */
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
  documentSummary: 'd',
  chunkSummary: 'c',
} as const satisfies Record<keyof ChunkMetadata, string>

const fieldOf = new Map<string, string>(Object.entries(letters).map(([field, letter]) => [letter, field]))

/** Encodes chunk metadata as an index keeps it. Equal metadata gives equal text. */
export function encodeChunkMetadata(metadata: ChunkMetadata): string {
  const short: Record<string, unknown> = {}
  // A field that is absent stays out, as JSON leaves out what is undefined.
  for (const [field, value] of Object.entries(metadata)) short[letters[field as keyof ChunkMetadata]] = value
  return JSON.stringify(short)
}

/** Reads what {@link encodeChunkMetadata} wrote. */
export function decodeChunkMetadata(encoded: string): ChunkMetadata {
  const short = JSON.parse(encoded) as Record<string, unknown>
  const metadata: Record<string, unknown> = {}
  for (const letter in short) metadata[fieldOf.get(letter) ?? letter] = short[letter]
  // Written by this package alone.
  return metadata as unknown as ChunkMetadata
}

/** Each chunk carries its metadata, so it is bounded, in characters; what is left out still filters. */
const longestName = 1000
const longestTitle = 500
const longestMetadata = 8000
const mostOwners = 50
const longestLink = 8000
const longestSeam = 100

/** The part that all chunks of a document share. */
export function documentMetadataOf(document: StoredDocument): ChunkMetadata & { readonly metadata: DocumentMetadata } {
  const name = cut(document.semantic_identifier, longestName)
  const title = cut(document.title ?? document.semantic_identifier, longestTitle)
    .replaceAll(/[\r\n]+/g, ' ')
    .trim()
  return {
    semanticIdentifier: name,
    ...(title === name ? {} : { title }),
    metadata:
      JSON.stringify(document.metadata).length > longestMetadata ? cutMetadata(document.metadata) : document.metadata,
    ...(document.primary_owners ? { primaryOwners: toOwnerTexts(document.primary_owners) } : {}),
    ...(document.secondary_owners ? { secondaryOwners: toOwnerTexts(document.secondary_owners) } : {}),
    ...(document.file_id ? { fileId: cut(document.file_id, longestName) } : {}),
  }
}

function cut(text: string, limit: number): string {
  // A cut may fall between the halves of a character.
  return text.length <= limit ? text : text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '')
}

/** Whole entries, as many as fit; list items likewise. */
function cutMetadata(metadata: DocumentMetadata): DocumentMetadata {
  let room = longestMetadata
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

/** Adds what belongs to one chunk. */
export function withChunk(
  document: ChunkMetadata,
  chunk: Pick<Chunk, 'headings' | 'link' | 'imageFileId' | 'seam' | 'isDescription'>,
  summary?: Summary,
): ChunkMetadata {
  return {
    ...document,
    // A link cut short leads nowhere.
    ...(chunk.link && chunk.link.length <= longestLink ? { link: chunk.link } : {}),
    ...(chunk.headings.length > 0 ? { headings: chunk.headings } : {}),
    ...(chunk.seam ? { seam: chunk.seam.between.slice(0, longestSeam) } : {}),
    ...(chunk.seam?.added.some((count) => count > 0) ? { addedByCut: chunk.seam.added } : {}),
    ...(chunk.isDescription ? { isDescription: true } : {}),
    ...(summary?.document ? { documentSummary: summary.document } : {}),
    ...(summary?.chunk ? { chunkSummary: summary.chunk } : {}),
    ...(chunk.imageFileId ? { imageId: chunk.imageFileId } : {}),
  }
}

/** Title that search matches; "" when there is none. */
export function titleOf({ title, semanticIdentifier }: ChunkMetadata): string {
  return title ?? semanticIdentifier
}

const emailForm = /^[^\s@]+@[^\s@]+$/

/** Owners in words, as far as enough is known of them. */
function toOwnerTexts(owners: readonly Owner[]): string[] {
  const texts = owners.slice(0, mostOwners).map(toOwnerText)
  return texts.filter((text) => text !== undefined).map((text) => cut(text, 200))
}

function toOwnerText(owner: Owner): string | undefined {
  const { first_name: first, last_name: last, middle_initial: middle, display_name: name, email } = owner
  if (first && last) return [first, middle, last].filter(Boolean).join(' ')
  if (name) return name
  if (email && emailForm.test(email)) return email
  return first || undefined
}

/** A hit with its metadata. */
export interface ReadHit {
  readonly hit: Hit
  readonly metadata: ChunkMetadata
}

/**
 * Chunks that follow each other as the one text they were cut from: without what the cuts added to a table or a code
 * block.
 */
export function textOf(chunks: readonly ReadHit[]): string {
  let text = ''
  for (const [at, { hit, metadata }] of chunks.entries()) {
    const [closing, opening] = metadata.addedByCut ?? [0, 0]
    if (at === 0) text = hit.text
    else text = text.slice(0, text.length - closing) + (metadata.seam ?? '\n\n') + hit.text.slice(opening)
  }
  return text
}
