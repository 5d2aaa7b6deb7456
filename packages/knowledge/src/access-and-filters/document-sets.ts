import { isAmong } from '@inlay/records'
import { InlayError } from '@inlay/protocol'
import { isRecordId, maySeeRecord, noGrants, readGrants, readPairs, writeGrants } from './permissions.ts'
import type { DocumentSet, DocumentSets } from '../contracts/pairs.ts'
import { addToCounter, batchesOf, idsOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

export function createDocumentSets({ db, now }: { readonly db: Records; readonly now: () => number }): DocumentSets {
  return {
    create: (set) =>
      db.transaction().execute(async (transaction) => {
        const id = await addToCounter(transaction, 'document_set', 1)
        await refuseTakenName(transaction, set.name, id)
        await transaction
          .insertInto('inlay_document_sets')
          .values({
            id,
            name: set.name,
            description: set.description ?? '',
            is_public: set.isPublic === false ? 0 : 1,
            created_at: now(),
          })
          .execute()
        await writePairs(transaction, id, set.pairIds)
        await writeGrants(transaction, 'document_set', id, set)
        return readSet(transaction, id)
      }),
    list: async ({ caller } = {}) => (await readAll(db)).filter((set) => maySeeRecord(set, caller)),
    update: (id, change) =>
      db.transaction().execute(async (transaction) => {
        await addToCounter(transaction, 'document_set', 0)
        const before = await readSet(transaction, id)
        if (change.name !== undefined) await refuseTakenName(transaction, change.name, id)
        const row = {
          name: change.name ?? before.name,
          description: change.description ?? before.description,
          is_public: Number(change.isPublic ?? before.isPublic),
        }
        await transaction.updateTable('inlay_document_sets').set(row).where('id', '=', id).execute()
        await writePairs(transaction, id, change.pairIds)
        await writeGrants(transaction, 'document_set', id, change)
        return readSet(transaction, id)
      }),
    remove: (id) =>
      db.transaction().execute(async (transaction) => {
        if (!isRecordId(id)) throw new InlayError('DOCUMENT_SET_NOT_FOUND')
        const { numDeletedRows } = await transaction
          .deleteFrom('inlay_document_sets')
          .where('id', '=', id)
          .executeTakeFirst()
        if (numDeletedRows === 0n) throw new InlayError('DOCUMENT_SET_NOT_FOUND')
        await transaction.deleteFrom('inlay_document_set_pairs').where('set_id', '=', id).execute()
        await writeGrants(transaction, 'document_set', id, { users: [], groups: [] })
      }),
  }
}

async function refuseTakenName(db: Records, name: string, id: number): Promise<void> {
  const taken = await db
    .selectFrom('inlay_document_sets')
    .select('id')
    .where('name', '=', name)
    .where('id', '!=', id)
    .execute()
  if (taken.length > 0)
    throw new InlayError('DUPLICATE_RESOURCE', {
      message: 'A document set with this name already exists: choose another name.',
    })
}

async function writePairs(db: Records, setId: number, pairIds: readonly number[] | undefined): Promise<void> {
  if (!pairIds) return
  const wanted = [...new Set(pairIds)]
  const known = await readPairs(db, wanted.filter(isRecordId))
  if (wanted.some((id) => known.get(id)?.isRemoved !== false)) throw new InlayError('CONNECTOR_NOT_FOUND')
  await db.deleteFrom('inlay_document_set_pairs').where('set_id', '=', setId).execute()
  const rows = wanted.map((id) => ({ set_id: setId, pair_id: id }))
  for (const batch of batchesOf(rows)) await db.insertInto('inlay_document_set_pairs').values(batch).execute()
}

async function readSet(db: Records, id: number): Promise<DocumentSet> {
  const [set] = isRecordId(id) ? await readAll(db, id) : []
  if (!set) throw new InlayError('DOCUMENT_SET_NOT_FOUND')
  return set
}

async function readAll(db: Records, id?: number): Promise<DocumentSet[]> {
  let query = db.selectFrom('inlay_document_sets').selectAll().orderBy('name')
  if (id !== undefined) query = query.where('id', '=', id)
  const rows = await query.execute()
  if (rows.length === 0) return []
  const ids = idsOf(rows)
  const grants = await readGrants(db, 'document_set', ids)
  const pairs = await db
    .selectFrom('inlay_document_set_pairs')
    .innerJoin('inlay_pairs', 'inlay_pairs.id', 'pair_id')
    .select(['set_id', 'pair_id'])
    .where('is_removed', '=', 0)
    .where(isAmong(db, 'set_id', ids))
    .orderBy('pair_id')
    .execute()
  const bySet = Map.groupBy(pairs, (row) => row.set_id)
  return rows.map((row) => {
    const { users, groups } = grants.get(row.id) ?? noGrants
    return {
      id: row.id,
      name: row.name,
      description: row.description,
      pairIds: (bySet.get(row.id) ?? []).map((pair) => pair.pair_id),
      isPublic: row.is_public === 1,
      users: [...users],
      groups: [...groups],
      createdAt: Number(row.created_at),
    }
  })
}
