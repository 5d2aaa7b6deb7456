import { isAmong } from '@inlay/records'
import type { DocumentMetadata } from '../contracts/stored-document.ts'
import type { Records } from '../schema/tables.ts'

/** Within a transaction: keeps the metadata of documents that became visible, where their rows do not carry it. */
export async function recordMetadata(
  db: Records,
  documents: readonly { readonly id: string; readonly metadata: string | null }[],
): Promise<void> {
  if (documents.length === 0) return
  const large = documents.flatMap(({ id, metadata }) => (metadata === null ? [] : [{ document_id: id, metadata }]))
  await forgetMetadata(
    db,
    documents.map(({ id }) => id),
  )
  for (const row of large) await db.insertInto('inlay_document_metadata').values(row).execute()
}

/** Within a transaction: forgets the metadata of documents. */
export async function forgetMetadata(db: Records, documentIds: readonly string[]): Promise<void> {
  if (documentIds.length > 0)
    await db
      .deleteFrom('inlay_document_metadata')
      .where(isAmong(db, 'document_id', documentIds))
      .execute()
}

/** Metadata of those of the documents whose rows do not carry it, by document. */
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
  // Written by this package alone.
  return new Map(rows.map((row) => [row.document_id, JSON.parse(row.metadata) as DocumentMetadata]))
}
