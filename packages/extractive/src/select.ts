import { pick } from './pick.ts'
import type { Question } from './question.ts'
import type { Candidate } from './passages.ts'
import { isDangling, isNarration } from './phrases.ts'
import { listFit, type Scored } from './score.ts'
import { termSet } from './terms.ts'

/** Sentences, items or code that belong together, in the order of their source. */
export interface Group {
  readonly units: readonly Candidate[]
}

const poolLimit = 120
const listLimit = { items: 12, characters: 1_100 }
const codeLimit = { lines: 25, characters: 1_200 }

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

/** Gives sentences that lean on the one before them that one, or leaves them out. */
function withFooting(chosen: readonly Candidate[], excluded: (unit: Candidate) => boolean): Candidate[] {
  const kept = new Set<Candidate>()
  for (const unit of chosen) {
    const support: Candidate[] = []
    let at: Candidate | undefined = unit
    while (at && at.kind === 'sentence' && isDangling(at.text) && support.length < 2 && !kept.has(at)) {
      const before: Candidate | undefined = at.before
      if (!before || excluded(before) || before.text.endsWith('?') || isNarration(before.text)) break
      support.push(before)
      at = before
    }
    const stands = !at || !isDangling(at.text) || kept.has(at)
    if (stands || kept.size === 0) for (const member of [...support, unit]) kept.add(member)
  }
  return [...kept]
}

/**
 * All items of the list an item belongs to, when it is short enough to be given whole; else that item.
 * @param isBroad whether a list that something leads to is always given whole
 */
function wholeList(
  question: Question,
  item: Candidate,
  candidates: readonly Candidate[],
  isBroad: boolean,
): readonly Candidate[] {
  const isWanted = item.nearFit >= listFit || ((isBroad || question.kind === 'how') && item.lead !== undefined)
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

const commandLanguage = /^(?:console|sh|bash|shell|zsh|powershell|pwsh|ps1|cmd|bat|sql)$/
const outputLanguage = /^(?:output|text|txt|plaintext|yaml)$/

function isShowable(unit: Candidate): boolean {
  if (unit.kind !== 'code' || outputLanguage.test(unit.language ?? '')) return false
  return unit.text.length <= codeLimit.characters && unit.text.split('\n').length <= codeLimit.lines
}

/** How well code shows what was asked; 0 when it stands too far from what was chosen. */
function worthOfCode(unit: Candidate, chosen: readonly Candidate[]): number {
  const near = chosen.filter(
    (other) => other.passage === unit.passage && other.headings.join() === unit.headings.join(),
  )
  // Code mostly stands behind the text it belongs to.
  const steps = near.map(({ block }) => (unit.block > block ? unit.block - block : 4 + block - unit.block))
  const distance = Math.min(99, ...steps)
  const isOfDocument = chosen.some((other) => other.passage.number === unit.passage.number)
  if (distance >= 4 && unit.nearShare < 0.7 && !(unit.coverage >= 0.7 && isOfDocument)) return 0
  const isSyntax = /^syntax$/i.test(unit.headings.at(-2) ?? unit.headings.at(-1) ?? '')
  const isCommand =
    commandLanguage.test(unit.language ?? '') || /\b(?:run|enter|type|execute)\b[^.]*:$/i.test(unit.lead ?? '')
  let worth = unit.score * (isSyntax ? 0.6 : 1) * (unit.language ? 1 : 0.8) + 0.8 * unit.nearShare
  if (distance < 9) worth += 0.4 - 0.04 * distance
  if (unit.text.split('\n').length <= 8) worth += 0.1
  return worth + (isCommand ? 0.25 : 0)
}

/** The code that shows best what was asked, near the chosen text if possible. */
function pickCode(question: Question, scored: Scored, chosen: readonly Candidate[]): Candidate | undefined {
  if (!question.wantsCode) return undefined
  const worth = scored.candidates.filter(isShowable).map((unit) => ({ unit, worth: worthOfCode(unit, chosen) }))
  const [best] = worth.filter(({ worth }) => worth > 0).toSorted((first, second) => second.worth - first.worth)
  return best?.unit
}

/** Units that stand together in their source, in its order. */
export function toGroups(units: readonly Candidate[]): Candidate[][] {
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
  for (const group of groups) group.sort((first, second) => first.order - second.order)
  return groups
}

/**
 * Chooses what to quote. Groups come in reading order, the one that holds the best answer first; code comes last.
 * @param excluded units that must not be quoted, such as those an earlier answer gave
 * @param pickUnits how much is taken; by default what answers briefly
 */
export function select(
  scored: Scored,
  excluded: (unit: Candidate) => boolean,
  pickUnits: typeof pick = pick,
): readonly Group[] {
  const { question } = scored
  const pool = scored.candidates
    .filter((unit) => unit.kind !== 'code' && unit.score > 0 && !excluded(unit))
    .toSorted((first, second) => second.score - first.score)
    .slice(0, poolLimit)
  const isBroad = pickUnits !== pick
  const picked = pickUnits(question, pool)
  const footed = withFooting(picked, excluded)
  const lists = footed.map((unit) =>
    unit.kind === 'sentence' ? [unit] : wholeList(question, unit, scored.candidates, isBroad),
  )
  // A list of what was asked for is the whole answer.
  const full =
    question.isPlural && !isBroad
      ? lists.find((list) => list.length > 1 && (list[0]?.nearFit ?? 0) >= listFit)
      : undefined
  const code = full ? undefined : pickCode(question, scored, picked)
  const groups = toGroups(full ?? [...new Set(lists.flat())])
  return [...groups, ...(code ? [[code]] : [])].map((units) => ({ units }))
}
