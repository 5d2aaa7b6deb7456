import type { Question } from './extractive-model-question.ts'
import { isDangling, namePattern, type Candidate, type Scored } from './extractive-model-score.ts'
import { termSet } from './extractive-model-terms.ts'

/** Sentences, items or code that belong together, in the order of their source. */
export interface Group {
  readonly units: readonly Candidate[]
}

const counts: Partial<Record<Question['kind'], number>> = {
  definition: 3,
  difference: 5,
  how: 3,
  overview: 6,
  more: 4,
  why: 3,
  other: 3,
}
const characterLimit = 900
const listLimit = { items: 10, characters: 1_100 }
const codeLimit = { lines: 25, characters: 1_200 }

const overlap = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  let shared = 0
  for (const term of one) if (other.has(term)) shared++
  return shared / (Math.min(one.size, other.size) || 1)
}

const follows = (unit: Candidate, other: Candidate): boolean =>
  unit.kind === 'sentence' &&
  unit.passage === other.passage &&
  unit.block === other.block &&
  unit.index - other.index === 1

/** Whether the passages answer at all: most of what was asked for is spoken of in one place, or nearly all in one passage. */
export function isAnswered({ candidates, weights }: Scored): boolean {
  const best = Math.max(0, ...candidates.map((unit) => unit.coverage))
  if (weights.size === 0) return false
  if (best >= (weights.size > 4 ? 0.4 : 0.5)) return true
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const passages = new Map<unknown, Set<string>>()
  for (const { passage, terms } of candidates) {
    const own = passages.get(passage) ?? termSet(passage.title)
    passages.set(passage, own)
    for (const term of terms) own.add(term)
  }
  return [...passages.values()].some((terms) => {
    const covered = [...weights].reduce((sum, [term, weight]) => sum + (terms.has(term) ? weight : 0), 0)
    return covered / total >= 0.7
  })
}

