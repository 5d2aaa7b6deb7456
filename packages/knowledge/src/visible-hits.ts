import type { Hit, IndexQuery, VectorIndex } from './contracts.ts'
import type { Records } from './tables.ts'

/** What was found and may be shown. */
export interface VisibleHits {
  /** By falling score. */
  readonly hits: readonly Hit[]
  /** Whether the index has no further hits, visible or not. */
  readonly isAll: boolean
}

/** What looking needs. */
export interface LookContext {
  readonly db: Records
  readonly index: VectorIndex
  readonly now: () => number
}

/** More rounds than this lose against a document that changes faster than the index answers. */
const mostRounds = 4
/** The moment a document was settled is read before its transaction, and from the clock of its process. */
const slackMs = 1000

/**
 * Asks the index and drops what is not visible. A document that got a new version after the index was read and before
 * the records were has only its old rows among the hits: it is asked for again, by itself, so that no search misses a
 * document because it is being updated.
 */
export async function findVisible(query: IndexQuery, { db, index, now }: LookContext): Promise<VisibleHits> {
  const since = now() - slackMs
  const found = await index.search(query)
  const first = await sortOut(db, found)
  const bestOf = bestScores(found)
  let { visible } = first
  let overtaken = first.missed.filter(({ indexedAt }) => indexedAt >= since)
  for (let round = 1; round < mostRounds && overtaken.length > 0; round++) {
    const again = await index.search({
      ...query,
      filter: { ...query.filter, documentIds: overtaken.map(({ id }) => id) },
    })
    const sorted = await sortOut(db, again)
    visible = [...visible, ...scaled(sorted.visible, { from: bestScores(again), to: bestOf })]
    // The index was asked after these versions were there: what it does not find of them now does not match.
    const known = new Set(overtaken.map(({ generation }) => generation))
    overtaken = sorted.missed.filter(({ generation }) => !known.has(generation))
  }
  return { hits: visible.toSorted((left, right) => right.score - left.score), isAll: found.length < query.limit }
}

/** Scores compare within one result only: a document that was asked for again keeps the place of its old version. */
function scaled(hits: readonly Hit[], best: { from: Map<string, number>; to: Map<string, number> }): Hit[] {
  return hits.map((hit) => {
    const [from, to] = [best.from.get(hit.documentId) ?? 0, best.to.get(hit.documentId) ?? 0]
    return { ...hit, score: from > 0 ? (hit.score / from) * to : 0 }
  })
}

function bestScores(hits: readonly Hit[]): Map<string, number> {
  const best = new Map<string, number>()
  for (const { documentId, score } of hits) best.set(documentId, Math.max(best.get(documentId) ?? 0, score))
  return best
}

/** A document of which only rows of other versions were found. */
interface Missed {
  readonly id: string
  readonly generation: string
  readonly indexedAt: number
}

async function sortOut(db: Records, hits: readonly Hit[]): Promise<{ visible: readonly Hit[]; missed: Missed[] }> {
  if (hits.length === 0) return { visible: [], missed: [] }
  const rows = await db
    .selectFrom('inlay_documents')
    .select(['id', 'visible_generation as generation', 'indexed_at'])
    .where('id', 'in', [...new Set(hits.map((hit) => hit.documentId))])
    .execute()
  const shown = new Set(rows.map((row) => row.generation))
  const visible = hits.filter((hit) => shown.has(hit.generation))
  const found = new Set(visible.map((hit) => hit.generation))
  const missed = rows.flatMap(({ id, generation, indexed_at }) =>
    generation === null || found.has(generation) ? [] : [{ id, generation, indexedAt: Number(indexed_at) }],
  )
  return { visible, missed }
}
