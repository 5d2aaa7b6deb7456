/** One ranking to be fused, best first. */
export interface Ranking<Item> {
  readonly items: readonly Item[]
  /** How much it counts beside the others, above 0. */
  readonly weight: number
}

// Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, SIGIR 2009.
const smoothing = 60

/**
 * Fuses rankings by weighted reciprocal rank: an item scores the sum of weight / (60 + rank), ranks from 1.
 * @param keyOf tells items of different rankings apart; of equal ones the first stands for all
 * @returns items by falling score, equal scores in order of first appearance
 */
export function fuseRankings<Item>(
  rankings: readonly Ranking<Item>[],
  keyOf: (item: Item) => string,
): { readonly item: Item; readonly score: number }[] {
  const fused = new Map<string, { item: Item; score: number }>()
  for (const { items, weight } of rankings) {
    for (const [index, item] of items.entries()) {
      const share = weight / (smoothing + index + 1)
      const known = fused.get(keyOf(item))
      if (known) known.score += share
      else fused.set(keyOf(item), { item, score: share })
    }
  }
  return [...fused.values()].toSorted((a, b) => b.score - a.score)
}
