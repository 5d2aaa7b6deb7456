import { isNear, partsOf, stem } from './terms.ts'

const word = /[\p{L}\p{M}\p{N}_]+(?:['’.+#-]*[\p{L}\p{M}\p{N}_]+)*(?:\+\+|#)?/gu
const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const marks = /\p{M}/gu

/**
 * What stands for a word of any language when words are compared: English words lose their ending, longer words of other
 * languages all but their first six letters, which tell inflected forms apart from other words nearly as well.
 */
function keyOf(text: string): string {
  const short = stem(text)
  if (short !== text || text.length < 4) return short.slice(0, 7)
  const plain = text.normalize('NFKD').replace(marks, '')
  return plain.length > 6 && /^\p{L}+$/u.test(plain) ? plain.slice(0, 6) : plain
}

/** Pairs of neighbouring characters, for scripts that put no spaces between words. */
function* pairsOf(run: string): Generator<string> {
  for (const piece of run.split(/([\p{N}a-z]+)/u)) {
    if (!spaceless.test(piece)) {
      if (piece !== '') yield piece
      continue
    }
    const characters = [...piece]
    if (characters.length === 1) yield piece
    for (let at = 1; at < characters.length; at++) yield `${characters[at - 1]}${characters[at]}`
  }
}

/** The keys of all words of a text in order; a name of several parts also gives the keys of its parts. */
export function keysOf(text: string): string[] {
  const keys: string[] = []
  for (const [token] of text.matchAll(word)) {
    const lower = token.toLowerCase().replaceAll('’', "'").replace(/'s$/, '')
    if (spaceless.test(lower)) keys.push(...pairsOf(lower))
    else keys.push(keyOf(lower), ...partsOf(token).map((part) => keyOf(part.toLowerCase())))
  }
  return keys
}

/** Whether a text is in a script without spaces between words. */
export const isSpaceless = (text: string): boolean => spaceless.test(text)

/** The words of a text as they stand. */
export const wordsIn = (text: string): string[] => text.match(word) ?? []

/** The text with every word left out that `isDropped`. */
export const withoutWords = (text: string, isDropped: (word: string) => boolean): string =>
  text.replace(word, (token) => (isDropped(token) ? ' ' : token))

/** Whether a key of the passages may be meant by a key of the question that they do not hold. */
export function isLike(key: string, other: string): boolean {
  if (key.length < 5) return false
  return isNear(key, other) || (other.length > 4 && (other.startsWith(key) || key.startsWith(other)))
}

/** Length in words; a character of a script without spaces counts two fifths of a word. */
export function lengthInWords(text: string): number {
  let count = 0
  for (const piece of text.split(/\s+/)) {
    const characters = [...piece].filter((character) => spaceless.test(character)).length
    count += characters > 0 ? Math.max(1, characters * 0.4) : piece === '' ? 0 : 1
  }
  return count
}
