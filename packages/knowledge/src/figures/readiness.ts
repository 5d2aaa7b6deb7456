import { InlayError } from '@inlay/protocol'
import type { Readiness } from '../contracts/documents.ts'
import type { Ingestion } from '../ingestion.ts'
import { rebuildReasonOf } from '../reindexing/change-embedder.ts'
import type { IndexSpace } from '../reindexing/index-space.ts'
import type { MigratingIndex } from '../reindexing/migrating-index.ts'
import { endsWithin } from '@inlay/scheduling'
import { unknownRows } from '../upkeep/compare-with-records.ts'
import type { FiguresSampler } from './figures-sample.ts'

/** Maximum duration of a probe: load balancers give up after a second. */
export const probeWaitMs = 500
/** How long a process stays ready while the database does not respond. */
export const probeSilenceMs = 5_000

interface ReadinessOptions extends Pick<Ingestion, 'missing' | 'unknown'> {
  readonly index: Pick<MigratingIndex, 'spaces' | 'verified' | 'embedder'>
  readonly sampler: Pick<FiguresSampler, 'read'>
  /** Instructions for the operator if a disk was full recently. */
  readonly fullDisk?: () => string | undefined
}

/** Reason why documents are being indexed again, as known from spaces and the last count. */
export async function rebuildOf(
  spaces: readonly IndexSpace[],
  sampler: Pick<FiguresSampler, 'read'>,
): Promise<Readiness['rebuild']> {
  const reason = rebuildReasonOf(spaces)
  if (reason === undefined) return undefined
  const sample = await sampler.read()
  const isOver = sample !== undefined && sample.space === spaces.at(-1)!.number && sample.rebuild === undefined
  return isOver ? undefined : reason
}

/** Concurrent probes share a check of one small table, and each waits for it at most half a second. */
export function createReadiness({
  index,
  sampler,
  missing,
  unknown,
  fullDisk,
}: ReadinessOptions): () => Promise<Readiness> {
  let looking: Promise<void> | undefined
  let last: { readonly at: number; readonly readiness: Readiness } | undefined
  let failure: unknown
  /** Whether the index was not reached yet since the start. */
  let isVerifying = false

  const look = async (): Promise<Readiness> => {
    isVerifying = true
    await index.verified().finally(() => (isVerifying = false))
    const spaces = await index.spaces()
    const rebuild = await rebuildOf(spaces, sampler)
    const embedder = await index.embedder()
    const count = unknown(spaces.at(-1)?.number ?? 0)
    const state = { embedder, ...(count > 0 && { missingRecords: unknownRows(count) }) }
    if (rebuild !== undefined) return { ...state, rebuild }
    return missing() > 0 ? { ...state, rebuild: 'incomplete' } : state
  }
  return async () => {
    looking ??= look()
      .then(
        (readiness) => {
          last = { at: performance.now(), readiness }
          failure = undefined
        },
        (error: unknown) => {
          last = undefined
          failure = error
        },
      )
      .finally(() => (looking = undefined))
    const began = performance.now()
    await endsWithin(looking, probeWaitMs)
    const message = fullDisk?.()
    if (last && began - last.at < probeSilenceMs) return { ...last.readiness, ...(message && { fullDisk: message }) }
    const reason = isVerifying ? 'The index has not been reached since the start.' : 'The database does not respond.'
    throw failure ?? new InlayError('SERVICE_UNAVAILABLE', { message: reason, retryable: true })
  }
}
