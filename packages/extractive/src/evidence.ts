import { isLike, isNear, keysOf, spaceless, type Unit, unitsOf, wordPattern } from '@inlay/text'
import { fitOf, isOfKind } from './answer-kind.ts'
import type { Question } from './question.ts'

/** A passage as a search gives it to the model. */
export interface SourcePassage {
  /** Citation number; undefined for text that cannot be cited, such as an earlier answer. */
  readonly number: number | undefined
  readonly title: string
  /** Headings above it, outermost first, joined by ` > `; absent when the content holds its headings. */
  readonly section?: string
  readonly content: string
  /** When it was changed last, as ISO 8601; absent when unknown. */
  readonly updatedAt?: string
}

/** A unit of a passage with its words. */
export interface ReadUnit {
  readonly unit: Unit
  readonly passage: ReadPassage
  /** Position among the units of its passage, from 0. */
  readonly at: number
  readonly keys: ReadonlySet<string>
  /** Keys of the nearest heading and of the sentence that leads to it. */
  readonly above: ReadonlySet<string>
  readonly pairs: ReadonlySet<string>
}

export interface ReadPassage {
  readonly source: SourcePassage
  /** Position among the results, from 0. */
  readonly rank: number
  readonly units: readonly ReadUnit[]
  /** Keys of its title and section. */
  readonly head: ReadonlySet<string>
  /** Keys of everything in it. */
  readonly all: ReadonlySet<string>
}

/** A unit and how well it answers. */
export interface Weighed {
  readonly read: ReadUnit
  /** Share of the topic in the unit itself, and in it with its headings and neighbours; 0 to 1. */
  readonly own: number
  readonly context: number
  /** Comparable among the units of one question only. */
  readonly score: number
}

export interface Evidence {
  /** Best first. */
  readonly units: readonly Weighed[]
  /** How much of the question the best place of the passages speaks of, 0 to 1. */
  readonly support: number
  /** Keys of names and numbers of the question that stand in no passage. */
  readonly missing: readonly string[]
  /** Share of the question that these sets of keys speak of together, 0 to 1. */
  readonly shareOf: (...sets: readonly ReadonlySet<string>[]) => number
  readonly has: (set: ReadonlySet<string>, key: string) => boolean
}

/** The heading a unit stands under, else the title of its page. */
export const headingOf = ({ unit, passage: { source } }: ReadUnit): string =>
  unit.headings.at(-1) || source.section?.split(' > ').at(-1) || source.title

/** Reads passages unit by unit; a text found twice is read once, where it ranks best. */
export function readPassages(sources: readonly SourcePassage[]): ReadPassage[] {
  const seen = new Set<string>()
  return sources.map((source, rank) => {
    const units: ReadUnit[] = []
    const head = new Set(keysOf(`${source.title} ${source.section ?? ''}`))
    const all = new Set(head)
    const passage: ReadPassage = { source, rank, units, head, all }
    for (const unit of unitsOf(source.content)) {
      const isRepeat = unit.kind !== 'code' && seen.has(unit.text)
      seen.add(unit.text)
      if (isRepeat) continue
      const list = keysOf(unit.code ? `${unit.text} ${unit.code.text}` : unit.text)
      const above = keysOf(`${unit.headings.join(' ')} ${unit.lead ?? ''} ${unit.table?.header.join(' ') ?? ''}`)
      for (const key of [...list, ...above]) all.add(key)
      const pairs = new Set(list.slice(1).map((key, at) => `${list[at]} ${key}`))
      units.push({ unit, passage, at: units.length, keys: new Set(list), above: new Set(above), pairs })
    }
    return passage
  })
}

/** The idf of BM25. */
const rarity = (count: number, holding: number): number => Math.log(1 + (count - holding + 0.5) / (holding + 0.5))

/** Text assumed to exist beside the results, or rarity would mean nothing among a few passages on one topic. */
const assumed = { units: 30, passages: 8 }

/** A word that is only spelt alike counts less than the word itself. */
const alikeShare = 0.7

/** Words of a question that are compared for slips. */
const maxComparedWords = 200

