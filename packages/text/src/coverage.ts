import { commonWordsOf } from './common-words.ts'
import { comparableWords, readStatement, toComparable, valueOf } from './statement.ts'
import type { SourceText } from './support.ts'
import { keysOf, spaceless } from './terms.ts'
import { toProse } from './units.ts'

/** How much of a sentence a source holds. */
export interface Coverage<Source> {
  readonly source: Source
  /** Share of the sentence's words that stand anywhere in the source, by weight, 0 to 1. */
  readonly share: number
  /** The same of the words that the question does not say; 0 when there are none. */
  readonly freshShare: number
  /** How many of the sentence's numbers stand there. */
  readonly numbers: number
  /** Whether sentence and source are surely in one language: only then do missing words say something. */
  readonly isSameLanguage: boolean
  /** The same, where a sentence too short to tell is taken to be in the language of the question. */
  readonly isProbablySameLanguage: boolean
  /** Words of the question that stand there. */
  readonly questionWords: readonly string[]
}

/** The sources of a comparison, those that hold most first, and the number of words compared. */
export interface Coverages<Source> {
  readonly count: number
  /** How many of these words the question does not say. */
  readonly freshCount: number
  readonly sources: readonly Coverage<Source>[]
}

/** Enough to tell a language. */
const sampleLength = 2_000

/** The language of a text as far as its frequent words tell; of scripts without spaces the script. */
function languageOf(text: string): string | undefined {
  const sample = text.slice(0, sampleLength)
  const letters = sample.match(/\p{L}/gu) ?? []
  const unspaced = letters.filter((letter) => spaceless.test(letter)).length
  return unspaced * 2 > letters.length ? 'unspaced' : commonWordsOf(sample)?.language
}

/** The keys that a statement of a text could have. */
function keysIn(text: string, language: string | undefined): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const word of comparableWords(toComparable(text))) {
    const value = valueOf(word.toLowerCase(), language)
    if (value === undefined) for (const key of keysOf(word)) keys.add(key)
    else keys.add(value)
  }
  return keys
}

/**
 * Prepares texts to tell how much of a sentence each source holds, wherever its words stand there. Unlike `createSupport`
 * it does not tell whether the source says the same, so it suits comparisons between sources.
 * @param question what the sentences answer
 */
export function createCoverage<Source>(
  texts: readonly SourceText<Source>[],
  question = '',
): (sentence: string) => Coverages<Source> {
  const questionKeys = new Set(keysOf(question))
  const askedKeys = [...new Set(readStatement(question).keys)]
  const ofQuestion = languageOf(question)
  const sources = [...Map.groupBy(texts, ({ source }) => source)].map(([source, own]) => {
    const text = own.map((part) => part.text).join('\n')
    const about = own.map((part) => part.about ?? '').join(' ')
    const language = languageOf(text)
    const keys = keysIn(`${text}\n${about}`, language)
    return { source, keys, language, questionWords: askedKeys.filter((key) => keys.has(key)) }
  })
  return (sentence) => {
    const prose = toProse(sentence)
    const language = languageOf(prose)
    const { keys: said, anchors } = readStatement(prose)
    const numbers = new Set(anchors.flatMap(({ isNumber, word }) => (isNumber ? [word] : [])))
    const weights = new Map(
      said.map((key) => {
        const frequency = sources.filter(({ keys }) => keys.has(key)).length
        return [key, Math.log(1 + (sources.length + 1) / (1 + frequency))] as const
      }),
    )
    const fresh = new Map([...weights].filter(([key]) => !questionKeys.has(key)))
    const covered = sources.map(({ source, keys, language: ofSource, questionWords }) => ({
      source,
      share: heldOf(weights, keys),
      freshShare: heldOf(fresh, keys),
      numbers: [...numbers].filter((number) => keys.has(number)).length,
      isSameLanguage: language !== undefined && language === ofSource,
      isProbablySameLanguage: ofSource !== undefined && (language ?? ofQuestion) === ofSource,
      questionWords,
    }))
    return { count: weights.size, freshCount: fresh.size, sources: covered.sort((a, b) => b.share - a.share) }
  }
}

/** Share of the weight of words that are among the keys. */
function heldOf(weights: ReadonlyMap<string, number>, keys: ReadonlySet<string>): number {
  let [held, total] = [0, 0]
  for (const [key, weight] of weights) {
    total += weight
    if (keys.has(key)) held += weight
  }
  return total === 0 ? 0 : held / total
}
