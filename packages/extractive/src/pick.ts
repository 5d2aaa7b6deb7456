import type { Question } from './question.ts'
import { namePattern, standsAlone } from './names.ts'
import type { Candidate } from './passages.ts'
import { isNarration } from './phrases.ts'

const counts: Partial<Record<Question['kind'], number>> = {
  definition: 3,
  how: 3,
  overview: 6,
  more: 4,
  why: 3,
  other: 3,
}
const characterLimit = 900
// Sentences that share more of their words than this say the same.
const mostAlike = 0.8

const overlap = (left: ReadonlySet<string>, right: ReadonlySet<string>): number => {
  let shared = 0
  for (const term of left) if (right.has(term)) shared++
  return shared / (Math.min(left.size, right.size) || 1)
}

const follows = (unit: Candidate, other: Candidate): boolean =>
  unit.kind === 'sentence' &&
  unit.passage === other.passage &&
  unit.block === other.block &&
  unit.index - other.index === 1

/**
 * What a unit adds to those chosen: less the more it repeats, more if it reads on from one of them.
 * @param alike how much of it one of them shares at most
 */
function gainOf(unit: Candidate, chosen: readonly Candidate[], alike: number): number {
  if (alike > mostAlike) return 0
  const isNext = !isNarration(unit.text) && chosen.some((other) => follows(unit, other))
  const isBefore = chosen.some((other) => follows(other, unit))
  return unit.score * (1 - 0.45 * alike) + (isNext ? 0.3 : isBefore ? 0.1 : 0)
}

/** Picks the best units that say different things, best first; `bar` is the share of the best gain they have to reach. */
function pickBest(
  pool: readonly Candidate[],
  count: number,
  bar: (unit: Candidate, first: Candidate) => number = () => 0.6,
  limit: number = characterLimit,
): Candidate[] {
  const chosen: Candidate[] = []
  const best = Math.max(0, ...pool.map((unit) => unit.score))
  const alike = new Map<Candidate, number>()
  let length = 0
  while (chosen.length < count) {
    const [first] = chosen
    const fits = ({ unit, gain }: { unit: Candidate; gain: number }): boolean =>
      !first || (gain >= bar(unit, first) * best && length + unit.text.length <= limit)
    const next = pool
      .filter((unit) => !chosen.includes(unit))
      .map((unit) => ({ unit, gain: gainOf(unit, chosen, alike.get(unit) ?? 0) }))
      .filter(fits)
      .reduce((most: { unit?: Candidate; gain: number }, next) => (next.gain > most.gain ? next : most), { gain: 0 })
    if (!next.unit) break
    chosen.push(next.unit)
    length += next.unit.text.length
    const { terms } = next.unit
    for (const unit of pool) alike.set(unit, Math.max(alike.get(unit) ?? 0, overlap(unit.terms, terms)))
  }
  return chosen
}

/** Patterns of both things of a comparison; one that is part of the other's name is not meant within it. */
function sidePatterns(question: Question, pool: readonly Candidate[]): readonly RegExp[] {
  return question.subjects.map((own, index) => {
    const rival = (question.subjects[1 - index] ?? '').toLowerCase()
    const at = rival.indexOf(own.toLowerCase())
    const rest = at === -1 || rival === own.toLowerCase() ? '' : rival.slice(at + own.length).trim()
    const name = namePattern(own) + (rest ? `(?![\\s\`-]+${rest.replace(/[^\w\s]/g, '.').replace(/s?$/, '')})` : '')
    const exact = new RegExp(name)
    const isNamed = /\p{Lu}/u.test(own) && pool.some((unit) => exact.test(unit.text))
    return isNamed ? exact : new RegExp(name, 'i')
  })
}

/** Says of both things what they are, and adds what speaks of both. */
function pickDifference(question: Question, pool: readonly Candidate[]): Candidate[] {
  const patterns = sidePatterns(question, pool)
  const names = new Map(pool.map((unit) => [unit, patterns.map((pattern) => pattern.test(unit.text))]))
  const worth = (unit: Candidate, side: number): number => {
    if (!names.get(unit)?.[side]) return 0
    const isTitle = patterns[side]?.test(unit.passage.title) ? 0.2 : 0
    return (0.4 + 1.5 * (unit.defines[side] ?? 0) + 0.2 * unit.coverage + isTitle) * unit.quality
  }
  const sides: Candidate[] = []
  for (const side of [0, 1]) {
    const [best] = pool
      .filter((unit) => !sides.includes(unit) && (!names.get(unit)?.[1 - side] || (unit.defines[side] ?? 0) >= 0.4))
      .toSorted((first, second) => worth(second, side) - worth(first, side))
    if (best && worth(best, side) >= 0.55) sides.push(best)
  }
  // Of sentences that name both, those that begin with neither are about a third thing.
  const opens = (unit: Candidate): boolean => patterns.some((pattern) => pattern.test(unit.text.slice(0, 60)))
  const alone = patterns.map((pattern) => standsAlone(pattern.source))
  const both = pool.filter(
    (unit) =>
      !sides.includes(unit) &&
      names.get(unit)?.every(Boolean) &&
      opens(unit) &&
      alone.every((pattern) => pattern.test(unit.text)),
  )
  const chosen = [...sides, ...pickBest(both, 4 - sides.length)]
  return chosen.length > 0 ? chosen : pickBest(pool, 3)
}

const reportLimit = { units: 10, characters: 2_500, ofPassage: 5 }

/**
 * Picks all that bears on a question, for a report: more than an answer needs, and not all of it from one place.
 * @param taken what has been picked before: nothing like it is picked again
 */
export function pickBroadly(pool: readonly Candidate[], taken: readonly Candidate[]): readonly Candidate[] {
  const counts = new Map<unknown, number>()
  const spread = pool.filter((unit) => {
    const count = (counts.get(unit.passage) ?? 0) + 1
    counts.set(unit.passage, count)
    return count <= reportLimit.ofPassage * 2
  })
  const fresh = spread.filter((unit) => taken.every((other) => overlap(unit.terms, other.terms) <= mostAlike))
  return pickBest(fresh, reportLimit.units, () => 0.6, reportLimit.characters)
}

/**
 * Picks the units that answer, in order of worth. They may lean on others that were not picked.
 * @param pool what may be quoted, best first
 */
export function pick(question: Question, pool: readonly Candidate[]): readonly Candidate[] {
  if (question.kind === 'difference') return pickDifference(question, pool)
  // More about a thing is best taken from where it is defined, and best of all from the sentence behind.
  const bar = (unit: Candidate, first: Candidate): number => {
    if (question.kind !== 'definition') return question.kind === 'how' ? 0.65 : 0.6
    if (unit.passage.number !== first.passage.number) return unit.defines.some((worth) => worth >= 0.35) ? 0.7 : 0.8
    // What stands before it in its paragraph only leads up to it.
    if (unit.passage === first.passage && unit.block === first.block && unit.index < first.index) return Infinity
    return follows(unit, first) ? 0.4 : 0.6
  }
  return pickBest(pool, counts[question.kind] ?? 2, bar)
}
