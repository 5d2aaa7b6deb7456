import { commonWordsOf, englishWords, isAlphabetic, plainLetters, type CommonWords, unspacedRun } from '@inlay/text'
import { identifierParts, withoutArticles } from '../chunking/search-text.ts'

/** Maximum number of fragments per passage, and their length in characters. */
const maxFragments = 4
const fragmentLength = 100
/** Characters shown before the first match of a fragment. */
const leadLength = 25

export type Highlighter = (text: string) => string[]

/**
 * Creates a highlighter. It returns fragments of a text with the words of the query, each occurrence in `<hi>`…`</hi>`,
 * best fragment first. All common forms of a word match: `configure` also marks `configured`.
 * @returns for each text at most four fragments; [] if it contains no word of the query
 */
export function createHighlighter(query: string): Highlighter {
  const findWords = createWordFinder(query, commonWordsOf(query) ?? englishWords)
  return (text) =>
    toGroups(findWords?.(text) ?? [])
      .toSorted((left, right) => right.variety - left.variety || left.start - right.start)
      .slice(0, maxFragments)
      .map((group) => mark(text, group))
}

interface Group {
  readonly start: number
  readonly words: readonly FoundWord[]
  /** Number of different words. */
  readonly variety: number
}

function toGroups(words: readonly FoundWord[]): Group[] {
  const groups: Group[] = []
  for (let at = 0; at < words.length;) {
    const start = words[at]!.start
    const limit = Math.max(start - leadLength + fragmentLength, words[at]!.end)
    const group: FoundWord[] = []
    while (at < words.length && words[at]!.end <= limit) group.push(words[at++]!)
    groups.push({ start, words: group, variety: new Set(group.map(({ stem }) => stem)).size })
  }
  return groups
}

