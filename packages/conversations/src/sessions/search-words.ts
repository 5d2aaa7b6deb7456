import { searchedInside, searchedWords } from '@inlay/protocol'

/** Words of a text in lower case: runs of letters and digits. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Search terms of a query: stems of its words without stop words, at most eight; [] for a query without words. */
export function stemsOf(query: string): string[] {
  return [...new Set(searchedWords(wordsOf(query)).map(stem))].slice(0, 8)
}

/** Longer words are one beyond this. */
const maxWordCharacters = 64

/**
 * Index terms of a text: stems of its words; in scripts without spaces, also each character and each pair of
 * characters.
 */
export function termsOf(text: string): Set<string> {
  const terms = new Set<string>()
  for (const word of new Set(wordsOf(text))) {
    terms.add(cut(stem(word)))
    if (!searchedInside.test(word)) continue
    const signs = [...word]
    for (const [at, sign] of signs.entries()) {
      terms.add(sign)
      if (at > 0) terms.add(signs[at - 1]! + sign)
    }
  }
  return terms
}

/** Index terms that a text containing a stem has. */
export function termsOfStem(part: string): string[] {
  if (!searchedInside.test(part)) return [cut(part)]
  const signs = [...part]
  return signs.length === 1 ? signs : signs.slice(1).map((sign, at) => signs[at]! + sign)
}

function cut(word: string): string {
  return word.length > maxWordCharacters ? word.slice(0, maxWordCharacters).toWellFormed() : word
}

/** Takes common English endings off a word; what remains is always its beginning. */
export function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word
  const single = word.replace(/(?<=[a-z]{3})ies$|(?<=s|x|z|ch|sh)es$|(?<=[^siu])s$/, (end) =>
    end === 'ies' ? 'y' : '',
  )
  const bare = single.replace(/(?<=[a-z]{3})(?:ing|ed|y|e)$/, '')
  // stopped: stopp, stop
  return bare !== single && /([bdgmnprt])\1$/.test(bare) ? bare.slice(0, -1) : bare
}
