import type { FiguresSample } from '../contracts/documents.ts'
import { countRebuild } from '../reindexing/change-embedder.ts'
import type { SpacedIndex } from '../reindexing/spaced-index.ts'
import { type MaintainerContext, whileHeld } from '../upkeep/maintainer.ts'
import { readQueueFigures } from '../queue/queue-status.ts'

/** Counts are this old before they are counted again. */
export const sampleIntervalMs = 15_000
/** Counting takes at most one part in so many of the time. */
const restPerCount = 20
/** Longest wait of a reader for the stored counts, or for the first count of all. */
export const sampleWaitMs = 1_000

/** Counts of all documents, made now and then by one process and stored for all of them. */
export interface StoredSample extends FiguresSample {
  /** The latest space while it was made. */
  readonly space: number | undefined
  readonly sampledAt: number
  readonly tookMs: number
}

/** Keeps counts, so that reading them costs the same however many documents there are. */
export interface FiguresSampler {
  /**
   * The counts that are stored, or the last that were read here. Never rejects and waits a second at most; undefined
   * while nothing was counted yet. Counts of some age are counted again in the background.
   */
  read(): Promise<StoredSample | undefined>
  /** Resolves once nothing is being counted here. */
  settled(): Promise<void>
}

export function createFiguresSampler(
  context: Omit<MaintainerContext, 'index'> & { index: SpacedIndex },
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
    // A clock that was set back must not keep old counts.
    const ageMs = Math.abs(now() - known.sampledAt)
    return ageMs >= Math.max(sampleIntervalMs, restPerCount * known.tookMs)
  }
  const count = async (): Promise<void> => {
    await whileHeld(context, 'figures', async () => {
      // Another process may have just counted.
      await load()
      if (!isDue()) return
      const began = performance.now()
      const spaces = await context.index.spaces()
      const { documents, oldestAcceptedAt } = await readQueueFigures(db)
      const rebuild = await countRebuild(db, spaces)
      const tookMs = performance.now() - began
      const figures = { documents, oldestAcceptedAt, rebuild, space: spaces.at(-1)?.number, tookMs }
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
      await atMost(refreshed, sampleWaitMs)
      return known
    },
    settled: async () => {
      await reading
      await counting
    },
  }
}

/** Waits for work that never rejects, but no longer than a time. */
export async function atMost(work: Promise<unknown>, limitMs: number): Promise<void> {
  const { promise: timeUp, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limitMs)
  await Promise.race([work, timeUp])
  clearTimeout(timer)
}
