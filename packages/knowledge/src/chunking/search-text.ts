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
const part = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lm}\p{Lo}]+|\p{N}+/gu

function wordParts(text: string): string[] {
  return [...compounds(text).flatMap(identifierParts), ...withoutArticles(text)]
}

/** Words inside a word, split at changes of case and between letters and digits. An index splits `foo_bar` itself. */
export function identifierParts(token: string): string[] {
  const parts = token.match(part) ?? []
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

const [other, lower, upper, digit] = [0, 1, 2, 3]
const kinds = Uint8Array.from({ length: 128 }, (_, unit) => {
  const character = String.fromCharCode(unit)
  return /[a-z]/.test(character) ? lower : /[A-Z]/.test(character) ? upper : /[0-9]/.test(character) ? digit : other
})
const capitalOrDigit = /[A-Z0-9]/g

/**
 * Parts of the compound words of a text whose letters and digits are all ASCII. Each chunk passes through here, so only
 * capitals and digits are looked at: every compound word has one. Half the time of looking at each letter.
 */
function asciiParts(text: string): string[] {
  const kindAt = (at: number): number => kinds[text.charCodeAt(at)] ?? other
  const parts: string[] = []
  capitalOrDigit.lastIndex = 0
  while (capitalOrDigit.test(text)) {
    const at = capitalOrDigit.lastIndex - 1
    const [before, kind, after] = [kindAt(at - 1), kindAt(at), kindAt(at + 1)]
    const isInside =
      before === lower ||
      (kind === digit ? before === upper || after === lower || after === upper : before === upper && after === lower)
    if (!isInside) continue
    let [start, end] = [at, at + 1]
    while (kindAt(start - 1) !== other) start--
    while (kindAt(end) !== other) end++
    for (const part of identifierParts(text.slice(start, end))) parts.push(part)
    capitalOrDigit.lastIndex = end
  }
  return parts
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
