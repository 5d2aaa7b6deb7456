import { isAlphabetic, plainLetters, unspacedRun } from './letters.ts'
import { identifierParts, withoutArticles } from './search-text.ts'
import type { CommonWords } from './stop-words.ts'

/** Where a word stands in a text, in UTF-16 units; `end` is exclusive. */
export interface FoundWord {
  readonly start: number
  readonly end: number
  /** What it is compared by: the same for all its common forms. */
  readonly stem: string
}

/**
 * Compares words much as an index does: in lower case, without accents and endings, scripts without spaces by pairs of
 * characters, identifiers also by their parts.
 */
export interface WordFinder {
  /** Places where a word of the query stands, in order; they may overlap where there are no spaces. */
  in(text: string): FoundWord[]
}

/** Makes a finder of the words of a query, except those that say little; undefined when nothing is left. */
export function createWordFinder(query: string, common: CommonWords): WordFinder | undefined {
  const wanted = new Set<string>()
  for (const { stem, word, isWhole } of wordsOf(query)) if (isWhole && !common.words.has(word)) wanted.add(stem)
  if (wanted.size === 0) return undefined
  return {
    in(text) {
      const found: FoundWord[] = []
      let wholeUntil = 0
      for (const { start, end, stem, isWhole } of wordsOf(text)) {
        if (!wanted.has(stem)) continue
        // Of a word that is marked as a whole, no part is marked again.
        if (!isWhole && end <= wholeUntil) continue
        if (isWhole) wholeUntil = end
        found.push({ start, end, stem })
      }
      return found
    },
  }
}

interface ReadWord extends FoundWord {
  /** In lower case, as written. */
  readonly word: string
  /** Whether a query for it means it: not the parts of a longer word, nor single characters of a longer run. */
  readonly isWhole: boolean
}

/** Letters with their marks, and digits. What an apostrophe leaves of a short verb is no word. */
const wordForm = /(?<!['’](?=(?:s|t|d|m|ll|re|ve)(?![\p{L}\p{M}\p{N}])))(?<![\p{L}\p{M}\p{N}])[\p{L}\p{M}\p{N}]+/giu

function* wordsOf(text: string): Generator<ReadWord> {
  for (const found of text.matchAll(wordForm)) {
    let from = 0
    for (const run of found[0].matchAll(unspacedRun)) {
      yield* spacedWord(found[0].slice(from, run.index), found.index + from)
      yield* charactersOf(run[0], found.index + run.index)
      from = run.index + run[0].length
    }
    yield* spacedWord(found[0].slice(from), found.index + from)
  }
}

function* spacedWord(written: string, start: number): Generator<ReadWord> {
  const stem = toStem(written)
  // Marks without a letter.
  if (stem === '') return
  yield { start, end: start + written.length, stem, word: written.toLowerCase(), isWhole: true }
  let from = 0
  for (const part of [...identifierParts(written), ...withoutArticles(written)]) {
    const at = written.indexOf(part, from)
    if (at < 0) continue
    from = at + part.length
    yield { start: start + at, end: start + from, stem: toStem(part), word: part.toLowerCase(), isWhole: false }
  }
}

/** Pairs of characters, each with the marks that follow it, and the characters themselves. */
function* charactersOf(run: string, start: number): Generator<ReadWord> {
  const characters: { text: string; start: number; end: number }[] = []
  let at = start
  for (const character of run) {
    const last = characters.at(-1)
    if (isAlphabetic.test(character) || !last)
      characters.push({ text: plainLetters(character), start: at, end: at + character.length })
    else last.end = at + character.length
    at += character.length
  }
  for (const [index, first] of characters.entries()) {
    const second = characters[index + 1]
    yield { ...toRead(first.text, first), isWhole: characters.length === 1 }
    if (second) yield { ...toRead(first.text + second.text, { start: first.start, end: second.end }), isWhole: true }
  }
}

function toRead(stem: string, { start, end }: { start: number; end: number }): Omit<ReadWord, 'isWhole'> {
  return { start, end, stem, word: stem }
}

const accents = /[\u0300-\u036f]/g

/** Cuts common endings and accents off; only for comparing words with each other. */
function toStem(written: string): string {
  const word = plainLetters(written).toLowerCase().normalize('NFD').replace(accents, '')
  if (word.length <= 3) return word
  const singular = word.replace(/(?:ies|ied)$/, 'y').replace(/([^s])s$/, '$1')
  const stem = singular.replace(/(?:ing|edly|ed|ly|e)$/, '')
  return stem.length >= 4 ? stem : singular
}
