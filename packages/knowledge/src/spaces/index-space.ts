import { InlayError } from '@inlay/protocol'
import { addToCounter } from '../schema/counters.ts'
import type { Embedder } from '../contracts.ts'
import { hasRowLocks } from '@inlay/records'
import type { Records } from '../schema/tables.ts'

/**
 * `open`: documents live there, or are being moved out of it; `moved`: only documents are left that could not be
 * indexed anew; `closing`: nothing is left, and nothing may come any more.
 */
export type SpacePhase = 'open' | 'moved' | 'closing'

/** A vector space that an index is filled from: one embedder's, or none's. */
export interface IndexSpace {
  /** Greater is later; the greatest is the one that documents are brought into. */
  readonly number: number
  /** What its index is opened with; undefined for an index without vectors. */
  readonly space: { readonly id: string; readonly dimensions: number } | undefined
  readonly phase: SpacePhase
}

/** Names what a claim writes into a space. The first space has no mark: most installations never have another. */
export function toGeneration(space: number, claimId: string, at: number): string {
  return `${space === 0 ? '' : `${space}:`}${claimId}.${at}`
}

/** The space whose index holds a generation. */
export function spaceOf(generation: string): number {
  const mark = generation.indexOf(':')
  return mark < 0 ? 0 : Number(generation.slice(0, mark))
}

/** All spaces there are, by number. */
export async function readSpaces(db: Records): Promise<IndexSpace[]> {
  const rows = await db.selectFrom('inlay_spaces').selectAll().orderBy('number').execute()
  return rows.map(({ number, embedder, dimensions, phase }) => ({
    number,
    space: embedder === '' ? undefined : { id: embedder, dimensions },
    phase,
  }))
}

/**
 * Finds the space of an embedder, or makes it the latest one: documents are then brought into it.
 * @param options.isMovable whether the index can keep two spaces beside each other
 * @returns its number
 * @throws INDEX_MISMATCH when documents were indexed with another embedder and cannot be moved
 */
export function enterSpace(
  db: Records,
  embedder: Embedder | undefined,
  { isMovable }: { isMovable: boolean },
): Promise<number> {
  const wanted = { embedder: embedder?.id ?? '', dimensions: embedder?.dimensions ?? 0 }
  return db.transaction().execute(async (transaction) => {
    // Two processes that start with the same new embedder make one space of it.
    await addToCounter(transaction, 'revision', 0)
    const rows = await transaction.selectFrom('inlay_spaces').selectAll().orderBy('number').execute()
    const latest = rows.at(-1)
    if (latest?.embedder === wanted.embedder && latest.dimensions === wanted.dimensions && latest.phase === 'open')
      return latest.number
    if (!isMovable && latest) {
      await refuseIndexed(transaction)
      await transaction.updateTable('inlay_spaces').set(wanted).where('number', '=', latest.number).execute()
      return latest.number
    }
    const number = latest ? latest.number + 1 : 0
    await transaction
      .insertInto('inlay_spaces')
      .values({ ...wanted, number, phase: 'open' })
      .execute()
    return number
  })
}

async function refuseIndexed(db: Records): Promise<void> {
  const indexed = await db
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
}

/** Within a transaction: whether what was written into a space may become visible; it may not while the space is going. */
export async function holdSpace(db: Records, number: number): Promise<boolean> {
  let query = db.selectFrom('inlay_spaces').select(['number', 'phase'])
  if (hasRowLocks(db)) query = query.forShare()
  const rows = await query.execute()
  // A worker that was never started has made none.
  return rows.length === 0 || rows.some((row) => row.number === number && row.phase !== 'closing')
}
