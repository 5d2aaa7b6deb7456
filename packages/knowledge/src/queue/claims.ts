import { hasRowLocks, isAmong, prepared } from '@inlay/records'
import { type Selectable, sql } from 'kysely'
import type { IngestionStep } from '../contracts/steps.ts'
import { readMemberships } from '../access-and-filters/permissions.ts'
import { holdSpace, phase, toGeneration, idsOf } from '../schema/sql.ts'
import type { DocumentRow, Records } from '../schema/tables.ts'

/** Documents claimed together. No other worker claims them while the lease is held. */
export interface Claim {
  readonly id: string
  readonly documentIds: readonly string[]
  /** One per document; recorded before anything is written under them. */
  readonly generations: readonly string[]
  /** Number of the space they are written to. */
  readonly space: number
  readonly hasVectors: boolean
  /** Whether more documents were due than the claim took. */
  readonly isCutShort: boolean
  /** Queue time of the last document. */
  readonly waitedSince: number
  /** Whether it is a single large document. */
  readonly isLarge: boolean
}

/** A claimed document with its content, read at one point in time. */
export interface ClaimedDocument {
  readonly id: string
  readonly revision: number
  readonly incarnation: number
  readonly acceptedAt: number
  readonly attempts: number
  readonly failures: number
  /** JSON of a `StoredDocument`, or of a `LargeDocument` if there is a {@link largeId}. */
  readonly content: string
  readonly largeId: string | null
  readonly visibleGeneration: string | null
  readonly chunkCount: number
  readonly pairIds: readonly number[]
}

export interface ClaimOptions {
  readonly owner: string
  readonly now: number
  readonly leaseMs: number
  /** Number of the space to index the documents into. Default 0, the first one. */
  readonly space?: number
  /** Whether the index of that space stores vectors. Default true. */
  readonly hasVectors?: boolean
  readonly limit: number
  /** Maximum total characters of content; a single document may have more. */
  readonly maxCharacters: number
  /** Whether to claim only small documents. */
  readonly isOfSmall?: boolean
  /** Called with `claim`, and awaited, if there is something to claim. */
  readonly at?: (step: IngestionStep) => void | Promise<void>
}

/** A longer document is indexed alone, so that others do not wait for it. */
const largeCharacters = 2 ** 18

/** After this many attempts during which the process ended, a document is indexed alone: it may be the cause. */
const isolatedAfter = 3

/** Claims the documents that have waited longest; undefined if none is due. */
export async function claim(db: Records, options: ClaimOptions): Promise<Claim | undefined> {
  const times = { now: options.now, tooFar: options.now + maxSensibleWaitMs }
  // One statement where nothing is to be done, which is asked every second.
  if ((await (options.isOfSmall ? firstSmallDue : firstDue)(db, times)).length === 0) return undefined
  const isAnyPaused = (await pausedPairs(db).limit(1).execute()).length > 0
  const due = { ...times, isOfSmall: options.isOfSmall, isAnyPaused }
  if (isAnyPaused && (await dueDocuments(db, due).limit(1).execute()).length === 0) return undefined
  await options.at?.('claim')
  const { space = 0, hasVectors = true } = options
  const id = crypto.randomUUID()
  return db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('inlay_claims')
      .values({ id, owner: options.owner, generations: '[]', lease_until: options.now + options.leaseMs })
      .execute()
    let query = dueDocuments(transaction, due)
    if (hasRowLocks(db)) query = query.forUpdate().skipLocked()
    // The space may have changed since the caller read it, for example with the first document.
    const documents = (await holdSpace(transaction, space)) ? await query.limit(options.limit).execute() : []
    const chosen = choose(documents, options.maxCharacters)
    const documentIds = idsOf(chosen)
    const [first, last] = [chosen[0], chosen.at(-1)]
    if (!first || !last) {
      await transaction.deleteFrom('inlay_claims').where('id', '=', id).execute()
      return undefined
    }
    await transaction
      .updateTable('inlay_documents')
      .set({ state: 'indexing', claim: id, attempts: sql<number>`attempts + 1` })
      .where(isAmong(db, 'id', documentIds))
      .execute()
    const generations = documentIds.map((_, at) => toGeneration(space, id, at))
    await recordGenerations(transaction, id, generations)
    const isCutShort = documents.length === options.limit || documentIds.length < documents.length
    return {
      id,
      documentIds,
      generations,
      space,
      hasVectors,
      isCutShort,
      waitedSince: Number(last.due_at),
      isLarge: Number(first.content_bytes) > largeCharacters,
    }
  })
}

/**
 * Longest delay of a retry. A due time further ahead means that the system clock was set back. A document that was
 * never tried is always due.
 */
const maxSensibleWaitMs = 15 * 60_000

const pausedPairs = (db: Records) =>
  db
    .selectFrom('inlay_pairs')
    .select('id')
    .where(sql<boolean>`is_paused = 1`)
    .unionAll(
      db
        .selectFrom('inlay_pairs')
        .select('id')
        .where(sql<boolean>`is_removed = 1`),
    )

interface DueTimes {
  readonly now: number
  /** Due times from here on are not sensible. */
  readonly tooFar: number
}

interface DueOptions extends DueTimes {
  readonly isOfSmall?: boolean | undefined
  readonly isAnyPaused?: boolean
}

