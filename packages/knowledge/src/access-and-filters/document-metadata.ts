import { isAmong } from '@inlay/records'
import type { DocumentMetadata } from '../contracts/stored-document.ts'
import type { Records } from '../schema/tables.ts'
import { idsOf } from '../schema/sql.ts'

/** Stores metadata that is too large for index rows. Call within a transaction. */
export async function recordMetadata(
  db: Records,
  documents: readonly { readonly id: string; readonly metadata: string | null }[],
): Promise<void> {
  if (documents.length === 0) return
  const large = documents.flatMap(({ id, metadata }) => (metadata === null ? [] : [{ document_id: id, metadata }]))
  await forgetMetadata(db, idsOf(documents))
  for (const row of large) await db.insertInto('inlay_document_metadata').values(row).execute()
}

/** Deletes the stored metadata of documents. Call within a transaction. */
export async function forgetMetadata(db: Records, documentIds: readonly string[]): Promise<void> {
  if (documentIds.length > 0)
    await db
      .deleteFrom('inlay_document_metadata')
      .where(isAmong(db, 'document_id', documentIds))
      .execute()
}

/** Stored metadata by document id, for documents whose metadata is too large for their index rows. */
export async function readMetadata(
  db: Records,
  documentIds: readonly string[],
): Promise<ReadonlyMap<string, DocumentMetadata>> {
  if (documentIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('inlay_document_metadata')
    .selectAll()
    .where(isAmong(db, 'document_id', [...new Set(documentIds)]))
    .execute()
  // Written only by this package.
  return new Map(rows.map((row) => [row.document_id, JSON.parse(row.metadata) as DocumentMetadata]))
}
