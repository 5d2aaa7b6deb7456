import { emptyLog } from '@inlay/records'
import { deleteDocuments } from '../intake/delete-documents.ts'
import { addToCounter, lockDocuments, idsOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

const batch = 200

/** Removes the documents of removed pairs, except those that are also in other pairs, and then the pairs themselves. */
export async function purgeRemovedPairs(db: Records, signal?: AbortSignal): Promise<void> {
  const pairs = await db.selectFrom('inlay_pairs').select('id').where('is_removed', '=', 1).execute()
  if (pairs.length === 0) return
  for (const { id } of pairs) {
    while (await purgeSome(db, id)) if (signal?.aborted) return
    await db.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('inlay_pairs').where('id', '=', id).execute()
      await transaction.deleteFrom('inlay_grants').where('kind', '=', 'pair').where('target_id', '=', id).execute()
      await transaction.deleteFrom('inlay_document_set_pairs').where('pair_id', '=', id).execute()
      await transaction.deleteFrom('inlay_pair_activity').where('pair_id', '=', id).execute()
    })
  }
  await emptyLog(db)
}

/** Removes a batch in one transaction. @returns false if nothing was left */
async function purgeSome(db: Records, pairId: number): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    // Takes the write lock: no document may be added to or removed from a pair meanwhile.
    await addToCounter(transaction, 'revision', 0)
    const members = await transaction
      .selectFrom('inlay_document_pairs as membership')
      .innerJoin('inlay_documents as document', 'document.id', 'membership.document_id')
      .select('document.id')
      .select((of) =>
        of
          .exists(
            of
              .selectFrom('inlay_document_pairs as other')
              .innerJoin('inlay_pairs as pair', 'pair.id', 'other.pair_id')
              .select('other.pair_id')
              .whereRef('other.document_id', '=', 'document.id')
              .where('pair.is_removed', '=', 0),
          )
          .as('isElsewhere'),
      )
      .where('membership.pair_id', '=', pairId)
      .limit(batch)
      .execute()
    if (members.length === 0) return false
    const alone = members.filter((member) => !member.isElsewhere)
    await lockDocuments(transaction, idsOf(alone))
    if (alone.length > 0) await deleteDocuments(transaction, idsOf(alone))
    await transaction
      .deleteFrom('inlay_document_pairs')
      .where('pair_id', '=', pairId)
      .where('document_id', 'in', idsOf(members))
      .execute()
    return true
  })
}