const dueDocuments = (db: Records, { now, tooFar, isOfSmall = false, isAnyPaused = false }: DueOptions) => {
  let due = db
    .selectFrom('inlay_documents')
    .select(['id', 'content_bytes', 'interruptions', 'due_at'])
    .where('state', '=', phase.pending)
    .where((of) => of.or([of('due_at', '<=', now), of('reason', 'is', null), of('due_at', '>', tooFar)]))
    .orderBy('due_at')
    .orderBy('revision')
  if (isOfSmall) due = due.where('content_bytes', '<=', largeCharacters)
  if (!isAnyPaused) return due
  return due.where((of) =>
    of.exists(
      of
        .selectFrom('inlay_document_pairs')
        .select('pair_id')
        .whereRef('document_id', '=', 'inlay_documents.id')
        .where('pair_id', 'not in', pausedPairs(db)),
    ),
  )
}

const firstDue = prepared((db: Records, { now, tooFar }: DueTimes) => dueDocuments(db, { now, tooFar }).limit(1))
const firstSmallDue = prepared((db: Records, { now, tooFar }: DueTimes) =>
  dueDocuments(db, { now, tooFar, isOfSmall: true }).limit(1),
)

type Candidate = Pick<Selectable<DocumentRow>, 'id' | 'content_bytes' | 'interruptions' | 'due_at'>

function choose(candidates: readonly Candidate[], maxCharacters: number): readonly Candidate[] {
  let [count, sum] = [0, 0]
  for (const { interruptions, content_bytes } of candidates) {
    const characters = Number(content_bytes)
    const isAlone = interruptions >= isolatedAfter || characters > largeCharacters
    sum += characters
    if (count > 0 && (isAlone || sum > maxCharacters)) break
    count++
    if (isAlone) break
  }
  return candidates.slice(0, count)
}

export async function recordGenerations(db: Records, claimId: string, generations: readonly string[]): Promise<void> {
  await db
    .updateTable('inlay_claims')
    .set({ generations: JSON.stringify(generations) })
    .where('id', '=', claimId)
    .execute()
}

/** Reads the documents that a claim still holds, without those deleted or accepted again meanwhile. */
export async function readClaimed(db: Records, claimId: string): Promise<ClaimedDocument[]> {
  const rows = await db
    .selectFrom('inlay_documents as document')
    .innerJoin('inlay_contents as content', 'content.id', 'document.id')
    .leftJoin('inlay_large_contents as large', 'large.id', 'content.large_id')
    .select(['document.id', 'revision', 'incarnation', 'accepted_at', 'attempts', 'failures'])
    .select(['visible_generation', 'chunk_count', 'content', 'large_id', 'large.document as large_document'])
    .where('claim', '=', claimId)
    .where('state', '=', phase.indexing)
    .orderBy('revision')
    .execute()
  if (rows.length === 0) return []
  const pairIds = await readMemberships(db, idsOf(rows))
  return rows.map((row) => ({
    id: row.id,
    revision: Number(row.revision),
    incarnation: Number(row.incarnation),
    acceptedAt: Number(row.accepted_at),
    attempts: row.attempts,
    failures: row.failures,
    content: row.large_document ?? row.content,
    largeId: row.large_id,
    visibleGeneration: row.visible_generation,
    chunkCount: row.chunk_count ?? 0,
    pairIds: pairIds.get(row.id) ?? [],
  }))
}

/** Renews the lease of a claim. @returns false if the claim has ended: another process has taken over its documents */
export async function renewClaim(db: Records, claimId: string, leaseUntil: number): Promise<boolean> {
  const claim = db.updateTable('inlay_claims').set({ lease_until: leaseUntil }).where('id', '=', claimId)
  return (await claim.executeTakeFirst()).numUpdatedRows > 0n
}

/**
 * Ends a claim: documents not indexed return to the queue as if never claimed, and rows not visible are recorded for
 * removal. Idempotent.
 * @param used generations that may have rows, needed if the claim was deleted: rows may have been written afterwards
 */
export async function releaseClaim(db: Records, claimId: string, used: readonly string[] = []): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const ended = await transaction
      .deleteFrom('inlay_claims')
      .where('id', '=', claimId)
      .returning('generations')
      .executeTakeFirst()
    await lockClaimed(transaction, claimId)
    await transaction
      .updateTable('inlay_documents')
      .set({ state: 'pending', claim: null, attempts: sql<number>`attempts - 1` })
      .where('claim', '=', claimId)
      .where('state', '=', phase.indexing)
      .execute()
    const generations = ended ? toGenerations(ended.generations) : used
    await retire(transaction, { generations, chunkCount: generations.length })
  })
}

/** Locks the documents of a claim in order of their ids, as all code does to prevent deadlocks. */
async function lockClaimed(db: Records, claimId: string): Promise<void> {
  if (!hasRowLocks(db)) return
  const held = db.selectFrom('inlay_documents').select('id').where('claim', '=', claimId).orderBy('id')
  await held.forUpdate().execute()
}

/** Records generations for removal, in the transaction that made them invisible. */
export async function retire(
  db: Records,
  retired: { readonly generations: readonly string[]; readonly chunkCount: number },
): Promise<void> {
  if (retired.generations.length === 0) return
  await db
    .insertInto('inlay_dead_generations')
    .values({
      id: crypto.randomUUID(),
      generations: JSON.stringify(retired.generations),
      chunk_count: retired.chunkCount,
    })
    .execute()
}

export async function readRetired(db: Records, limit: number): Promise<{ ids: string[]; generations: string[] }> {
  const rows = await db
    .selectFrom('inlay_dead_generations')
    .select(['id', 'generations'])
    .orderBy('id')
    .limit(limit)
    .execute()
  return { ids: idsOf(rows), generations: rows.flatMap((row) => toGenerations(row.generations)) }
}

export async function forgetRetired(db: Records, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await db
      .deleteFrom('inlay_dead_generations')
      .where(isAmong(db, 'id', ids))
      .execute()
}

export function toGenerations(json: string): string[] {
  // Written by this package.
  return JSON.parse(json) as string[]
}
