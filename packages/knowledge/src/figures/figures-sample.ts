import { whileHeld } from '@inlay/records'
import { endsWithin } from '@inlay/scheduling'
import type { FiguresSample } from '../contracts/documents.ts'
import { countRebuild } from '../reindexing/change-embedder.ts'
import type { MigratingIndex } from '../reindexing/migrating-index.ts'
import type { MaintainerContext } from '../upkeep/maintainer.ts'
import { readQueueFigures } from '../queue/queue-status.ts'

/** Age after which documents are counted again. */
export const sampleIntervalMs = 15_000
/** Counting takes at most this fraction (1/20) of the time. */
const restPerCount = 20
/** Maximum wait of a reader for the stored counts, or for the first count. */
export const sampleWaitMs = 1_000

/** Counts of all documents, made periodically by one process and stored for all processes. */
export interface StoredSample extends FiguresSample {
  /** Number of the latest space at that time. */
  readonly space: number | undefined
  readonly sampledAt: number
  readonly tookMs: number
}

/** Stores counts, so that reading them costs the same for any number of documents. */
export interface FiguresSampler {
  /**
   * The stored counts, or the last counts read in this process. Never rejects and takes at most a second; undefined if
   * nothing was counted yet. Old counts are counted again in the background.
   */
  read(): Promise<StoredSample | undefined>
  /** Resolves when this process is not counting. */
  whenIdle(): Promise<void>
}

export function createFiguresSampler(
  context: Omit<MaintainerContext, 'index'> & { index: MigratingIndex },
): FiguresSampler {
  const { db, now, onError } = context
  let known: StoredSample | undefined
  let reading: Promise<void> | undefined
  let counting: Promise<void> | undefined

  const load = async (): Promise<void> => {
    const row = await db.selectFrom('inlay_figures').selectAll().where('name', '=', 'documents').executeTakeFirst()
    if (row) known = { ...(JSON.parse(row.figures) as StoredSample), sampledAt: Number(row.sampled_at) }
  }
  const isDue = (): boolean => {
    if (!known) return true
    // After the system clock was set back, old counts must not look new.
    const ageMs = Math.abs(now() - known.sampledAt)
    return ageMs >= Math.max(sampleIntervalMs, restPerCount * known.tookMs)
  }
  const count = async (): Promise<void> => {
    await whileHeld(db, { ...context, job: 'figures' }, async (signal) => {
      const began = performance.now()
      const spaces = await context.index.spaces()
      const { documents, waitingSince } = await readQueueFigures(db)
      const rebuild = await countRebuild(db, spaces)
      const tookMs = performance.now() - began
      const figures = { documents, waitingSince, rebuild, space: spaces.at(-1)?.number, tookMs }
      signal.throwIfAborted()
      const row = { sampled_at: now(), figures: JSON.stringify(figures) }
      await db
        .insertInto('inlay_figures')
        .values({ name: 'documents', ...row })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
        .execute()
      known = { ...figures, sampledAt: row.sampled_at }
    })
  }

  return {
    read: async () => {
      reading ??= load()
        .catch(onError)
        .finally(() => (reading = undefined))
      const refreshed = reading.then(() => {
        if (isDue())
          counting ??= count()
            .catch(onError)
            .finally(() => (counting = undefined))
        return known ? undefined : counting
      })
      await endsWithin(refreshed, sampleWaitMs)
      return known
    },
    whenIdle: async () => {
      await reading
      await counting
    },
  }
}
