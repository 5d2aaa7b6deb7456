import { commonWordsOf, type CommonWords } from './common-words.ts'
import { plainLetters } from './letters.ts'
import { keysOf, spaceless, stopWords, wordPattern } from './terms.ts'

/** A number, a name or a word of code. */
export interface Anchor {
  /** In lower case; for a number, its value. */
  readonly word: string
  readonly isNumber: boolean
  /** The word directly before it in its clause, in lower case; "" for none. */
  readonly lead: string
  /** Whether that word and this one form one name. */
  readonly isJoined: boolean
  /** Keys before and after it, nearest first, without words of the same name. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}

export interface Statement {
  /** Keys of the content words, in order. */
  readonly keys: readonly string[]
  /** All words, in lower case. */
  readonly words: ReadonlySet<string>
  /** Numbers, names and code, with the words around them. */
  readonly anchors: readonly Anchor[]
  /** A capitalized first word, which may be a name. */
  readonly opening: string | undefined
  /** Keys that are negated; "" for a negation without such a key. */
  readonly negated: ReadonlySet<string>
  /** Whether it contains a negation in a script without spaces, where the negated word is unknown. */
  readonly isNegative: boolean
}

const negations = new Set(
  `not no never none nor neither without cannot nothing nobody nowhere hardly nicht kein keine keinen keinem keiner keines
  nie niemals ohne weder nunca sin ningún ninguna ninguno nada jamás ne pas jamais sans aucun aucune rien non mai senza
  nessun nessuno nessuna não sem nenhum nenhuma niet geen nooit zonder inte ikke aldrig utan uden ingen nigdy bez не нет
  никогда без değil yok لا ليس لم لن`.split(/\s+/),
)
const spacelessNegation = /[不没沒未無无非勿]|ない|ません|않|없|아니|못|ไม่/u
/** Number of words after a negation that it applies to, within its clause. */
const reach = 3
const clauseEnd = /[,;()—–!?。，；]|(?<!\d):|:(?!\d)|\.\s|\b(?:but|aber|pero|mais|sondern|sino|although|while)\b/iu
/** A time of day, a ratio or a date is one word: its numbers mean nothing by themselves. */
const wordOrTime = new RegExp(String.raw`\d+(?:[:/]\d+)+|${wordPattern.source}`, 'gu')

// One is also an article; Spanish eleven is an English word.
const numberWords: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries({
    en:
      'two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen ' +
      'nineteen twenty',
    de:
      'zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn ' +
      'neunzehn zwanzig',
    fr: 'deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize',
    es: 'dos tres cuatro cinco seis siete ocho nueve diez',
  }).map(([language, words]) => [language, new Map(words.split(' ').map((word, at) => [word, `${at + 2}`]))]),
)
/** Number words that mean something else in another language: `sept` is also a month, `neuf` also new. */
const ambiguousNumbers = new Set(['sept', 'neuf', 'acht', 'elf', 'onze', 'dos'])
/** For texts too short to tell their language, and for languages without a list. */
const numbersAnywhere: ReadonlyMap<string, string> = new Map(
  [...numberWords.values()].flatMap((words) => [...words].filter(([word]) => !ambiguousNumbers.has(word))),
)

/** Words that connect a sentence to the previous one. */
const connectives = new Set(
  `additionally furthermore moreover however therefore overall thus finally similarly specifically generally typically
  instead meanwhile consequently hence notably importantly note e.g i.e etc`.split(/\s+/),
)

/**
 * The value of a number as text, in any notation; undefined for other words. `10GB` has the value 10, `412.00` the value
 * 412. A time has none of its parts.
 * @param language ISO 639-1; of number words only those of this language have a value
 */
export function valueOf(word: string, language?: string): string | undefined {
  const digits = /^(\d+(?:[.:]\d+)*)(?:st|nd|rd|th|\p{L}{1,3})?$/u.exec(word)?.[1]
  if (digits !== undefined) return digits.replace(/^0+(?=\d)/, '').replace(/^(\d+)\.0+$/, '$1')
  return (numberWords.get(language ?? '') ?? numbersAnywhere).get(word)
}

