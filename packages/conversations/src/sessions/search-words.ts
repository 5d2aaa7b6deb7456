// Words that say nothing about what a conversation is about.
const idle = new Set(
  'a an and are as at be but by can did do does for from how i if in into is it its me my no not of on or our so that the their them there these they this to was we what when where which who why will with you your'.split(
    ' ',
  ),
)

/** Words of a text in lower case: runs of letters and digits. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Search terms of a query: stems of its words without stop words, at most eight; [] for a query without words. */
export function stemsOf(query: string): string[] {
  const words = wordsOf(query)
  const busy = words.filter((word) => !idle.has(word))
  return [...new Set((busy.length > 0 ? busy : words).map(stem))].slice(0, 8)
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
    if (!spaceless.test(word)) continue
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
  if (!spaceless.test(part)) return [cut(part)]
  const signs = [...part]
  return signs.length === 1 ? signs : signs.slice(1).map((sign, at) => signs[at]! + sign)
}

function cut(word: string): string {
  return word.length > maxWordCharacters ? word.slice(0, maxWordCharacters).toWellFormed() : word
}

const spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

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
