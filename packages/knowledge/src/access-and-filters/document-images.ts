import { isLeaseHeld, isAmong } from '@inlay/records'
import { pairsFor } from './permissions-and-filters.ts'
import type { Caller } from '../contracts/pairs.ts'
import type { Records } from '../schema/tables.ts'

/** Notes the files that documents name in place of those they had. Within a transaction; what does not change is not written. */
export async function recordImages(
  db: Records,
  documents: readonly { readonly id: string; readonly files: readonly string[] }[],
): Promise<void> {
  if (documents.length === 0) return
  const before = await db
    .selectFrom('inlay_document_images')
    .selectAll()
    .where(
      isAmong(
        db,
        'document_id',
        documents.map(({ id }) => id),
      ),
    )
    .execute()
  const known = Map.groupBy(before, (row) => row.document_id)
  const changed = documents.filter(({ id, files }) => {
    const held = new Set(known.get(id)?.map((row) => row.image_id))
    return held.size !== new Set(files).size || files.some((file) => !held.has(file))
  })
  await forgetImages(
    db,
    changed.map(({ id }) => id).filter((id) => known.has(id)),
  )
  const rows = changed.flatMap(({ id, files }) =>
    [...new Set(files)].map((file) => ({ image_id: file, document_id: id })),
  )
  for (let at = 0; at < rows.length; at += batch)
    await db
      .insertInto('inlay_document_images')
      .values(rows.slice(at, at + batch))
      .execute()
}

/**
 * Notes the files of versions that wait beside those that are shown, so that nobody deletes them meanwhile. Recording
 * the version once it is indexed drops the others.
 */
export async function noteWaitingImages(
  db: Records,
  documents: readonly { readonly id: string; readonly files: readonly string[] }[],
): Promise<void> {
  const rows = documents.flatMap(({ id, files }) =>
    [...new Set(files)].map((file) => ({ image_id: file, document_id: id })),
  )
  // Removes images of versions that were never shown, since their successors would not remove them.
  await db
    .deleteFrom('inlay_document_images')
    .where('document_id', 'in', (of) =>
      of
        .selectFrom('inlay_documents')
        .select('id')
        .where('visible_generation', 'is', null)
        .where(
          isAmong(
            db,
            'id',
            documents.map(({ id }) => id),
          ),
        ),
    )
    .execute()
  for (let at = 0; at < rows.length; at += batch)
    await db
      .insertInto('inlay_document_images')
      .values(rows.slice(at, at + batch))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

/** Databases bound the parameters of a statement. */
const batch = 1000

export async function forgetImages(db: Records, documentIds: readonly string[]): Promise<void> {
  if (documentIds.length > 0)
    await db
      .deleteFrom('inlay_document_images')
      .where(isAmong(db, 'document_id', documentIds))
      .execute()
}

/** Longer than taking a document in takes: a hold that is older was left by a process that died. */
const holdMs = 10 * 60_000

/** A call that takes in a document which names files. */
export interface FileHolding {
  readonly files: readonly string[]
  readonly now: number
}

/**
 * Keeps files from being deleted until the document that names them is written. Comes before looking whether they are
 * there: whoever deletes hides the file first and looks for holds then, so that one of the two sees the other.
 * @returns what releases them
 */
export async function holdFiles(db: Records, { files, now }: FileHolding): Promise<string> {
  const id = crypto.randomUUID()
  await db.deleteFrom('inlay_file_holds').where('lease_until', '<', now).execute()
  const rows = [...new Set(files)].map((file_id) => ({ id, file_id, lease_until: now + holdMs }))
  for (let at = 0; at < rows.length; at += batch)
    await db
      .insertInto('inlay_file_holds')
      .values(rows.slice(at, at + batch))
      .execute()
  return id
}

/** Ends a hold: the document is written, or refused. */
export async function releaseFiles(db: Records, hold: string): Promise<void> {
  await db.deleteFrom('inlay_file_holds').where('id', '=', hold).execute()
}

interface FileUse {
  readonly id: string
  readonly caller: Caller | undefined
  readonly now: number
}

/**
 * Whether a document that the caller may see names the file, or is waiting to; without a caller also whether one that
 * is being taken in does.
 */
export async function isFileNamed(db: Records, { id, caller, now }: FileUse): Promise<boolean> {
  // Before the documents: what is released meanwhile is among them.
  const holds = caller ? [] : await db.selectFrom('inlay_file_holds').selectAll().where('file_id', '=', id).execute()
  if (holds.some(({ lease_until }) => isLeaseHeld(Number(lease_until), now))) return true
  const pairs = await pairsFor(db, caller)
  let shown = db.selectFrom('inlay_document_images as image').select('image.document_id').where('image_id', '=', id)
  if (pairs)
    shown = shown
      .innerJoin('inlay_document_pairs as membership', 'membership.document_id', 'image.document_id')
      .where(pairs.holds('pair_id'))
  return (await shown.limit(1).execute()).length > 0
}
