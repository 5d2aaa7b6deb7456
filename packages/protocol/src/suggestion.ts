/** The most similar name for a misspelt one; undefined if none is similar. */
export function suggestionFor(given: string, names: readonly string[]): string | undefined {
  const best = names
    .map((name) => ({ name, likeness: likeness(given.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => b.likeness - a.likeness)[0]
  return best !== undefined && best.likeness >= 0.5 ? best.name : undefined
}

/** Share of letter pairs that two words have in common, 0 to 1. */
function likeness(left: string, right: string): number {
  const pairs = (word: string): Set<string> =>
    new Set(Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2)))
  const [lefts, rights] = [pairs(left), pairs(right)]
  return (2 * [...lefts].filter((pair) => rights.has(pair)).length) / (lefts.size + rights.size || 1)
}
