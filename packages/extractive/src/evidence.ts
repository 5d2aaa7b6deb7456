import { isLike, isNear, keysOf, spaceless, wordPattern } from '@inlay/text'
import type { ReadPassage, ReadUnit } from './page.ts'
import type { Question } from './question.ts'

export interface Weighed {
  readonly read: ReadUnit
  /** Share of the topic in the unit itself, and including its headings and neighbours; 0 to 1. */
  readonly own: number
  readonly context: number
  /** Only comparable among the units of one question. */
  readonly score: number
}

export type Keys = ReadonlySet<string>

export interface Evidence {
  /** Best first. */
  readonly units: readonly Weighed[]
  /** Share of the question that these sets of keys cover together, 0 to 1. */
  readonly shareOf: (...sets: readonly Keys[]) => number
  /** Whether one of these sets contains a key, or one with a similar spelling if no passage contains it. */
  readonly has: (key: string, ...sets: readonly Keys[]) => boolean
}

/** Inverse document frequency of BM25. */
const rarity = (count: number, holding: number): number => Math.log(1 + (count - holding + 0.5) / (holding + 0.5))

/** Assumed size of the corpus outside the results: among a few passages on one topic, rarity would mean nothing. */
const assumed = { units: 100, passages: 8 }

/** Of a question, checked for misspellings. */
const maxComparedWords = 200

/** For each key of the question that no passage contains, the keys with a similar spelling. */
function misspellings({ topic, text }: Question, passages: readonly ReadPassage[]): Map<string, string[]> {
  const vocabulary = new Set(passages.flatMap(({ all }) => [...all]))
  const unknown = topic.filter((key) => !vocabulary.has(key))
  const alike = new Map(unknown.map((key) => [key, [...vocabulary].filter((other) => isLike(key, other))]))
  if (unknown.length === 0) return alike
  // A misspelling may be in the ending that a key omits, so whole words are compared too.
  const texts = passages.flatMap(({ units }) => units.map(({ unit }) => unit.text.toLowerCase()))
  const words = new Set(texts.flatMap((sentence) => sentence.match(wordPattern) ?? []))
  for (const word of (text.toLowerCase().match(wordPattern) ?? []).slice(-maxComparedWords))
    if (/^\p{L}+$/u.test(word) && !spaceless.test(word))
      for (const other of words) if (isNear(word, other)) alike.get(keysOf(word)[0] ?? '')?.push(...keysOf(other))
  return alike
}

function weighTopic(question: Question, passages: readonly ReadPassage[]) {
  const alike = misspellings(question, passages)
  const has = (key: string, ...sets: readonly Keys[]): boolean =>
    sets.some((set) => set.has(key) || alike.get(key)?.some((other) => set.has(other)))
  const units = passages.flatMap((passage) => passage.units)
  const rarityOf = (key: string): number => {
    const inPassages = passages.filter(({ all }) => has(key, all)).length
    const inUnits = units.filter(({ keys }) => has(key, keys)).length
    return rarity(units.length + assumed.units, inUnits) + rarity(passages.length + assumed.passages, inPassages)
  }
  const worth = question.topic.map((key) => [key, rarityOf(key)] as const)
  const total = worth.reduce((sum, [, value]) => sum + value, 0) || 1
  const shareOf = (...sets: readonly Keys[]): number =>
    worth.reduce((sum, [key, value]) => (has(key, ...sets) ? sum + value : sum), 0) / total
  return { has, shareOf }
}

/** Commands share words with many questions that they do not answer, so they have to match more of them. */
const instructionPenalty = 0.3

/** Weight of each rank in the search results, for the first ten: search knows more than a comparison of words. */
const rankWeight = 0.1

export function weighEvidence(question: Question, passages: readonly ReadPassage[]): Evidence {
  const { has, shareOf } = weighTopic(question, passages)

  const units = passages.flatMap(({ units, rank, head }) => {
    return units.map((read, at): Weighed => {
      const near = [units[at - 1], units[at + 1]].flatMap((other) =>
        other?.place === read.place && !other.isCommand ? [other.keys] : [],
      )
      const own = shareOf(read.keys)
      const penalty = read.isCommand ? instructionPenalty : 0
      const context = shareOf(read.keys, head, read.above, ...near) - penalty
      const score = own + 0.5 * context - rankWeight * Math.min(rank, 10)
      return { read, own, context, score }
    })
  })
  return { units: units.toSorted((left, right) => right.score - left.score), shareOf, has }
}
