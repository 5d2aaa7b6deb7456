import type { Question } from './question.ts'
import { isNear, partsOf, stem, wordsOf } from '@inlay/text'

/** How much a word of the passages counts, and how sure it is that it was meant. */
interface MeantTerm {
  readonly weight: number
  readonly certainty: number
}

/** Puts in place of words of the question that occur nowhere the parts they are made of, or the likeliest word meant. */
function withoutSlips(
  question: Question,
  vocabulary: ReadonlyMap<string, number>,
  texts: readonly string[],
): { meant: Map<string, MeantTerm>; mended: Map<string, string> } {
  const meant = new Map<string, MeantTerm>()
  const mended = new Map<string, string>()
  const add = (term: string, weight: number, certainty: number): void => {
    if (weight * certainty > (meant.get(term)?.weight ?? 0)) meant.set(term, { weight, certainty })
  }
  let words: ReadonlySet<string> | undefined
  for (const [term, weight] of question.terms) {
    const parts = vocabulary.has(term) ? [] : partsOf(term).map(stem)
    if (vocabulary.has(term)) add(term, weight, 1)
    else if (parts.some((part) => vocabulary.has(part))) for (const part of parts) add(part, weight, 1)
    else {
      words ??= new Set(texts.flatMap(wordsOf))
      const near = nearest(question.words.get(term) ?? term, words)
      add(near === undefined ? term : stem(near), weight, 0.7)
      if (near !== undefined) mended.set(question.words.get(term) ?? term, near)
    }
  }
  return { meant, mended }
}

/** A word that is nearly the same; undefined when there is none. Whole words are compared, since stems are alike too easily. */
function nearest(word: string, words: ReadonlySet<string>): string | undefined {
  for (const known of words) if (isNear(word, known)) return known
  return undefined
}

/** What the words of a question are worth among given passages. */
export interface Weights {
  /** The question, with slips in its subjects mended by the words of the passages. */
  readonly question: Question
  /** Weight of each term, by its rarity in the passages; slips stand under the word that was meant. */
  readonly weights: ReadonlyMap<string, number>
  /** What a text with all terms of the question, just as asked, would weigh; above 0. */
  readonly total: number
}

/**
 * Weighs the terms of a question.
 * @param vocabulary in how many of `count` units each term occurs
 * @param texts all words that may have been meant
 */
export function weighTerms(
  original: Question,
  vocabulary: ReadonlyMap<string, number>,
  count: number,
  texts: readonly string[],
): Weights {
  const most = Math.log(1 + count) || 1
  const worth = (term: string): number =>
    0.6 + 0.6 * Math.min(1, Math.log(1 + count / ((vocabulary.get(term) ?? 0) + 0.5)) / most)
  const { meant, mended } = withoutSlips(original, vocabulary, texts)
  const weights = new Map<string, number>()
  let total = 0
  for (const [term, { weight, certainty }] of meant) {
    weights.set(term, weight * certainty * worth(term))
    total += weight * worth(term)
  }
  const mend = (subject: string): string =>
    subject.replace(/[\p{L}\p{N}]+/gu, (word) => mended.get(word.toLowerCase()) ?? word)
  return { question: { ...original, subjects: original.subjects.map(mend) }, weights, total: total || 1 }
}
