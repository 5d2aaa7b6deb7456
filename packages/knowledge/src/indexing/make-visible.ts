import { hasRowLocks, type RecordEvents } from '@inlay/records'
import { sql } from 'kysely'
import { recordImages } from '../access-and-filters/document-images.ts'
import { recordMetadata } from '../access-and-filters/document-metadata.ts'
import { type Labels, recordTags } from '../access-and-filters/document-tags.ts'
import { noteActivity, readMemberships } from '../access-and-filters/permissions.ts'
import { retire } from '../queue/claims.ts'
import { recordDocumentEvents } from '../queue/document-events.ts'
import type { Records } from '../schema/tables.ts'
import { holdSpace, idsOf } from '../schema/sql.ts'

/** A document whose new generation is complete in the index. */
export interface Written extends Labels {
  readonly id: string
  readonly revision: number
  readonly incarnation: number
  readonly generation: string
  readonly chunkCount: number
  /** JSON of metadata that is too large for the rows; null otherwise. */
  readonly metadata: string | null
}

export interface SettleOptions {
  readonly claimId: string
  /** Number of the space that the generations were written to. */
  readonly space: number
  readonly now: number
  readonly written: readonly Written[]
  /** Generations of the claim that will never be visible; they are recorded for removal. */
  readonly abandoned: readonly string[]
  /** Called after the commit if generations were recorded for removal. */
  readonly onRetired?: () => void
  readonly recordEvents?: RecordEvents | undefined
}

/**
 * Makes written generations visible, records replaced ones for removal and ends the claim, in one transaction.
 *
 * A generation is not made visible, and is recorded for removal itself, if its document was deleted in the meantime
 * (`incarnation` differs, also if the same id was added again), if a generation of a later revision is already visible,
 * or if the claim expired or its space is being removed (its rows may already be gone).
 * @returns ids of the documents whose generation is now visible
 */
export async function settle(db: Records, options: SettleOptions): Promise<string[]> {
  const { claimId, written } = options
  const { visible, hasRetired } = await db.transaction().execute(async (transaction) => {
    // Takes the write lock; the claim may be gone.
    const { numUpdatedRows } = await transaction
      .updateTable('inlay_claims')
      .set({ lease_until: sql<number>`lease_until` })
      .where('id', '=', claimId)
      .executeTakeFirst()
    const isHeld = numUpdatedRows > 0n && (await holdSpace(transaction, options.space))
    const won = isHeld ? await makeVisible(transaction, options) : []
    const winners = new Map(won.map((document) => [document.id, document]))
    const lost = written.filter(({ id }) => !winners.has(id))
    const shown = written.filter(({ id }) => winners.has(id))
    // For a document that was never visible, nothing is recorded yet.
    const labelled = shown.filter(
      ({ id, tags, files, metadata }) =>
        winners.get(id)!.replaced !== null || tags.length > 0 || files.length > 0 || metadata !== null,
    )
    if (labelled.length > 0) {
      // It may have been taken out of pairs since it was claimed.
      const pairIds = await readMemberships(transaction, idsOf(labelled))
      await recordTags(
        transaction,
        labelled.map((document) => ({ ...document, pairIds: pairIds.get(document.id) ?? [] })),
      )
      await recordImages(transaction, labelled)
      await recordMetadata(transaction, labelled)
    }
    const pairIds = shown.flatMap((document) => document.pairIds)
    await noteActivity(transaction, 'indexed_at', { pairIds, now: options.now })
    const generations = [
      ...won.flatMap(({ replaced }) => replaced ?? []),
      ...lost.map(({ generation }) => generation),
      ...options.abandoned,
    ]
    const chunkCount =
      won.reduce((sum, { replacedChunks }) => sum + replacedChunks, 0) +
      lost.reduce((sum, { chunkCount }) => sum + chunkCount, 0) +
      options.abandoned.length
    if (generations.length > 0) await retire(transaction, { generations, chunkCount })
    const ended = shown.map(({ id, revision, chunkCount }) => {
      const data = { document_id: id, revision, chunk_count: chunkCount }
      return { type: 'document.indexed', data } as const
    })
    await recordDocumentEvents(transaction, ended, options.recordEvents)
    await transaction.deleteFrom('inlay_claims').where('id', '=', claimId).execute()
    return { visible: [...winners.keys()], hasRetired: generations.length > 0 }
  })
  if (hasRetired) options.onRetired?.()
  return visible
}

/** The only place where a generation becomes visible. A later version that is waiting keeps its place in the queue. */
async function makeVisible(
  db: Records,
  { written, now }: SettleOptions,
): Promise<{ readonly id: string; readonly replaced: string | null; readonly replacedChunks: number }[]> {
  if (written.length === 0) return []
  let before = db
    .selectFrom('inlay_documents')
    .select(['id', 'visible_generation', 'chunk_count'])
    .where('id', 'in', idsOf(written))
    .orderBy('id')
  // All code locks documents by id, which prevents deadlocks.
  if (hasRowLocks(db)) before = before.forUpdate()
  const replaced = new Map((await before.execute()).map((row) => [row.id, row]))
  const { rows } = await sql<{ id: string }>`
    with written(id, incarnation, revision, generation, chunk_count) as (values ${sql.join(
      written.map(
        (document) => sql`(
          cast(${document.id} as text), cast(${document.incarnation} as bigint), cast(${document.revision} as bigint),
          cast(${document.generation} as text), cast(${document.chunkCount} as integer)
        )`,
      ),
    )})
    update inlay_documents set
      visible_generation = written.generation,
      visible_revision = written.revision,
      chunk_count = written.chunk_count,
      indexed_at = ${now},
      state = case when inlay_documents.revision = written.revision then 'indexed' else inlay_documents.state end,
      claim = case when inlay_documents.revision = written.revision then null else inlay_documents.claim end,
      reason = case when inlay_documents.revision = written.revision then null else inlay_documents.reason end
    from written
    where inlay_documents.id = written.id
      and inlay_documents.id in (select id from written)
      and inlay_documents.incarnation = written.incarnation
      and (inlay_documents.visible_revision is null or inlay_documents.visible_revision < written.revision)
    returning inlay_documents.id`.execute(db)
  return rows.map(({ id }) => ({
    id,
    replaced: replaced.get(id)?.visible_generation ?? null,
    replacedChunks: replaced.get(id)?.chunk_count ?? 0,
  }))
}