function mark(text: string, { words }: Group): string {
  const marks: { readonly start: number; end: number }[] = []
  for (const { start, end } of words) {
    const last = marks.at(-1)
    // Overlapping pairs of characters are marked together.
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else marks.push({ start, end })
  }
  const first = marks[0]!
  const start = startBefore(text, first.start)
  const end = endAfter(text, marks.at(-1)!.end, Math.max(start + fragmentLength, first.end))
  let marked = ''
  let from = start
  for (const match of marks) {
    marked += `${text.slice(from, match.start)}<hi>${text.slice(match.start, match.end)}</hi>`
    from = match.end
  }
  return (marked + text.slice(from, end))
    .replaceAll(/^ {0,3}#{1,6} /gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Characters searched for the beginning of a word: segmenting more would cost more than everything else. */
const segmentedLength = 20

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Start of a fragment: shortly before its first match, at the beginning of a word. */
function startBefore(text: string, match: number): number {
  const from = Math.max(0, match - leadLength)
  if (from === 0) return 0
  const window = text.slice(from, match)
  const space = /\s/.exec(window)
  if (space) return from + space.index + 1
  // Without spaces, the first word may begin before the window; the second one begins in it.
  const [, second] = segmenter.segment(window)
  return second ? from + second.index : match
}

/** End of a fragment: after its last match, at most at `to`, at the end of a word. */
function endAfter(text: string, match: number, to: number): number {
  if (to >= text.length) return text.length
  const window = text.slice(match, to)
  for (let at = window.length; at >= window.length / 3; at--) if (/\s/.test(text[match + at]!)) return match + at
  // Without spaces, the last word may continue after the window.
  const from = Math.max(0, window.length - segmentedLength)
  let last = from
  for (const { index } of segmenter.segment(window.slice(from))) last = from + index
  return match + last
}

/** Position of a word in a text, in UTF-16 units; `end` is exclusive. */
export interface FoundWord {
  readonly start: number
  readonly end: number
  /** Stem, the same for all common forms of the word. */
  readonly stem: string
}

/** Creates a finder for the words of a query, except frequent words; undefined if no word remains. */
export function createWordFinder(query: string, common: CommonWords): ((text: string) => FoundWord[]) | undefined {
  const wanted = new Set<string>()
  readWords(query, (start, end, stem, part) => {
    if (part === 'whole' && !common.words.has(query.slice(start, end).toLowerCase())) wanted.add(stem)
  })
  if (wanted.size === 0) return undefined
  // Caches words, since most words of a text repeat and do not match.
  const known = new Map<string, readonly FoundWord[]>()
  const initials = new Uint8Array(128)
  for (const { 0: initial } of wanted)
    for (const form of [initial!, initial!.toUpperCase()])
      if (form.charCodeAt(0) < 128) initials[form.charCodeAt(0)] = 1
  return (text) => {
    const all: FoundWord[] = []
    const words = isAscii.test(text)
      ? asciiWords(text, initials)
      : [...text.matchAll(wordForm)].filter(([word]) => mayMatch(word, initials))
    for (const { 0: word, index: from } of words) {
      let matches = known.get(word)
      if (!matches) {
        matches = wantedIn(word, wanted)
        // A run without spaces is a whole sentence, which rarely repeats.
        if (word.length <= maxWordLength) known.set(word, matches)
      }
      for (const { start, end, stem } of matches) all.push({ start: start + from, end: end + from, stem })
    }
    return all
  }
}

const maxWordLength = 40

/** Lower-case letters of alphabets, with and without accents: such a word has no parts. */
const isPlainWord = /^.[a-z\u00df-\u00f6\u00f8-\u017f\u0430-\u045f]*$/

/** Whether a word may match: stemming only changes endings, case and accents, so a word with another initial cannot. */
function mayMatch(word: string, initials: Uint8Array): boolean {
  const first = word.charCodeAt(0)
  return first >= 128 || first < 65 || initials[first] === 1 || !isPlainWord.test(word)
}

const isWordUnit = Uint8Array.from({ length: 128 }, (_, unit) =>
  /[a-zA-Z0-9]/.test(String.fromCharCode(unit)) ? 1 : 0,
)

/** The words of an ASCII text, without those that have another initial and no parts. */
function asciiWords(text: string, initials: Uint8Array): { readonly 0: string; readonly index: number }[] {
  const words: { readonly 0: string; readonly index: number }[] = []
  for (let at = 0; at < text.length; at++) {
    const first = text.charCodeAt(at)
    if (!isWordUnit[first]) continue
    const start = at
    let hasParts = false
    for (at++; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      if (unit >= 97 && unit <= 122) continue
      if (!isWordUnit[unit]) break
      hasParts = true
    }
    // A leading digit may be a part before letters.
    if (initials[first] || hasParts || first < 65) words.push({ 0: text.slice(start, at), index: start })
  }
  return words
}

function wantedIn(word: string, wanted: ReadonlySet<string>): FoundWord[] {
  const matches: FoundWord[] = []
  let wholeUntil = 0
  readWords(word, (start, end, stem, part) => {
    // Parts of a word that is highlighted as a whole are not highlighted again.
    if (!wanted.has(stem) || (part === 'part' && end <= wholeUntil)) return
    if (part === 'whole') wholeUntil = end
    matches.push({ start, end, stem })
  })
  return matches
}

/**
 * A `part` of a longer word, or a single character of a longer run, can be matched by a query but is not searched for
 * itself.
 */
type Emit = (start: number, end: number, stem: string, part: 'whole' | 'part') => void

/** Letters with combining marks, and digits. */
const wordForm = /[\p{L}\p{M}\p{N}]+/gu
/** Contracted verb endings after an apostrophe are not words. */
const contraction = /['’](?:s|t|d|m|ll|re|ve)(?![\p{L}\p{M}\p{N}])/giu
// oxlint-disable-next-line no-control-regex
const isAscii = /^[\u0000-\u007f]*$/

function readWords(text: string, emit: Emit): void {
  const whole = text.replace(contraction, (ending) => ' '.repeat(ending.length))
  for (const { 0: word, index } of whole.matchAll(wordForm)) {
    let from = 0
    for (const run of isAscii.test(word) ? [] : word.matchAll(unspacedRun)) {
      readSpaced(word.slice(from, run.index), index + from, emit)
      readUnspaced(run[0], index + run.index, emit)
      from = run.index + run[0].length
    }
    readSpaced(word.slice(from), index + from, emit)
  }
}

function readSpaced(word: string, start: number, emit: Emit): void {
  const stem = toStem(word)
  // Combining marks without a letter.
  if (stem === '') return
  emit(start, start + word.length, stem, 'whole')
  let from = 0
  for (const part of isAscii.test(word)
    ? identifierParts(word)
    : [...identifierParts(word), ...withoutArticles(word)]) {
    const at = word.indexOf(part, from)
    if (at < 0) continue
    from = at + part.length
    emit(start + at, start + from, toStem(part), 'part')
  }
}

interface UnspacedCharacter {
  readonly plain: string
  /** Whether it belongs to the previous character, like a tone mark. */
  readonly isMark: boolean
}

/** Normalizing and classifying cost more than everything else, and a text has few different characters. */
const characterCache = new Map<string, UnspacedCharacter>()
const maxCachedCharacters = 20_000

function characterOf(character: string): UnspacedCharacter {
  const cached = characterCache.get(character)
  if (cached) return cached
  const read = { plain: plainLetters(character), isMark: !isAlphabetic.test(character) }
  if (characterCache.size < maxCachedCharacters) characterCache.set(character, read)
  return read
}

/** Emits pairs of characters, each with its combining marks, and the single characters. */
function readUnspaced(run: string, start: number, emit: Emit): void {
  const characters: { plain: string; start: number; end: number }[] = []
  let at = start
  for (const character of run) {
    const { plain, isMark } = characterOf(character)
    const last = characters.at(-1)
    const end = at + character.length
    if (last && isMark) last.end = end
    else characters.push({ plain, start: at, end })
    at = end
  }
  for (const [index, first] of characters.entries()) {
    const second = characters[index + 1]
    emit(first.start, first.end, first.plain, characters.length === 1 ? 'whole' : 'part')
    if (second) emit(first.start, second.end, first.plain + second.plain, 'whole')
  }
}

const accents = /[\u0300-\u036f]/g

/** Removes common endings and accents; only for comparing words. */
function toStem(written: string): string {
  const lower = written.toLowerCase()
  const word = isAscii.test(lower) ? lower : plainLetters(lower).normalize('NFD').replace(accents, '')
  if (word.length <= 3) return word
  const singular = word.replace(/(?:ies|ied)$/, 'y').replace(/([^s])s$/, '$1')
  const stem = singular.replace(/(?:ing|edly|ed|ly|e)$/, '')
  return stem.length >= 4 ? stem : singular
}
