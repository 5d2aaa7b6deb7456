import { englishWords } from '@inlay/text'
import type { Hit, IndexQuery } from '../contracts/vector-index.ts'
import { createWordFinder } from '../search/highlights.ts'

/** Best hits that determine how much of the query an index contains. */
const judgedHits = 3
/** Hits that determine how rare a word is. */
const comparedHits = 50

/**
 * Merges hits of several indexes. Scores are only comparable within an index, where the best is usually 1, so an index
 * whose best hits contain fewer words of the query gets a lower weight. Rare words count more: a name that only one
 * index contains outweighs words that all contain.
 */
export function mergeHits(results: readonly (readonly Hit[])[], { text = '', limit }: IndexQuery): Hit[] {
  const findWords = createWordFinder(text, englishWords)
  const stems = results.map((hits) =>
    hits
      .slice(0, comparedHits)
      .map((hit) => new Set(findWords?.(`${hit.text}\n${hit.chunkMetadata}`).map(({ stem }) => stem) ?? [])),
  )
  const compared = stems.flat()
  const holders = new Map<string, number>()
  for (const stem of compared.flatMap((held) => [...held])) holders.set(stem, (holders.get(stem) ?? 0) + 1)
  const weightOf = (stem: string): number => Math.log(1 + compared.length / (holders.get(stem) ?? 1))
  const shares = stems.map((hits) =>
    Math.max(0, ...hits.slice(0, judgedHits).map((held) => [...held].reduce((sum, stem) => sum + weightOf(stem), 0))),
  )
  const most = Math.max(...shares) || 1
  return results
    .flatMap((hits, at) => hits.map((hit) => ({ ...hit, score: hit.score * Math.max(0.1, shares[at]! / most) })))
    .toSorted((left, right) => right.score - left.score)
    .slice(0, limit)
}
