import { storable, textPieces, type Section } from '@inlay/protocol'
import { createSlices, nextSlice } from '@inlay/scheduling'
import { emptyLog, isLeaseHeld } from '@inlay/records'
import type { LargeDocument, StoredDocument } from '../contracts/stored-document.ts'
import type { Records } from '../schema/tables.ts'

export interface LargeContent {
  /** Generated for this content. */
  readonly id: string
  /** JSON of a {@link LargeDocument}. */
  readonly document: string
  /** The texts of its sections, concatenated and split into parts. */
  readonly parts: readonly string[]
}

/** Documents with more characters of text are large: reading or writing them at once would block for milliseconds. */
export const largeCharacters: number = 2 ** 20

const partCharacters = 2 ** 18

function piecesOf(section: Section): readonly string[] {
  return textPieces.get(section) ?? ('text' in section ? [section.text] : [])
}

/** Splits a document into parts; equal documents give equal parts. */
export async function toLargeContent(document: StoredDocument): Promise<LargeContent> {
  const slices = createSlices()
  const parts: string[] = []
  const textLengths: number[] = []
  let part = ''
  for (const section of document.sections) {
    let length = 0
    for (const piece of piecesOf(section)) {
      length += piece.length
      for (let from = 0; from < piece.length;) {
        if (slices.isOver()) await slices.next()
        const end = endOfPart(piece, from, partCharacters - part.length)
        part += piece.slice(from, end)
        from = end
        if (part.length < partCharacters) continue
        parts.push(part)
        part = ''
      }
    }
    textLengths.push(length)
  }
  if (part !== '') parts.push(part)
  const sections = document.sections.map(withoutText)
  const large: LargeDocument = { ...document, sections, textLengths }
  await slices.next()
  return { id: crypto.randomUUID(), document: JSON.stringify(large), parts }
}

/** Never splits a surrogate pair, since each part is stored separately. */
function endOfPart(text: string, from: number, room: number): number {
  const end = Math.min(from + room, text.length)
  return end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end + 1 : end
}

/** Splits a text into pieces that can be stored, and yields to the event loop in between. */
export async function storablePieces(text: string): Promise<string[]> {
  const slices = createSlices()
  const pieces: string[] = []
  for (let from = 0; from < text.length;) {
    const end = endOfPart(text, from, partCharacters)
    pieces.push(storable(text.slice(from, end)))
    from = end
    if (slices.isOver()) await slices.next()
  }
  return pieces
}

/** Copies the other fields one by one: spreading the section would read its text. */
function withoutText(section: Section): Section {
  if (!('text' in section)) return section
  const { type, link, image_file_id, heading } = section
  return { type, text: '', link, image_file_id, heading }
}

/** Maximum time for writing content; afterwards it counts as abandoned. */
const leaseMs = 60 * 60_000

export interface LargeWriting {
  readonly now: number
  /** Identifies this process among all that share the database. */
  readonly owner: string
}

/**
 * Writes the parts, each in its own transaction, so that other writers are not blocked. The content has no effect until
 * a document references it.
 */
export async function writeLargeContent(
  db: Records,
  { id, document, parts }: LargeContent,
  { now, owner }: LargeWriting,
): Promise<void> {
  await nextSlice()
  await db
    .insertInto('inlay_large_contents')
    .values({ id, document, owner, lease_until: now + leaseMs })
    .execute()
  for (const [position, text] of parts.entries()) {
    await nextSlice()
    await db.insertInto('inlay_content_parts').values({ large_id: id, position, text }).execute()
  }
}

/**
 * Ends the lease of written content, which is removed unless a document references it. Call in the transaction that
 * references it. @returns whether the lease was still held
 */
export async function releaseLargeContent(db: Records, { id }: Pick<LargeContent, 'id'>): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('inlay_large_contents')
    .set({ lease_until: 0 })
    .where('id', '=', id)
    .where('lease_until', '>', 0)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Undefined if the document was changed or deleted meanwhile. */
export async function readPart(db: Records, largeId: string, position: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('inlay_content_parts')
    .select('text')
    .where('large_id', '=', largeId)
    .where('position', '=', position)
    .executeTakeFirst()
  return row?.text
}

/** Number of parts removed in one transaction; deleted data is overwritten, which takes time. */
const removedAtOnce = 4

export interface LargeSweep {
  readonly now: number
  /** Whether the process of an owner is known to have ended. */
  readonly isGone?: ((owner: string) => boolean) | undefined
  readonly signal?: AbortSignal
}

/** Removes large contents that no document references: replaced, deleted, or never completed. */
export async function sweepLargeContents(db: Records, { now, isGone, signal }: LargeSweep): Promise<void> {
  const unnamed = await db
    .selectFrom('inlay_large_contents')
    .select(['id', 'owner', 'lease_until'])
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom('inlay_contents')
            .select('inlay_contents.id')
            .whereRef('large_id', '=', 'inlay_large_contents.id'),
        ),
      ),
    )
    .where((of) =>
      of.not(
        of.exists(
          of.selectFrom('inlay_inbox').select('inlay_inbox.id').whereRef('large_id', '=', 'inlay_large_contents.id'),
        ),
      ),
    )
    .execute()
  let hasRemoved = false
  for (const { id, owner, lease_until } of unnamed) {
    const leaseUntil = Number(lease_until)
    if (isLeaseHeld(leaseUntil, now) && !isGone?.(owner)) continue
    // A writer may be about to reference it; in that case the lease has changed.
    const { numUpdatedRows } = await db
      .updateTable('inlay_large_contents')
      .set({ lease_until: -1 })
      .where('id', '=', id)
      .where('lease_until', '=', leaseUntil)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) continue
    await removeLargeContent(db, id, signal)
    hasRemoved = true
  }
  if (hasRemoved) await emptyLog(db)
}

async function removeLargeContent(db: Records, id: string, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    await nextSlice()
    if (signal?.aborted) return
    const last = await db
      .selectFrom('inlay_content_parts')
      .select('position')
      .where('large_id', '=', id)
      .orderBy('position', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (!last) break
    await db
      .deleteFrom('inlay_content_parts')
      .where('large_id', '=', id)
      .where('position', '>', last.position - removedAtOnce)
      .execute()
  }
  await db.deleteFrom('inlay_large_contents').where('id', '=', id).execute()
}
