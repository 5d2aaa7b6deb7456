import { isLeaseHeld, isAmong } from '@inlay/records'
import { pairsFor } from './permissions.ts'
import type { Caller } from '../contracts/pairs.ts'
import { batchesOf, idsOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

interface DocumentFiles {
  readonly id: string
  readonly files: readonly string[]
}

const toRows = ({ id, files }: DocumentFiles): { image_id: string; document_id: string }[] =>
  [...new Set(files)].map((file) => ({ image_id: file, document_id: id }))

/** Replaces the recorded files of documents. Call within a transaction; unchanged records are not written. */
export async function recordImages(db: Records, documents: readonly DocumentFiles[]): Promise<void> {
  if (documents.length === 0) return
  const before = await db
    .selectFrom('inlay_document_images')
    .selectAll()
    .where(isAmong(db, 'document_id', idsOf(documents)))
    .execute()
  const known = Map.groupBy(before, (row) => row.document_id)
  const changed = documents.filter(({ id, files }) => {
    const held = new Set(known.get(id)?.map((row) => row.image_id))
    return held.size !== new Set(files).size || files.some((file) => !held.has(file))
  })
  await forgetImages(
    db,
    idsOf(changed).filter((id) => known.has(id)),
  )
  for (const batch of batchesOf(changed.flatMap(toRows)))
    await db.insertInto('inlay_document_images').values(batch).execute()
}

/**
 * Records the files of versions that are waiting to be indexed, in addition to those of the visible versions, so that
 * they are not deleted meanwhile. Recording a version after indexing removes the others.
 */
export async function noteWaitingImages(db: Records, documents: readonly DocumentFiles[]): Promise<void> {
  // Removes records of versions that never became visible, since the next version would not remove them.
  await db
    .deleteFrom('inlay_document_images')
    .where('document_id', 'in', (of) =>
      of
        .selectFrom('inlay_documents')
        .select('id')
        .where('visible_generation', 'is', null)
        .where(isAmong(db, 'id', idsOf(documents))),
    )
    .execute()
  for (const batch of batchesOf(documents.flatMap(toRows)))
    await db
      .insertInto('inlay_document_images')
      .values(batch)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

export async function forgetImages(db: Records, documentIds: readonly string[]): Promise<void> {
  if (documentIds.length > 0)
    await db
      .deleteFrom('inlay_document_images')
      .where(isAmong(db, 'document_id', documentIds))
      .execute()
}

/** Longer than it takes to accept a document: an older hold was left by a crashed process. */
const holdMs = 10 * 60_000

/**
 * Holds files until the document that uses them is written, so that they are not deleted meanwhile. Call before
 * checking that they exist: deletion hides the file first and then checks for holds, so one of the two always notices
 * the other.
 * @returns id of the hold, for `releaseFiles`
 */
export async function holdFiles(
  db: Records,
  { files, now }: { readonly files: readonly string[]; readonly now: number },
): Promise<string> {
  const id = crypto.randomUUID()
  await db.deleteFrom('inlay_file_holds').where('lease_until', '<', now).execute()
  const rows = [...new Set(files)].map((file_id) => ({ id, file_id, lease_until: now + holdMs }))
  for (const batch of batchesOf(rows)) await db.insertInto('inlay_file_holds').values(batch).execute()
  return id
}

export async function releaseFiles(db: Records, hold: string): Promise<void> {
  await db.deleteFrom('inlay_file_holds').where('id', '=', hold).execute()
}

/**
 * Whether a document that the caller may see uses the file, in its visible or its waiting version. Without a caller,
 * also whether a document that is being accepted uses it.
 */
export async function isFileNamed(
  db: Records,
  { id, caller, now }: { readonly id: string; readonly caller: Caller | undefined; readonly now: number },
): Promise<boolean> {
  // Read before the documents: a hold released meanwhile is then found among them.
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