/** Each language has its own: digits in groups are joined, a decimal comma becomes a point, euros become `EUR`. */
const withPlainAmounts = (text: string): string =>
  text
    .replace(/(?<=\d)[,.'\u0020](?=\d{3}(?!\d))/g, '')
    .replace(/(?<=\d),(?=\d{1,2}(?![\d,]))/g, '.')
    .replace(/€|(?<![\p{L}\p{N}_])euros?(?![\p{L}\p{N}_])/giu, ' EUR ')

export const toComparable = (text: string): string => withPlainAmounts(plainLetters(text))

export const comparableWords = (text: string): readonly string[] => text.match(wordOrTime) ?? []

/** @param fallback common words of the language that a sentence too short to tell its language is probably in */
export function readStatement(prose: string, fallback?: CommonWords): Statement {
  const text = toComparable(prose)
  const code = new Set(
    Array.from(text.matchAll(/`([^`]{1,200})`/g), ([, inner = '']) => inner.match(wordPattern) ?? []).flat(),
  )
  const language = commonWordsOf(text) ?? fallback
  const keys: string[] = []
  const words = new Set<string>()
  const negated = new Set<string>()
  const anchors: FoundAnchor[] = []
  let count = 0
  let opening: string | undefined
  for (const clause of text.split(clauseEnd)) {
    let governed = 0
    let last = ''
    let isAfterName = false
    for (const word of comparableWords(clause)) {
      const lower = word.toLowerCase().replaceAll('’', "'").replace(/'s$/, '')
      const isFirst = words.size === 0
      const lead = last
      last = lower
      words.add(lower)
      count++
      if (negations.has(lower) || lower.endsWith("n't")) {
        governed = reach
        continue
      }
      const value = valueOf(lower, language?.language)
      const isMarked = value === undefined && (/\d|_|\p{Ll}\p{Lu}/u.test(word) || code.has(word))
      // `Hall A` is a name: inside a sentence the article is not capitalized.
      const isLetter = word === 'A' && isAfterName
      isAfterName = /^\p{Lu}/u.test(word)
      const isCommon =
        !isLetter && (stopWords.has(lower) || connectives.has(lower) || language?.words.has(lower) === true)
      // German nouns are also capitalized.
      const isCapital = /^\p{Lu}/u.test(word) && language?.language !== 'de'
      const from = keys.length
      if (value !== undefined || isMarked || (isCapital && !isFirst && !isCommon))
        anchors.push({ word: value ?? lower, isNumber: value !== undefined, lead, from, place: count })
      if (isCommon && !isMarked) continue
      if (isFirst && isCapital) opening = lower
      const own = value === undefined ? keysOf(word) : [value]
      keys.push(...own)
      if (governed-- > 0) own.forEach((key) => negated.add(key))
    }
    if (governed === reach) negated.add('')
  }
  return {
    keys,
    words,
    anchors: withNeighbours(anchors, keys),
    opening,
    negated,
    isNegative: spaceless.test(text) && spacelessNegation.test(text),
  }
}

interface FoundAnchor extends Pick<Anchor, 'word' | 'isNumber' | 'lead'> {
  readonly from: number
  readonly place: number
}

const neighbours = 3

/** Names of several words share the neighbours of all their words. */
function withNeighbours(anchors: readonly FoundAnchor[], keys: readonly string[]): Anchor[] {
  let first = 0
  const runs = anchors.map((anchor, at) => {
    const last = anchors[at - 1]
    const goesOn = last !== undefined && last.place + 1 === anchor.place && !last.isNumber && !anchor.isNumber
    return (first = goesOn ? first : at)
  })
  return anchors.map(({ word, isNumber, lead }, at) => {
    const start = anchors[runs[at] ?? at]?.from ?? 0
    const end = runs.lastIndexOf(runs[at] ?? at)
    const behind = (anchors[end]?.from ?? 0) + 1
    return {
      word,
      isNumber,
      lead,
      isJoined: runs[at] !== at,
      before: keys.slice(Math.max(0, start - neighbours), start).toReversed(),
      after: keys.slice(behind, behind + neighbours),
    }
  })
}
