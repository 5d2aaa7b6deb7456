/** How good a ranking is; each from 0 to 1. */
export interface RankingFigures {
  readonly ndcg10: number
  readonly recall20: number
  readonly recall100: number
  /** 1 / rank of the first answer. */
  readonly mrr: number
}

/**
 * Figures of one ranking.
 * @param ranking ids of documents, best first, none twice
 * @param grades of the documents that answer; at least one
 */
export function figuresOf(ranking: readonly string[], grades: ReadonlyMap<string, number>): RankingFigures {
  const gain = (grade: number, at: number): number => (2 ** grade - 1) / Math.log2(at + 2)
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  const results = sum(ranking.slice(0, 10).map((id, at) => gain(grades.get(id) ?? 0, at)))
  const ideal = sum(
    [...grades.values()]
      .sort((a, b) => b - a)
      .slice(0, 10)
      .map(gain),
  )
  const recall = (depth: number): number => ranking.slice(0, depth).filter((id) => grades.has(id)).length / grades.size
  const first = ranking.findIndex((id) => grades.has(id))
  return { ndcg10: results / ideal, recall20: recall(20), recall100: recall(100), mrr: first < 0 ? 0 : 1 / (first + 1) }
}

/** Mean of each figure. */
export function meanOf(all: readonly RankingFigures[]): RankingFigures {
  const mean = (pick: (figures: RankingFigures) => number): number =>
    all.reduce((total, figures) => total + pick(figures), 0) / Math.max(1, all.length)
  return {
    ndcg10: mean((figures) => figures.ndcg10),
    recall20: mean((figures) => figures.recall20),
    recall100: mean((figures) => figures.recall100),
    mrr: mean((figures) => figures.mrr),
  }
}
