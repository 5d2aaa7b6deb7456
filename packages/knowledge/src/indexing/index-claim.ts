import { nextSlice } from '@inlay/scheduling'
import type { RetryPolicy } from '@inlay/records'
import { classifyError, isLetGo } from '../calls/bounded-call.ts'
import { readKnownRows } from '../enrichment/known-rows.ts'
import { type Enrichment, type EnrichmentContext, createEnrichment } from '../enrichment/summaries-and-images.ts'
import { type Claim, type ClaimedDocument, readClaimed, recordGenerations, releaseClaim } from '../queue/claims.ts'
import { recordFailures } from '../queue/failed-documents.ts'
import { toGeneration } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'
import { type Writing, type WritingContext, isolate, writeDocuments } from './chunk-and-embed.ts'
import { type Written, settle } from './make-visible.ts'

export interface IndexingContext extends WritingContext, EnrichmentContext {
  readonly db: Records
  readonly now: () => number
  /** A number in [0, 1). */
  readonly random: () => number
  readonly policy: RetryPolicy
  /** Receives the error behind each failed attempt. */
  readonly onError: (error: unknown) => void
  /** Called when rows of the index became invisible. */
  readonly onRetired?: () => void
}

interface Progress {
  readonly claim: Claim
  readonly written: Written[]
  readonly failed: { readonly document: ClaimedDocument; readonly error: unknown; readonly isOutage?: boolean }[]
  /** All generations that may have rows. */
  readonly used: string[]
}

/**
 * Indexes the documents of a claim. Each becomes searchable, fails, or is retried later. When the signal aborts, those
 * that the claim still holds return to the queue.
 */
export async function indexClaim(claim: Claim, given: IndexingContext): Promise<void> {
  const context = claim.hasVectors ? given : { ...given, embedding: undefined }
  const { db } = context
  // SQLite reads the whole content synchronously on this thread.
  if (claim.isLarge) await nextSlice()
  const documents = await readClaimed(db, claim.id)
  const progress: Progress = { claim, written: [], failed: [], used: [] }
  try {
    const { embedding, summarize, describeImage } = context
    const hasModel = embedding ?? summarize ?? describeImage
    const enrichment = hasModel && (await enrich(documents, claim.space, context))
    const { failed } = await isolate(documents, (subset) => write(subset, progress, { enrichment, context }))
    // If all documents fail, the index is the likely cause.
    const isOutage = failed.length > 1 && failed.length === documents.length
    progress.failed.push(...failed.map(({ item, error }) => ({ document: item, error, isOutage })))
  } catch (error) {
    if (context.signal.aborted) {
      await releaseClaim(db, claim.id, progress.used)
      context.onRetired?.()
      return
    }
    // Documents not written yet are retried later.
    const settled = new Set(
      [...progress.written, ...progress.failed.map(({ document }) => document)].map(({ id }) => id),
    )
    const rest = documents.filter(({ id }) => !settled.has(id))
    progress.failed.push(...rest.map((document) => ({ document, error })))
  }
  if (progress.failed.length > 0) await endFailed(progress, context)
  await context.at?.('settle')
  const kept = new Set(progress.written.map(({ generation }) => generation))
  await settle(db, {
    claimId: claim.id,
    space: claim.space,
    now: context.now(),
    written: progress.written,
    abandoned: progress.used.filter((generation) => !kept.has(generation)),
    onRetired: context.onRetired,
  })
}

async function enrich(
  documents: readonly ClaimedDocument[],
  space: number,
  context: IndexingContext,
): Promise<Enrichment> {
  const { index, embedding, summarize } = context
  const kept = embedding || summarize ? documents : documents.filter(({ content }) => content.includes(imageMark))
  return createEnrichment(await readKnownRows(kept, { index, space }), context)
}

/** Substring of stored documents that have a section with an image. */
const imageMark = '"image_file_id":"'

async function write(
  documents: readonly ClaimedDocument[],
  progress: Progress,
  { enrichment, context }: { enrichment: Enrichment | undefined; context: IndexingContext },
): Promise<void> {
  const { claim, used } = progress
  // Each retry uses new generations: a commit reported as failed may have succeeded.
  const isFirst = used.length === 0
  const generations = isFirst
    ? claim.generations.slice(0, documents.length)
    : documents.map((_, at) => toGeneration(claim.space, claim.id, claim.generations.length + used.length + at))
  used.push(...generations)
  if (!isFirst) await recordGenerations(context.db, claim.id, used)
  const writings = documents.map((document, at): Writing => ({
    document,
    generation: generations[at]!,
    chunkCount: 0,
    tags: [],
    source: '',
    metadata: null,
    files: [],
    error: undefined,
  }))
  await writeDocuments(writings, enrichment, context)
  for (const { document, error, ...writing } of writings) {
    const { id, revision, incarnation, pairIds } = document
    if (error === undefined) progress.written.push({ id, revision, incarnation, pairIds, ...writing })
    else progress.failed.push({ document, error })
  }
}

async function endFailed({ claim, failed }: Progress, context: IndexingContext): Promise<void> {
  const { db, now, random, policy, onError } = context
  const tries = failed.map(({ document, error, isOutage }) => {
    const failure = classifyError(error, 'Indexing')
    return { ...document, reason: failure.reason, isOutage: isOutage === true || failure.isOutage }
  })
  await recordFailures(db, tries, { claimId: claim.id, now: now(), random, policy })
  // One log line per outage, not one per document.
  for (const error of new Set(failed.map((failure) => failure.error))) if (!isLetGo(error)) onError(error)
}
