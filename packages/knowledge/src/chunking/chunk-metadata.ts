import type { Owner } from '@inlay/protocol'
import type { Chunk } from './chunk.ts'
import type { Summary } from '../indexing/known-rows.ts'
import type { StoredDocument } from '../intake/version.ts'

/** What a passage shows besides its text; kept with each row of the index as JSON, in short keys. */
export interface Card {
  /** Semantic identifier. */
  readonly s: string
  /** Title for search when it is another: "" for none. */
  readonly t?: string
  /** Link of the chunk. */
  readonly l?: string
  /** Headings above the chunk. */
  readonly h?: readonly string[]
  readonly m: Readonly<Record<string, string | readonly string[]>>
  /** Primary owners as text. */
  readonly o?: readonly string[]
  /** Secondary owners as text. */
  readonly q?: readonly string[]
  /** Id of the raw file of the document. */
  readonly f?: string
  /** Id of the image that belongs to the chunk. */
  readonly i?: string
  /** What stood between the chunk and the one before it; absent: a blank line. */
  readonly j?: string
  /** Whether the chunk is what a model said of its image. */
  readonly g?: true
  /** What a model said of the document, for search alone. */
  readonly d?: string
  /** What a model said of the chunk, for search alone. */
  readonly c?: string
  /** Characters added by a cut: at the end of the chunk before, at the beginning of this one. */
  readonly w?: readonly [number, number]
}

/** Each chunk carries its card, so a card is bounded, in characters; what is left out still filters. */
const longestName = 1000
const longestTitle = 500
const longestMetadata = 8000
const mostOwners = 50
const longestLink = 8000
const longestSeam = 100

/** The part of a card that all chunks of a document share. */
export function toDocumentCard(document: StoredDocument): Card {
  const name = cut(document.semantic_identifier, longestName)
  const title = searchTitle(document)
  return {
    s: name,
    ...(title === name ? {} : { t: title }),
    m: cutMetadata(document.metadata),
    ...(document.primary_owners ? { o: toOwnerTexts(document.primary_owners) } : {}),
    ...(document.secondary_owners ? { q: toOwnerTexts(document.secondary_owners) } : {}),
    ...(document.file_id ? { f: cut(document.file_id, longestName) } : {}),
  }
}

function cut(text: string, limit: number): string {
  // A cut may fall between the halves of a character.
  return text.length <= limit ? text : text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '')
}

/** Whole entries, as many as fit; list items likewise. */
function cutMetadata(metadata: Card['m']): Card['m'] {
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
export function toChunkCard(
  card: Card,
  chunk: Pick<Chunk, 'headings' | 'link' | 'imageFileId' | 'seam' | 'isDescription'>,
  summary?: Summary,
): Card {
  return {
    ...card,
    // A link cut short leads nowhere.
    ...(chunk.link && chunk.link.length <= longestLink ? { l: chunk.link } : {}),
    ...(chunk.headings.length > 0 ? { h: chunk.headings } : {}),
    ...(chunk.seam ? { j: chunk.seam.between.slice(0, longestSeam) } : {}),
    ...(chunk.seam?.added.some((count) => count > 0) ? { w: chunk.seam.added } : {}),
    ...(chunk.isDescription ? { g: true } : {}),
    ...(summary?.document ? { d: summary.document } : {}),
    ...(summary?.chunk ? { c: summary.chunk } : {}),
    ...(chunk.imageFileId ? { i: chunk.imageFileId } : {}),
  }
}

/** Reads the card of a row. */
export function readCard(json: string): Card {
  // Written by this package alone.
  return JSON.parse(json) as Card
}

/** Title that search matches; "" when there is none. */
export function titleOf(card: Card): string {
  return card.t ?? card.s
}

function searchTitle(document: StoredDocument): string {
  return cut(document.title ?? document.semantic_identifier, longestTitle)
    .replaceAll(/[\r\n]+/g, ' ')
    .trim()
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
