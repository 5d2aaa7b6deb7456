import {
  hasAsciiWords,
  isAlphabetic,
  isAscii,
  nameWords,
  plainLetters,
  queryNameWords,
  titleWords,
  unspacedRun,
  withoutCommonWords,
} from '@inlay/text'

/** Parts of a chunk used by full-text search. */
export interface SearchableText {
  /** Title of the document, optionally with the headings above the chunk; "" if there is none. */
  readonly title: string
  readonly text: string
}

/**
 * Text that full-text search matches, instead of the displayed text: the title twice (for double weight), the text, the
 * parts of identifiers (`parseHTTPHeader` is also found by `http header`), and names as single words (`nameWords`).
 * Scripts without spaces become single characters and pairs, so that any word inside them is found. Uses the same rules
 * as {@link toSearchQuery}.
 */
export function toSearchText({ title, text }: SearchableText): string {
  return searchTextsOf(title)(text)
}

/** Prepares {@link toSearchText} for the chunks of one document. */
export function searchTextsOf(documentTitle: string): (text: string) => string {
  const title = plainLetters(documentTitle.trim())
  const ownParts = hasAsciiWords(title) ? asciiParts(title) : undefined
  const titleParts = ownParts ?? wordParts(title)
  const names = titleWords(title)
  const before = title ? `${title}\n${title}\n` : ''
  return (given) => {
    // Most texts are, and need no second look at their letters.
    const isAsciiOnly = isAscii(given)
    const text = isAsciiOnly ? given : plainLetters(given)
    const textParts = isAsciiOnly || hasAsciiWords(text) ? asciiParts(text) : undefined
    const parts = [...titleParts, ...(textParts ?? wordParts(text)), ...names, ...nameWords(text, isAsciiOnly)]
    const searched = parts.length > 0 ? `${before}${text}\n${parts.join(' ')}` : before + text
    return ownParts && textParts ? searched : spaceOut(searched, 'document')
  }
}

/**
 * Converts a query to the words of {@link toSearchText}: the words as typed, without frequent words of its language,
 * with the parts of identifiers, and names as single words; "" stays "".
 */
export function toSearchQuery(query: string): string {
  const kept = withoutCommonWords(query.trim())
  const text = plainLetters(kept)
  const ofAscii = hasAsciiWords(text) ? asciiParts(text) : undefined
  const parts = [...(ofAscii ?? wordParts(text)), ...queryNameWords(text)]
  const searched = parts.length > 0 ? `${text} ${parts.join(' ')}` : text
  return ofAscii ? searched : spaceOut(searched, 'query')
}

const word = /[\p{L}\p{N}]+/gu
// oxlint-disable-next-line regexp/no-super-linear-move -- a run without its last letter always matches
const part = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lm}\p{Lo}]+|\p{N}+/gu
// oxlint-disable-next-line regexp/no-super-linear-move -- a run without its last letter always matches
const asciiPart = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g

function wordParts(text: string): string[] {
  return [...compounds(text).flatMap((token) => identifierParts(token)), ...withoutArticles(text)]
}

/** Words inside a word, split at changes of case and between letters and digits. An index splits `foo_bar` itself. */
export function identifierParts(token: string, pattern: RegExp = part): string[] {
  const parts = token.match(pattern) ?? []
  return parts.length > 1 ? parts.filter((piece) => piece.length > 1) : []
}

const hasArabic = /\p{Script=Arabic}/u
const article = /(?<!\p{L})و?(?:[فبك]?ال|لل)(\p{Script=Arabic}{3,})/gu

/** Arabic words with the definite article, possibly after a preposition: the words without it. */
export function withoutArticles(text: string): string[] {
  return hasArabic.test(text) ? [...text.matchAll(article)].map(([, word]) => word!) : []
}

function compounds(text: string): string[] {
  return isCompound.test(text) ? (text.match(word) ?? []).filter((token) => isCompound.test(token)) : []
}

/** A capital or digit inside a compound word: `fooBar`, `HTTPHeader`, `utf8`, `3d`. */
const insideCompound = /[A-Z0-9](?:(?<=[a-z].)|(?<=[A-Z].)(?:(?<=[0-9])|(?<=[A-Z])(?=[a-z]))|(?<=[0-9])(?=[A-Za-z]))/g

/**
 * Parts of the compound words of a text whose letters and digits are all ASCII. Each chunk passes through here: one
 * pattern finds the compound words, which takes three quarters of the time of looking at each capital and digit.
 */
function asciiParts(text: string): string[] {
  const parts: string[] = []
  insideCompound.lastIndex = 0
  while (insideCompound.test(text)) {
    let end = insideCompound.lastIndex
    let start = end - 1
    while (isWordUnit(text.charCodeAt(start - 1))) start--
    while (isWordUnit(text.charCodeAt(end))) end++
    for (const part of identifierParts(text.slice(start, end), asciiPart)) parts.push(part)
    insideCompound.lastIndex = end
  }
  return parts
}

/** Whether a UTF-16 unit is an ASCII letter or digit; false for NaN. */
function isWordUnit(unit: number): boolean {
  return (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) || (unit >= 48 && unit <= 57)
}

const isCompound = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u

const hasUnspaced = new RegExp(unspacedRun.source, 'u')

/** Documents contain single characters and pairs; a query contains pairs, or its only character. */
function spaceOut(text: string, use: 'document' | 'query'): string {
  if (!hasUnspaced.test(text)) return text
  return text.replace(unspacedRun, (run) => {
    // Indexes split words at tone marks and similar signs, so both sides remove them.
    const characters = [...run].filter((character) => isAlphabetic.test(character))
    const pairs = characters.slice(1).map((character, at) => characters[at]! + character)
    const grams = use === 'query' && pairs.length > 0 ? pairs : [...characters, ...pairs]
    return ` ${grams.join(' ')} `
  })
}
