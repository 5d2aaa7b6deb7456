import { isAmong } from '@inlay/records'
import { forgetImages } from '../access-and-filters/document-images.ts'
import { forgetMetadata } from '../access-and-filters/document-metadata.ts'
import { forgetTags } from '../access-and-filters/document-tags.ts'
import { retire } from '../queue/claims.ts'
import type { Records } from '../schema/tables.ts'
import { addStored } from './quota.ts'

/** Deletes documents and records their index rows for removal. */
export async function deleteDocuments(db: Records, ids: readonly string[]): Promise<void> {
  // Returns the visible version at deletion, which may have changed since it was last read.
  const deleted = await db
    .deleteFrom('inlay_documents')
    .where(isAmong(db, 'id', ids))
    .returning(['visible_generation', 'chunk_count', 'content_bytes'])
    .execute()
  await addStored(db, [-deleted.length, -deleted.reduce((sum, row) => sum + Number(row.content_bytes), 0)])
  await db
    .deleteFrom('inlay_contents')
    .where(isAmong(db, 'id', ids))
    .execute()
  await db
    .deleteFrom('inlay_document_pairs')
    .where(isAmong(db, 'document_id', ids))
    .execute()
  await forgetTags(db, ids)
  await forgetImages(db, ids)
  await forgetMetadata(db, ids)
  await retire(db, {
    generations: deleted.flatMap((row) => row.visible_generation ?? []),
    chunkCount: deleted.reduce((sum, row) => sum + (row.chunk_count ?? 0), 0),
  })
}
