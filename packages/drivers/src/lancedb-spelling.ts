/** Whether a word may be misspelt: long enough to tell, of letters only, in a script that has letters to mistake. */
export function mayBeMisspelt(word: string): boolean {
  return word.length > 4 && letters.test(word) && !unspaced.test(word)
}

const letters = /^\p{L}+$/u
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** Each way to exchange two neighbouring letters: the one slip that an edit distance counts twice. */
export function exchanges(word: string): string[] {
  const found = new Set<string>()
  for (let at = 0; at + 1 < word.length; at++)
    found.add(word.slice(0, at) + word[at + 1]! + word[at]! + word.slice(at + 2))
  found.delete(word)
  return [...found]
}

/**
 * Whether two words are at most `most` slips apart (a letter left out, added, replaced, or two neighbours exchanged).
 * @param most 1 or 2
 */
export function isNear(a: string, b: string, most: number): boolean {
  if (Math.abs(a.length - b.length) > most) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  if (left.length <= 1 && right.length <= 1) return true
  if (most === 1) return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
  return slips(left, right) <= most
}

/** Optimal string alignment distance. */
function slips(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1)
      row.push(best)
    }
    before = above
    above = row
  }
  return above[b.length]!
}

/** Most words that one misspelt word is taken to stand for. */
const mostCorrections = 10

/**
 * Words (each with its term) that are near a misspelt one, one for each term, the most frequent first.
 * Both forms are compared, since a slip in an ending changes what stemming makes of it.
 */
export function nearest(
  words: Iterable<readonly [word: string, term: string]>,
  word: string,
  term: string,
  slips: 1 | 2,
  frequencyOf: (term: string) => number,
): string[] {
  const found = new Map<string, string>()
  for (const [other, otherTerm] of words)
    if (!found.has(otherTerm) && other[0] && (isNear(word, other, slips) || isNear(term, otherTerm, slips)))
      found.set(otherTerm, other)
  return [...found]
    .sort(([a], [b]) => frequencyOf(b) - frequencyOf(a))
    .slice(0, mostCorrections)
    .map(([, other]) => other)
}
