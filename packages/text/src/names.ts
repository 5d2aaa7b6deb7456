import { isCommonWord } from './common-words.ts'
import { hasAsciiWords } from './letters.ts'
import { stopWords } from './terms.ts'

/**
 * Words that make a name searchable as a whole: `3.12.1`, `L121-1`, `about_Operators`, `/etc/hosts`, `-Recurse`, `IT`.
 * An index splits names at signs and drops frequent words, so each name is also added as a single word. Documents and
 * queries get these words by the same rules; documents indexed without them are still found as before.
 * @param isAsciiOnly true if the text is known to be ASCII
 */
export function nameWords(text: string, isAsciiOnly?: boolean): string[] {
  const words: string[] = []
  // Most texts hold few of these, and each pattern is looked for only where its signs are.
  if (signBeforeWord.test(text)) {
    const isPlain = isAsciiOnly || hasAsciiWords(text)
    for (const [rest, first] of text.matchAll(isPlain ? asciiCompound : compounds))
      words.push(...joinedForms(first! + rest))
    for (const [, name] of text.matchAll(isPlain ? asciiSigned : signed)) words.push(marked(name!))
  }
  if (text.includes('#') || text.includes('++'))
    for (const [, letter, sign] of text.matchAll(suffixed))
      words.push(marked(`${letter}${sign === '#' ? 'sharp' : 'plus'}`))
  if (twoCapitals.test(text)) words.push(...capitals(text))
  return words
}

/** Like {@link nameWords}, for a title: frequent words in it can also be part of a name. */
export function titleWords(title: string): string[] {
  return [...new Set([...nameWords(title), ...frequent(title)])]
}

/** Like {@link nameWords}, for a query: frequent words count if it has no others. */
export function queryNameWords(query: string): string[] {
  const words = wordsIn(query)
  const isAll = words.length > 0 && words.every((word) => stopWords.has(word))
  return [...new Set(isAll ? [...nameWords(query), ...frequent(query)] : nameWords(query))]
}

const signBeforeWord = /[-_.:/\\][\p{L}\p{N}]/u
const twoCapitals = /[A-Z]{2}/
// Searches for the first sign: testing each word of a text takes twenty times as long.
const asciiCompound = /(?=[-_.:/\\])(?<=(?<![A-Za-z0-9])([A-Za-z0-9]+))(?:[-_.:/\\]{1,2}[A-Za-z0-9]+)+/g
const compounds = /(?=[-_.:/\\])(?<=(?<![\p{L}\p{N}])([\p{L}\p{N}]+))(?:[-_.:/\\]{1,2}[\p{L}\p{N}]+)+/gu
/** Options and names with a leading dot: `-r`, `--dry-run`, `.env`. */
const asciiSigned = /(?<![A-Za-z0-9_\-./\\:])(?:--?|\.)([A-Za-z][A-Za-z0-9_-]*)/g
const signed = /(?<![\p{L}\p{N}_\-./\\:])(?:--?|\.)(\p{L}[\p{L}\p{N}_-]*)/gu
/** Names that end in a sign: `C++`, `F#`. */
const suffixed = /(?<![A-Za-z0-9])([A-Za-z])(\+\+|#)(?![A-Za-z0-9#+])/g
const anyWord = /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}']*[\p{L}\p{M}\p{N}])?/gu

/** Longer ones are URLs and data rather than names. */
const maxLength = 60

/** `v3.12.1` also returns its number, `path.to.some_name` also `somename`. */
function joinedForms(compound: string): string[] {
  if (compound.length > maxLength) return []
  const hasDigit = anyDigit.test(compound)
  const forms = [joined(compound, hasDigit)]
  if (pathSign.test(compound) && nameSign.test(compound))
    for (const name of compound.split(pathSigns)) if (nameSign.test(name)) forms.push(joined(name, hasDigit))
  if (hasDigit) for (const [number] of compound.matchAll(numbers)) forms.push(joined(number, hasDigit))
  return forms.length > 1 ? [...new Set(forms)] : forms
}

const pathSign = /[.:/\\]/
const pathSigns = /[.:/\\]+/
const nameSign = /[-_]/
const anyDigit = /\p{N}/u
const numbers = /(?<!\p{N})\p{N}+(?:[-.]\p{N}+)+/gu

const signs = /[-_.:/\\]+/g
const signsInNumber = /(?<=\p{N})[-_.:/\\]+(?=\p{N})/gu

/** One word of letters and digits. Numbers stay separate, otherwise `1.23` and `12.3` would be equal. */
function joined(compound: string, hasDigit: boolean): string {
  const apart = hasDigit ? compound.replace(signsInNumber, 'x') : compound
  const whole = apart.replace(signs, '').toLowerCase()
  return isCommonWord(whole) ? marked(whole) : whole
}

/** Starts with a digit, so that an index does not treat the word as frequent or misspelled. */
const marked = (name: string): string => `0${name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')}`

/** Frequent words in capitals, such as `IT` and `WHO`, in lines that are not all capitals. */
function capitals(text: string): string[] {
  const words: string[] = []
  for (const match of text.matchAll(/(?<![A-Za-z0-9_])[A-Z]{2,4}(?![A-Za-z0-9_])/g)) {
    const word = match[0].toLowerCase()
    if (isCommonWord(word) && !isShouted(text, match.index)) words.push(marked(word))
  }
  return words
}

function isShouted(text: string, at: number): boolean {
  const end = text.indexOf('\n', at)
  const line = text.slice(text.lastIndexOf('\n', at) + 1, end === -1 ? undefined : end)
  return !/[a-z]/.test(line) && (line.match(/[A-Z]+/g)?.length ?? 0) > maxCapitals
}

/** A line with at most this many words may consist of names only: `IT`, `WHO US`. */
const maxCapitals = 3

/** Another digit than for names in capitals, so that `WHO` does not match `Who we are`. */
const frequent = (text: string): string[] =>
  wordsIn(text)
    .filter((word) => stopWords.has(word))
    .map((word) => `1${word.replaceAll("'", '')}`)

const wordsIn = (text: string): string[] => text.toLowerCase().replaceAll('’', "'").match(anyWord) ?? []
