import { InlayError } from '@inlay/protocol'
import { isRecordId, maySeeRecord, noGrants, privateFilesPair, readGrants, writeGrants } from './permissions.ts'
import { readPairProgress } from './pair-progress.ts'
import type { Caller, Pair, Pairs } from '../contracts/pairs.ts'
import { addToCounter, idsOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

export interface PairsOptions {
  readonly db: Records
  readonly now: () => number
  /** Called when queued documents of a paused pair may be claimed again. */
  readonly onResume: () => void
  /** Called when documents are to be removed. */
  readonly onRemove: () => void
}

/** The pair of documents that are sent without a pair. */
const defaultPair = 1

export function createPairs({ db, now, onResume, onRemove }: PairsOptions): Pairs {
  return {
    create: (pair) =>
      db.transaction().execute(async (transaction) => {
        const id = await addToCounter(transaction, 'pair', 1)
        await transaction
          .insertInto('inlay_pairs')
          .values({
            id,
            name: pair.name,
            is_public: pair.isPublic === false ? 0 : 1,
            is_paused: pair.isPaused ? 1 : 0,
            is_removed: 0,
            created_at: now(),
          })
          .execute()
        await writeGrants(transaction, 'pair', id, pair)
        return readPair(transaction, id)
      }),
    list: ({ caller } = {}) => list(db, caller),
    get: async (id, { caller } = {}) => {
      const pair = await readPair(db, id)
      if (!maySeeRecord(pair, caller)) throw new InlayError('CONNECTOR_NOT_FOUND')
      return pair
    },
    progress: async ({ caller, id, failures = true } = {}) =>
      readPairProgress(db, await list(db, caller, id), failures),
    update: async (id, change) => {
      const pair = await db.transaction().execute(async (transaction) => {
        await addToCounter(transaction, 'pair', 0)
        const before = await readPair(transaction, id)
        const row = {
          name: change.name ?? before.name,
          is_public: Number(change.isPublic ?? before.isPublic),
          is_paused: Number(change.isPaused ?? before.isPaused),
        }
        await transaction.updateTable('inlay_pairs').set(row).where('id', '=', id).execute()
        await writeGrants(transaction, 'pair', id, change)
        return readPair(transaction, id)
      })
      if (change.isPaused === false) onResume()
      return pair
    },
    remove: async (id) => {
      if (!isRecordId(id)) throw new InlayError('CONNECTOR_NOT_FOUND')
      if (id === defaultPair) throw new InlayError('INVALID_INPUT', { message: 'The default pair cannot be deleted.' })
      const { numUpdatedRows } = await db
        .updateTable('inlay_pairs')
        .set({ is_removed: 1 })
        .where('id', '=', id)
        .where('id', '!=', privateFilesPair)
        .where('is_removed', '=', 0)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new InlayError('CONNECTOR_NOT_FOUND')
      onRemove()
    },
  }
}

async function list(db: Records, caller: Caller | undefined, id?: number): Promise<Pair[]> {
  return (await readAll(db, id)).filter((pair) => maySeeRecord(pair, caller))
}

async function readPair(db: Records, id: number): Promise<Pair> {
  const [pair] = await readAll(db, id)
  if (!pair) throw new InlayError('CONNECTOR_NOT_FOUND')
  return pair
}

async function readAll(db: Records, id?: number): Promise<Pair[]> {
  if (id !== undefined && !isRecordId(id)) return []
  let query = db
    .selectFrom('inlay_pairs')
    .selectAll()
    .where('is_removed', '=', 0)
    .where('id', '!=', privateFilesPair)
    .orderBy('id')
  if (id !== undefined) query = query.where('id', '=', id)
  const rows = await query.execute()
  const grants = await readGrants(db, 'pair', idsOf(rows))
  return rows.map((row) => {
    const { users, groups } = grants.get(row.id) ?? noGrants
    return {
      id: row.id,
      name: row.name,
      isPublic: row.is_public === 1,
      isPaused: row.is_paused === 1,
      users: [...users],
      groups: [...groups],
      createdAt: Number(row.created_at),
    }
  })
}
