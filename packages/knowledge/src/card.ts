import type { Owner } from '@inlay/protocol'
import type { StoredDocument } from './version.ts'

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
}

/** The part of a card that all chunks of a document share. */
export function toDocumentCard(document: StoredDocument): Card {
  const title = searchTitle(document)
  return {
    s: document.semantic_identifier,
    ...(title === document.semantic_identifier ? {} : { t: title }),
    m: document.metadata,
    ...(document.primary_owners ? { o: toOwnerTexts(document.primary_owners) } : {}),
    ...(document.secondary_owners ? { q: toOwnerTexts(document.secondary_owners) } : {}),
    ...(document.file_id ? { f: document.file_id } : {}),
  }
}

/** Adds what belongs to one chunk. */
export function toChunkCard(
  card: Card,
  chunk: { headings: readonly string[]; link: string | null; imageFileId: string | null },
): Card {
  return {
    ...card,
    ...(chunk.link ? { l: chunk.link } : {}),
    ...(chunk.headings.length > 0 ? { h: chunk.headings } : {}),
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
  return (document.title ?? document.semantic_identifier).replaceAll(/[\r\n]+/g, ' ').trim()
}

const emailForm = /^[^\s@]+@[^\s@]+$/

/** Owners in words, as far as enough is known of them. */
function toOwnerTexts(owners: readonly Owner[]): string[] {
  return owners.map(toOwnerText).filter((text) => text !== undefined)
}

function toOwnerText(owner: Owner): string | undefined {
  const { first_name: first, last_name: last, middle_initial: middle, display_name: name, email } = owner
  if (first && last) return [first, middle, last].filter(Boolean).join(' ')
  if (name) return name
  if (email && emailForm.test(email)) return email
  return first || undefined
}
