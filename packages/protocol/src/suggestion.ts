/** Longer names are no slip, and take long to compare. */
const maxLetters = 64

/** The most similar name for a misspelt one; undefined if none is similar. */
export function suggestionFor(given: string, names: readonly string[]): string | undefined {
  if (given.length > maxLetters) return undefined
  const best = names
    .map((name) => ({ name, likeness: likeness(given.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => b.likeness - a.likeness)[0]
  return best !== undefined && best.likeness >= 0.5 ? best.name : undefined
}

/** 0 to 1; at least 0.5 if a slip in every third letter, or every second letter pair, separates two words. */
function likeness(left: string, right: string): number {
  const slips = slipsBetween(left, right) / Math.max(left.length, right.length, 1)
  return Math.max(commonPairs(left, right), 1 - 1.5 * slips)
}

/** Number of letters that were added, left out, changed or swapped with the next one. */
function slipsBetween(left: string, right: string): number {
  let before: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let at = 1; at <= left.length; at++) {
    const row = [at]
    for (let other = 1; other <= right.length; other++) {
      const isSame = left[at - 1] === right[other - 1]
      const isSwapped = left[at - 1] === right[other - 2] && left[at - 2] === right[other - 1]
      row.push(
        Math.min(
          last[other]! + 1,
          row[other - 1]! + 1,
          last[other - 1]! + (isSame ? 0 : 1),
          at > 1 && other > 1 && isSwapped ? before[other - 2]! + 1 : Infinity,
        ),
      )
    }
    before = last
    last = row
  }
  return last[right.length]!
}

/** Share of letter pairs that two words have in common. */
function commonPairs(left: string, right: string): number {
  const pairs = (word: string): Set<string> =>
    new Set(Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2)))
  const [lefts, rights] = [pairs(left), pairs(right)]
  return (2 * [...lefts].filter((pair) => rights.has(pair)).length) / (lefts.size + rights.size || 1)
}
