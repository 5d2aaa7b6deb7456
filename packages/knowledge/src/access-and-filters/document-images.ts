import { pairsFor } from './documents.ts'
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
      'document_id',
      'in',
      documents.map(({ id }) => id),
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
  // Of a version that was never shown nothing stays, nor would its successor drop them.
  await db
    .deleteFrom('inlay_document_images')
    .where('document_id', 'in', (of) =>
      of
        .selectFrom('inlay_documents')
        .select('id')
        .where('visible_generation', 'is', null)
        .where(
          'id',
          'in',
          documents.map(({ id }) => id),
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
    await db.deleteFrom('inlay_document_images').where('document_id', 'in', documentIds).execute()
}

/** Whether a document that the caller may see names the file, or is waiting to. */
export async function isFileNamed(db: Records, id: string, caller: Caller | undefined): Promise<boolean> {
  const pairIds = await pairsFor(db, caller)
  let shown = db.selectFrom('inlay_document_images as image').select('image.document_id').where('image_id', '=', id)
  if (pairIds)
    shown = shown
      .innerJoin('inlay_document_pairs as membership', 'membership.document_id', 'image.document_id')
      // No pair has the number 0, and an empty list is no SQL.
      .where('pair_id', 'in', [0, ...pairIds])
  return (await shown.limit(1).execute()).length > 0
}
