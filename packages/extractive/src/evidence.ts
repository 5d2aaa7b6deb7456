import { isLike, isNear, keysOf, spaceless, type Unit, unitsOf, wordPattern } from '@inlay/text'
import { fitOf, isOfKind } from './answer-kind.ts'
import type { Question } from './question.ts'

/** A search result as the model receives it. */
export interface SourcePassage {
  /** Citation number; undefined for text that cannot be cited, such as an earlier answer. */
  readonly number: number | undefined
  readonly title: string
  /** Headings above it, outermost first, joined by ` > `; absent if the content contains its headings. */
  readonly section?: string
  readonly content: string
  /** Time of the last change, as ISO 8601; absent if unknown. */
  readonly updatedAt?: string
}

/** A unit of a passage with its keys. */
export interface ReadUnit {
  readonly unit: Unit
  readonly passage: ReadPassage
  /** Index among the units of its passage. */
  readonly at: number
  readonly keys: ReadonlySet<string>
  /** Keys of the nearest heading and of the sentence that introduces it. */
  readonly above: ReadonlySet<string>
  readonly pairs: ReadonlySet<string>
}

export interface ReadPassage {
  readonly source: SourcePassage
  /** Rank among the results, from 0. */
  readonly rank: number
  readonly units: readonly ReadUnit[]
  /** Keys of its title and section. */
  readonly head: ReadonlySet<string>
  /** Keys of the whole passage. */
  readonly all: ReadonlySet<string>
}

/** A unit with its scores. */
export interface Weighed {
  readonly read: ReadUnit
  /** Share of the topic in the unit itself, and including its headings and neighbours; 0 to 1. */
  readonly own: number
  readonly context: number
  /** Only comparable among the units of one question. */
  readonly score: number
  /** The part of the score that its page gets for its title. */
  readonly bonus: number
}

export interface Evidence {
  /** Best first. */
  readonly units: readonly Weighed[]
  /** Share of the question that the best place covers, 0 to 1. */
  readonly support: number
  /** Keys of names and numbers of the question that occur in no passage. */
  readonly missing: readonly string[]
  /** Share of the question that these sets of keys cover together, 0 to 1. */
  readonly shareOf: (...sets: readonly ReadonlySet<string>[]) => number
  readonly has: (set: ReadonlySet<string>, key: string) => boolean
  /** Share of the signs and options of the question that a unit contains; 1 if there are none. */
  readonly literalShare: (read: ReadUnit) => number
}

/** The heading above a unit, otherwise the title of its page. */
export const headingOf = ({ unit, passage: { source } }: ReadUnit): string =>
  unit.headings.at(-1) || source.section?.split(' > ').at(-1) || source.title

/** Splits passages into units. A repeated text is read once, at its best rank. */
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

/** Inverse document frequency of BM25. */
const rarity = (count: number, holding: number): number => Math.log(1 + (count - holding + 0.5) / (holding + 0.5))

/** Assumed size of the corpus outside the results: among a few passages on one topic, rarity would mean nothing. */
const assumed = { units: 30, passages: 8 }

/** Weight of a word with a similar spelling, relative to the word itself. */
const alikeShare = 0.7

/** Maximum number of words of a question that are checked for misspellings. */
const maxComparedWords = 200

/** Weights each key of the question, and finds the keys of the passages that match it. */
function weighTopic({ topic, text }: Question, passages: readonly ReadPassage[]) {
  const vocabulary = new Set(passages.flatMap(({ all }) => [...all]))
  const alike = new Map(
    topic.map((key) => [key, vocabulary.has(key) ? [] : [...vocabulary].filter((other) => isLike(key, other))]),
  )
  // A misspelling may be in the ending that a key omits, so whole words are compared too.
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

/** Commands share words with many questions that they do not answer, so they have to match more of them. */
const instructionPenalty = 0.3

/** Weight of each rank in the search results, for the first ten: search knows more than a comparison of words. */
const rankWeight = 0.15

/** A heading that says more than the question is about a special case. */
const extraPenalty = 0.04

/** Added to units of a page whose whole title stands in the question, and to units with its signs and options. */
const [titleBonus, literalBonus] = [0.3, 0.6]

/** Number of words before and after a number or name that count as related. */
const reach = 6

/** Scores how well passages answer a question in any language. */
export function weighEvidence(question: Question, passages: readonly ReadPassage[]): Evidence {
  const { worth, total, has, shareOf } = weighTopic(question, passages)
  const questionKeys = keysOf(question.text)
  const known = new Set(question.topic)
  const pairs = questionKeys.slice(1).flatMap((key, at) => {
    const before = questionKeys[at] ?? ''
    return known.has(key) || known.has(before) ? [`${before} ${key}`] : []
  })
  /** The largest share of the topic near a word of the kind that is asked for. */
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

  const patterns = question.literals.map(
    (literal) => new RegExp(`(?<![\\w$-])${literal.replace(/[^\p{L}\p{N}]/gu, '\\$&')}(?![\\w-])`, 'i'),
  )
  const literalShare = ({ unit, passage: { source } }: ReadUnit): number => {
    if (patterns.length === 0) return 1
    const text = `${unit.headings.join(' ')} ${source.section} ${unit.lead} ${unit.text} ${unit.code?.text}`
    return patterns.filter((pattern) => pattern.test(text)).length / patterns.length
  }

  let support = 0
  const isCode = ({ unit }: ReadUnit): boolean => unit.kind === 'code' || unit.code !== undefined
  const units = passages.flatMap((passage) => {
    const isManual = passage.units.filter(isCode).length * 2 > passage.units.length
    const title = keysOf(passage.source.title)
    const bonus = title.length > 0 && title.every((key) => known.has(key)) ? titleBonus : 0
    return passage.units.map((read, at): Weighed => {
      // Only sentences continue the previous one: items and commands stand alone.
      const isProse = read.unit.kind === 'sentence' || (read.unit.kind === 'item' && !read.unit.code)
      const [before, after] = isProse ? [passage.units[at - 1]?.keys, passage.units[at + 1]?.keys] : []
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
      const heading = headingOf(read)
      const extra = heading === passage.source.title ? 0 : keysOf(heading).filter((key) => !known.has(key)).length
      const isInstruction = isManual || isCode(read)
      const score =
        own +
        0.5 * context +
        0.5 * together +
        0.5 * near +
        0.3 * fit -
        rankWeight * Math.min(passage.rank, 10) +
        bonus +
        (patterns.length > 0
          ? literalBonus *
            literalShare(read) *
            (patterns.some((pattern) => pattern.test(heading)) ? 1 : isCode(read) ? 0.4 : 0.7)
          : 0) -
        extraPenalty * Math.min(5, extra)
      if (question.kind !== 'number' || fit >= 0)
        support = Math.max(support, context - (isInstruction ? instructionPenalty : 0))
      return { read, own, context, score, bonus }
    })
  })
  const missing = question.names.filter((key) => !passages.some(({ all }) => has(all, key)))
  return {
    units: units.toSorted((left, right) => right.score - left.score),
    support,
    missing,
    shareOf,
    has,
    literalShare,
  }
}
