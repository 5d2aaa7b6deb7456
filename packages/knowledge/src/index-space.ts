import { InlayError } from '@inlay/protocol'
import type { Embedder } from './contracts.ts'
import type { Records } from './tables.ts'

/**
 * Notes which vectors the index holds as long as it is empty; afterwards refuses others, before anything is opened.
 * @throws INDEX_MISMATCH when documents were indexed with another embedder, or with none
 */
export async function checkIndexSpace(db: Records, embedder: Embedder | undefined): Promise<void> {
  const space = { embedder: embedder?.id ?? '', dimensions: embedder?.dimensions ?? 0 }
  await db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('inlay_index_spaces')
      .values({ name: 'search', ...space })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const kept = await transaction.selectFrom('inlay_index_spaces').selectAll().executeTakeFirstOrThrow()
    if (kept.embedder === space.embedder && kept.dimensions === space.dimensions) return
    const indexed = await transaction
      .selectFrom('inlay_documents')
      .select('id')
      .where('visible_generation', 'is not', null)
      .limit(1)
      .execute()
    if (indexed.length > 0)
      throw new InlayError('INDEX_MISMATCH', {
        message:
          'The documents were indexed with another embedding model, or with none: configure that one again, or begin with an empty data folder.',
      })
    await transaction.updateTable('inlay_index_spaces').set(space).execute()
  })
}
