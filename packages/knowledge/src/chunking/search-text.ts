import { isAlphabetic, plainLetters, unspacedRun, withoutCommonWords } from '@inlay/text'

/** Parts of a chunk used by full-text search. */
export interface SearchableText {
  /** Title of the document, perhaps with the headings above the chunk; "" when there is none. */
  readonly title: string
  readonly text: string
}

/**
 * The text that full-text search matches instead of what is shown: the title twice (it counts double), the text, then
 * the parts of identifiers (`parseHTTPHeader` is also found by `http header`). Scripts written without spaces become
 * single characters and pairs, so that any word inside them is found. Made from the same rules as {@link toSearchQuery}.
 */
export function toSearchText(passage: SearchableText): string {
  const [titleParts, textParts] = [asciiParts(passage.title), asciiParts(passage.text)]
  const isAscii = titleParts !== undefined && textParts !== undefined
  const title = isAscii ? passage.title.trim() : plainLetters(passage.title.trim())
  const text = isAscii ? passage.text : plainLetters(passage.text)
  const whole = title ? `${title}\n${title}\n${text}` : text
  const parts = isAscii ? [...titleParts, ...textParts] : wordParts(title ? `${title}\n${text}` : text)
  const searched = parts.length > 0 ? `${whole}\n${parts.join(' ')}` : whole
  return isAscii ? searched : spaceOut(searched, 'document')
}

/**
 * A query in the words of {@link toSearchText}: as typed, without the words that say little in its language, with the
 * parts of its identifiers; "" stays "".
 */
export function toSearchQuery(query: string): string {
  const kept = withoutCommonWords(query.trim())
  const ofAscii = asciiParts(kept)
  const text = ofAscii ? kept : plainLetters(kept)
  const parts = ofAscii ?? wordParts(text)
  const searched = parts.length > 0 ? `${text} ${parts.join(' ')}` : text
  return ofAscii ? searched : spaceOut(searched, 'query')
}

const word = /[\p{L}\p{N}]+/gu
const part = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lm}\p{Lo}]+|\p{N}+/gu

function wordParts(text: string): string[] {
  return asciiParts(text) ?? [...compounds(text).flatMap(identifierParts), ...withoutArticles(text)]
}

/** Words inside a word, at changes of case and between letters and digits; `foo_bar` needs none, an index splits it. */
export function identifierParts(token: string): string[] {
  const parts = token.match(part) ?? []
  return parts.length > 1 ? parts.filter((piece) => piece.length > 1) : []
}

const hasArabic = /\p{Script=Arabic}/u
const article = /(?<!\p{L})و?(?:[فبك]?ال|لل)(\p{Script=Arabic}{3,})/gu

/** Arabic words that begin with the article, perhaps after a preposition: as they are without. */
export function withoutArticles(text: string): string[] {
  return hasArabic.test(text) ? [...text.matchAll(article)].map(([, word]) => word!) : []
}

function compounds(text: string): string[] {
  return (text.match(word) ?? []).filter((token) => isCompound.test(token))
}

const [other, lower, upper, digit] = [0, 1, 2, 3]
const kinds = Uint8Array.from({ length: 128 }, (_, unit) => {
  const character = String.fromCharCode(unit)
  return /[a-z]/.test(character) ? lower : /[A-Z]/.test(character) ? upper : /[0-9]/.test(character) ? digit : other
})

/**
 * Parts of the compounds of a text in one pass, several times as fast as by patterns, since each chunk of each document
 * passes here; undefined for a text with other characters than ASCII.
 */
function asciiParts(text: string): string[] | undefined {
  const parts: string[] = []
  let start = 0
  let isCompoundWord = false
  let before = other
  let capitals = 0
  for (let at = 0; at <= text.length; at++) {
    const unit = at < text.length ? text.charCodeAt(at) : 0
    // By far the most frequent case changes nothing.
    if (before === lower && unit >= 97 && unit <= 122) continue
    if (unit > 127) return undefined
    const kind = kinds[unit]!
    if (kind === other) {
      if (isCompoundWord) for (const part of identifierParts(text.slice(start, at))) parts.push(part)
      start = at + 1
      isCompoundWord = false
      capitals = 0
    } else if (before !== other) {
      const isLetterBesideDigit = (kind === digit) !== (before === digit)
      isCompoundWord ||= isLetterBesideDigit || (kind === upper && before === lower) || (kind === lower && capitals > 1)
    }
    capitals = kind === upper ? capitals + 1 : 0
    before = kind
  }
  return parts
}

const isCompound = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u

const hasUnspaced = new RegExp(unspacedRun.source, 'u')

/** Documents hold single characters and pairs; a query asks for pairs, or for its one character. */
function spaceOut(text: string, use: 'document' | 'query'): string {
  if (!hasUnspaced.test(text)) return text
  return text.replace(unspacedRun, (run) => {
    // Tone marks and the like split words in an index, so they go on both sides.
    const characters = [...run].filter((character) => isAlphabetic.test(character))
    const pairs = characters.slice(1).map((character, at) => characters[at]! + character)
    const grams = use === 'query' && pairs.length > 0 ? pairs : [...characters, ...pairs]
    return ` ${grams.join(' ')} `
  })
}
