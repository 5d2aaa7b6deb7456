/** What full-text search sees of a chunk. */
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
  const title = normalize(passage.title.trim())
  const text = normalize(passage.text)
  const whole = title ? `${title}\n${title}\n${text}` : text
  const parts = identifierParts(title ? `${title}\n${text}` : text)
  return spaceOut(parts.length > 0 ? `${whole}\n${parts.join(' ')}` : whole, 'document')
}

/** A query in the words of {@link toSearchText}: as typed, with the parts of its identifiers; "" stays "". */
export function toSearchQuery(query: string): string {
  const text = normalize(query.trim())
  const parts = identifierParts(text)
  return spaceOut(parts.length > 0 ? `${text} ${parts.join(' ')}` : text, 'query')
}

/** Composed and full-width forms become plain ones: an index splits words at combining marks. */
function normalize(text: string): string {
  return isAscii.test(text) ? text : text.normalize('NFKC')
}

// oxlint-disable-next-line no-control-regex
const isAscii = /^[\u0000-\u007f]*$/
const word = /[\p{L}\p{N}]+/gu
const part = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lm}\p{Lo}]+|\p{N}+/gu

/** Words inside words, at changes of case and between letters and digits; `foo_bar` needs none, an index splits it. */
function identifierParts(text: string): string[] {
  const parts: string[] = []
  for (const token of isAscii.test(text) ? asciiCompounds(text) : compounds(text)) {
    const found = token.match(part) ?? []
    if (found.length > 1) parts.push(...found.filter((piece) => piece.length > 1))
  }
  return parts
}

function compounds(text: string): string[] {
  return (text.match(word) ?? []).filter((token) => isCompound.test(token))
}

const [other, lower, upper, digit] = [0, 1, 2, 3]
const kinds = Uint8Array.from({ length: 128 }, (_, unit) => {
  const character = String.fromCharCode(unit)
  return /[a-z]/.test(character) ? lower : /[A-Z]/.test(character) ? upper : /[0-9]/.test(character) ? digit : other
})

/** As {@link compounds}, several times as fast: each chunk of each document passes here. */
function asciiCompounds(text: string): string[] {
  const found: string[] = []
  let start = 0
  let isFound = false
  let before = other
  let capitals = 0
  for (let at = 0; at <= text.length; at++) {
    const kind = at < text.length ? kinds[text.charCodeAt(at)]! : other
    if (kind === other) {
      if (isFound) found.push(text.slice(start, at))
      start = at + 1
      isFound = false
      capitals = 0
    } else if (before !== other) {
      const isLetterBesideDigit = (kind === digit) !== (before === digit)
      isFound ||= isLetterBesideDigit || (kind === upper && before === lower) || (kind === lower && capitals > 1)
    }
    capitals = kind === upper ? capitals + 1 : 0
    before = kind
  }
  return found
}

const isCompound = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu
const isAlphabetic = /\p{Alphabetic}/u
const hasUnspaced = new RegExp(unspaced.source, 'u')

/** Documents hold single characters and pairs; a query asks for pairs, or for its one character. */
function spaceOut(text: string, use: 'document' | 'query'): string {
  if (!hasUnspaced.test(text)) return text
  return text.replace(unspaced, (run) => {
    // Tone marks and the like split words in an index, so they go on both sides.
    const characters = [...run].filter((character) => isAlphabetic.test(character))
    const pairs = characters.slice(1).map((character, at) => characters[at]! + character)
    const grams = use === 'query' && pairs.length > 0 ? pairs : [...characters, ...pairs]
    return ` ${grams.join(' ')} `
  })
}