/** Picks the best units that say different things; the first is the best one. */
function pick(
  pool: readonly Candidate[],
  count: number,
  bar: (unit: Candidate, first: Candidate) => number = () => 0.6,
): Candidate[] {
  const chosen: Candidate[] = []
  const open = pool.filter((unit) => !chosen.includes(unit))
  const best = Math.max(0, ...pool.map((unit) => unit.score))
  let length = chosen.reduce((sum, unit) => sum + unit.text.length, 0)
  while (chosen.length < count && open.length > 0) {
    let next: Candidate | undefined
    let value = 0
    for (const unit of open) {
      const alike = Math.max(0, ...chosen.map((other) => overlap(unit.terms, other.terms)))
      if (alike > 0.8) continue
      const gain =
        unit.score * (1 - 0.45 * alike) +
        (chosen.some((other) => follows(unit, other)) ? 0.22 : chosen.some((other) => follows(other, unit)) ? 0.1 : 0)
      if (gain > value) [next, value] = [unit, gain]
    }
    const [first] = chosen
    if (
      !next ||
      (first && value < bar(next, first) * best) ||
      length + next.text.length > characterLimit + (chosen.length === 0 ? 1_000 : 0)
    )
      break
    chosen.push(next)
    open.splice(open.indexOf(next), 1)
    length += next.text.length
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
  const worth = (unit: Candidate, side: number): number =>
    names.get(unit)?.[side] ? (0.4 + 1.5 * (unit.defines[side] ?? 0) + 0.2 * unit.coverage) * unit.quality : 0
  const sides: Candidate[] = []
  for (const side of [0, 1]) {
    const [best] = pool
      .filter((unit) => !sides.includes(unit) && (!names.get(unit)?.[1 - side] || (unit.defines[side] ?? 0) >= 0.4))
      .toSorted((one, other) => worth(other, side) - worth(one, side))
    if (best && worth(best, side) >= 0.55) sides.push(best)
  }
  const both = pool.filter((unit) => !sides.includes(unit) && names.get(unit)?.every(Boolean))
  const chosen = [...sides, ...pick(both, 4 - sides.length)]
  return chosen.length > 0 ? chosen : pick(pool, 3)
}

/** Gives sentences that lean on the one before them that one, or leaves them out. */
function withFooting(chosen: readonly Candidate[], excluded: (unit: Candidate) => boolean): Candidate[] {
  const kept = new Set<Candidate>()
  for (const unit of chosen) {
    const support: Candidate[] = []
    let at: Candidate | undefined = unit
    while (at && at.kind === 'sentence' && isDangling(at.text) && support.length < 2 && !kept.has(at)) {
      const before: Candidate | undefined = at.before
      if (!before || excluded(before) || before.text.endsWith('?')) break
      support.push(before)
      at = before
    }
    const stands = !at || !isDangling(at.text) || kept.has(at)
    if (stands || kept.size === 0) for (const one of [...support, unit]) kept.add(one)
  }
  return [...kept]
}

/** All items of the list an item belongs to, when it is short enough to be given whole; else that item. */
function wholeList(question: Question, item: Candidate, candidates: readonly Candidate[]): readonly Candidate[] {
  const isWanted = item.nearShare >= 0.7 || (question.kind === 'how' && item.lead !== undefined)
  if (!isWanted || (item.lead === undefined && item.kind === 'item' && !question.isPlural)) return [item]
  const list = candidates.filter(
    (unit) => unit.kind === item.kind && unit.passage === item.passage && unit.lead === item.lead,
  )
  const at = list.indexOf(item)
  let [from, to] = [at, at]
  while (from > 0 && list[from]!.block - list[from - 1]!.block === 1) from--
  while (to < list.length - 1 && list[to + 1]!.block - list[to]!.block === 1) to++
  const whole = list.slice(from, to + 1)
  const characters = whole.reduce((sum, unit) => sum + unit.text.length, 0)
  return whole.length <= listLimit.items && characters <= listLimit.characters ? whole : [item]
}

/** The code that shows best what was asked, near the chosen text if possible. */
function pickCode(question: Question, scored: Scored, chosen: readonly Candidate[]): Candidate | undefined {
  if (!question.wantsCode) return undefined
  const fits = scored.candidates.filter(
    (unit) =>
      unit.kind === 'code' &&
      unit.language !== 'yaml' &&
      !/^(?:output|text|txt|plaintext)$/.test(unit.language ?? '') &&
      unit.text.length <= codeLimit.characters &&
      unit.text.split('\n').length <= codeLimit.lines,
  )
  let best: Candidate | undefined
  let value = 0
  for (const unit of fits) {
    const near = chosen.filter(
      (other) => other.passage === unit.passage && other.headings.join() === unit.headings.join(),
    )
    const steps = Math.min(
      99,
      ...near.map((other) => (unit.block > other.block ? unit.block - other.block : 4 + other.block - unit.block)),
    )
    const isSyntax = /^syntax$/i.test(unit.headings.at(-2) ?? unit.headings.at(-1) ?? '')
    const isShort = unit.text.split('\n').length <= 8
    const own =
      unit.score * (isSyntax ? 0.6 : 1) * (unit.language ? 1 : 0.8) +
      0.8 * unit.nearShare +
      (steps < 9 ? 0.4 - 0.04 * steps : 0) +
      (isShort ? 0.1 : 0)
    if (own > value && (steps < 4 || unit.nearShare >= 0.6 || unit.coverage >= 0.7)) [best, value] = [unit, own]
  }
  return best
}

function toGroups(units: readonly Candidate[]): Candidate[][] {
  const groups: Candidate[][] = []
  for (const unit of units) {
    const own = groups.find((group) =>
      group.some(
        (other) =>
          other.passage === unit.passage && Math.abs(other.block - unit.block) <= 1 && other.kind === unit.kind,
      ),
    )
    if (own) own.push(unit)
    else groups.push([unit])
  }
  for (const group of groups) group.sort((one, other) => one.order - other.order)
  return groups
}

/**
 * Chooses what to quote. Groups come in reading order, the one that holds the best answer first; code comes last.
 * @param excluded units that must not be quoted, such as those an earlier answer gave
 */
export function select(question: Question, scored: Scored, excluded: (unit: Candidate) => boolean): readonly Group[] {
  const pool = scored.candidates
    .filter((unit) => unit.kind !== 'code' && unit.score > 0 && !excluded(unit))
    .toSorted((one, other) => other.score - one.score)
    .slice(0, 120)
  const picked =
    question.kind === 'difference' ? pickDifference(question, pool) : pick(pool, counts[question.kind] ?? 2)
  const code = pickCode(question, scored, picked)
  const footed = withFooting(picked, excluded)
  const units = [
    ...new Set(
      footed.flatMap((unit) => (unit.kind !== 'sentence' ? wholeList(question, unit, scored.candidates) : [unit])),
    ),
  ]
  return [...toGroups(units), ...(code ? [[code]] : [])].map((group) => ({ units: group }))
}
