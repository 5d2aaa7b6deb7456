import type { KnowledgeFigures } from '../contracts/documents.ts'
import type { Knowledge } from '../contracts/knowledge.ts'
import type { Ingestion } from '../ingestion.ts'
import { readQueueFigures } from '../queue/queue-status.ts'
import { countRebuild } from '../reindexing/change-embedder.ts'
import type { MigratingIndex } from '../reindexing/migrating-index.ts'
import type { Records } from '../schema/tables.ts'
import type { FiguresSampler } from './figures-sample.ts'

interface FiguresContext {
  readonly db: Records
  readonly index: MigratingIndex
  readonly sampler: FiguresSampler
  readonly now: () => number
}

/** Figures of all documents: counted for the caller, or as they were counted last. */
export function createFigures(
  { missing }: Pick<Ingestion, 'missing'>,
  { db, index, sampler, now }: FiguresContext,
): Pick<Knowledge, 'figures' | 'sampledFigures'> {
  const incomplete = (): KnowledgeFigures['rebuild'] =>
    missing() > 0 ? { reason: 'incomplete', documents: missing() } : undefined
  return {
    figures: async () => {
      const { documents, waitingSince = now() } = await readQueueFigures(db)
      const oldestWaitingMs = Math.max(0, now() - waitingSince)
      const rebuild = (await countRebuild(db, await index.spaces())) ?? incomplete()
      const figures = await index.figures()
      const used = await index.embedder()
      return { documents, oldestWaitingMs, index: figures, embedder: used, ...(rebuild ? { rebuild } : {}) }
    },
    sampledFigures: async () => {
      const sample = await sampler.read()
      if (!sample) return undefined
      const { documents, sampledAt, waitingSince = sampledAt, rebuild = incomplete() } = sample
      return {
        documents,
        // When it was counted: since then, the document may have been indexed.
        oldestWaitingMs: Math.max(0, sampledAt - waitingSince),
        ageMs: Math.max(0, now() - sampledAt),
        embedder: index.knownEmbedder(),
        ...(rebuild ? { rebuild } : {}),
      }
    },
  }
}