/** How much each key of the question counts, and which keys of the passages stand for it. */
function weighTopic({ topic, text }: Question, passages: readonly ReadPassage[]) {
  const vocabulary = new Set(passages.flatMap(({ all }) => [...all]))
  const alike = new Map(
    topic.map((key) => [key, vocabulary.has(key) ? [] : [...vocabulary].filter((other) => isLike(key, other))]),
  )
  // A slip may change the ending that a key leaves out, so whole words are compared too.
  let words: Set<string> | undefined
  for (const word of (text.toLowerCase().match(wordPattern) ?? []).slice(-maxComparedWords)) {
    const [key = ''] = keysOf(word)
    const others = alike.get(key)
    if (!others || vocabulary.has(key) || spaceless.test(word) || /\P{L}/u.test(word)) continue
    words ??= new Set(
      passages.flatMap(({ units }) => units.flatMap(({ unit }) => unit.text.toLowerCase().match(wordPattern) ?? [])),
    )
    for (const other of words) if (isNear(word, other)) others.push(...keysOf(other))
  }
  const has = (set: ReadonlySet<string>, key: string): boolean =>
    set.has(key) || (alike.get(key)?.some((other) => set.has(other)) ?? false)
  const unitCount = passages.reduce((sum, { units }) => sum + units.length, 0)
  const worth = new Map<string, number>()
  for (const key of topic) {
    const inPassages = passages.filter(({ all }) => has(all, key)).length
    const inUnits = passages.reduce((sum, { units }) => sum + units.filter(({ keys }) => has(keys, key)).length, 0)
    worth.set(
      key,
      (rarity(unitCount + assumed.units, inUnits) + rarity(passages.length + assumed.passages, inPassages)) / 2,
    )
  }
  const total = [...worth.values()].reduce((sum, value) => sum + value, 0) || 1
  const shareOf = (...sets: readonly ReadonlySet<string>[]): number => {
    let sum = 0
    for (const [key, value] of worth)
      if (sets.some((set) => set.has(key))) sum += value
      else if (sets.some((set) => has(set, key))) sum += alikeShare * value
    return sum / total
  }
  return { worth, total, has, shareOf }
}

/** Commands share words with many questions that they do not answer, so they need more of them. */
const instructionPenalty = 0.25

/** Words on either side of a number or a name that belong to it. */
const reach = 6

/** Weighs what passages say to a question in any language. */
export function weighEvidence(question: Question, passages: readonly ReadPassage[]): Evidence {
  const { worth, total, has, shareOf } = weighTopic(question, passages)
  const questionKeys = keysOf(question.text)
  const known = new Set(question.topic)
  const pairs = questionKeys.slice(1).flatMap((key, at) => {
    const before = questionKeys[at] ?? ''
    return known.has(key) || known.has(before) ? [`${before} ${key}`] : []
  })
  /** The largest share of the topic within reach of a word of the kind that is asked for. */
  const nearness = (text: string): number => {
    const tokens = (text.match(wordPattern) ?? []).map((token) => ({ token, keys: keysOf(token) }))
    let best = 0
    for (const [at, { token, keys }] of tokens.entries()) {
      if (!isOfKind(question.kind, token) || keys.some((key) => known.has(key))) continue
      const nearby = new Set(tokens.slice(Math.max(0, at - reach), at + reach + 1).flatMap((other) => other.keys))
      let sum = 0
      for (const [key, value] of worth) if (nearby.has(key)) sum += value
      best = Math.max(best, sum / total)
    }
    return best
  }
  const fits = (text: string): number =>
    fitOf(
      question.kind,
      text.replace(wordPattern, (word) => (known.has(keysOf(word)[0] ?? '') ? ' ' : word)),
    )

  let support = 0
  const units = passages.flatMap((passage) => {
    return passage.units.map((read, at): Weighed => {
      const [before, after] = [passage.units[at - 1]?.keys, passage.units[at + 1]?.keys]
      const own = shareOf(read.keys)
      const context = shareOf(
        read.keys,
        passage.head,
        read.above,
        ...(before ? [before] : []),
        ...(after ? [after] : []),
      )
      const together = pairs.filter((pair) => read.pairs.has(pair)).length / (pairs.length || 1)
      const near = question.kind && read.unit.kind !== 'code' ? nearness(read.unit.text) : 0
      const fit = fits(read.unit.text)
      const isInstruction = question.form === 'steps' || read.unit.kind === 'code' || read.unit.code !== undefined
      const score = own + 0.5 * context + 0.5 * together + 0.5 * near + 0.15 * fit - 0.02 * Math.min(passage.rank, 10)
      if (question.kind !== 'number' || fit >= 0)
        support = Math.max(support, context - (isInstruction ? instructionPenalty : 0))
      return { read, own, context, score }
    })
  })
  const missing = question.names.filter((key) => !passages.some(({ all }) => has(all, key)))
  return { units: units.toSorted((left, right) => right.score - left.score), support, missing, shareOf, has }
}
