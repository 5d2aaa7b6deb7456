import {
  InlayError,
  metadataSchema,
  parseWith,
  setTextPieces,
  storable,
  validationFailed,
  type IngestionRequest,
  type Section,
} from '@inlay/protocol'
import type { MetadataChange } from '../contracts/documents.ts'
import type { LargeDocument, StoredDocument } from '../contracts/stored-document.ts'
import type { Records } from '../schema/tables.ts'
import { readPart } from './large-content.ts'

export interface KnownVersion {
  readonly revision: number
  readonly document: StoredDocument
}

/** Reads the newest version of a document; undefined if there is none. @throws CONFLICT if it changes meanwhile */
export async function readVersion(db: Records, id: string): Promise<KnownVersion | undefined> {
  const row = await db
    .selectFrom('inlay_documents as document')
    .innerJoin('inlay_contents as content', 'content.id', 'document.id')
    .select(['document.revision', 'content.content', 'content.large_id'])
    .where('document.id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const document =
    row.large_id === null ? (JSON.parse(row.content) as StoredDocument) : await readLarge(db, row.large_id)
  return { revision: Number(row.revision), document }
}

/** Its texts stay in the pieces in which they are stored. */
async function readLarge(db: Records, largeId: string): Promise<StoredDocument> {
  const stored = await db
    .selectFrom('inlay_large_contents')
    .select('document')
    .where('id', '=', largeId)
    .executeTakeFirst()
  if (stored === undefined) throw changedMeanwhile()
  const { textLengths, ...document } = JSON.parse(stored.document) as LargeDocument
  let part = ''
  let position = 0
  const nextPiece = async (most: number): Promise<string> => {
    if (part === '') {
      const text = await readPart(db, largeId, position++)
      if (text === undefined) throw changedMeanwhile()
      part = text
    }
    const piece = part.slice(0, most)
    part = part.slice(most)
    return piece
  }
  const sections: Section[] = []
  for (const [at, section] of document.sections.entries()) {
    const pieces: string[] = []
    for (let left = textLengths[at] ?? 0; left > 0; left -= pieces.at(-1)!.length) pieces.push(await nextPiece(left))
    const kept = { ...section }
    if (pieces.length > 0) setTextPieces(kept, pieces)
    sections.push(kept)
  }
  return { ...document, sections }
}

/** The request for a document with other metadata. @throws VALIDATION_FAILED for metadata that cannot be stored */
export function withMetadata(
  { document }: KnownVersion,
  { id, pairId, change }: { readonly id: string; readonly pairId: number; readonly change: MetadataChange },
): IngestionRequest {
  const entries = new Map<string, MetadataChange[string]>(Object.entries(document.metadata))
  // Names are stored without unstorable characters, so an entry is found by such a name.
  for (const [key, value] of Object.entries(change)) entries.set(storable(key), value)
  // Leaves out the entries that became null.
  const metadata = parseWith(metadataSchema, Object.fromEntries(entries), 'body')
  return { document: { ...document, id, metadata }, cc_pair_id: pairId } as IngestionRequest
}

export const withoutPair = (): InlayError =>
  validationFailed([
    { loc: ['body', 'cc_pair_ids'], msg: 'must name a pair: DELETE removes the document', type: 'too_short' },
  ])

export const changedMeanwhile = (): InlayError =>
  new InlayError('CONFLICT', { message: 'The document was changed meanwhile: read it again, then change it.' })
