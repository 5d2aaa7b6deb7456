import { definitionPatterns, namePattern, standsAlone } from './names.ts'
import { collect, isSummary, nearestHeading, type Candidate, type SourcePassage } from './passages.ts'
import { hasClue, isDangling, isNarration, isPointing } from './phrases.ts'
import type { Question } from './question.ts'
import { stopWords, stem, termSet, wordsOf } from '@inlay/text'
import { weighTerms, type Weights } from './weights.ts'

/** Everything quotable of the passages, with scores. */
export interface Scored extends Weights {
  readonly candidates: readonly Candidate[]
}

/** From this share on a heading or leading sentence is about what was asked, see `nearFit`. */
export const listFit = 0.45

// A term of this weight or more belongs to the topic; lighter ones only tell what kind of answer is wanted.
const topicWeight = 0.35

/** How good a unit is to read, whatever was asked: complete, on its own, neither too short nor too long. */
function qualityOf(unit: Candidate, rankLoss: number): number {
  const { text, kind } = unit
  const count = wordsOf(text).length
  let factor = 1 - rankLoss * Math.min(unit.rank, 15)
  if (unit.rank === 0 && unit.order < 2) factor *= 1.05
  if (kind === 'code') return factor
  if (/\?["”’)]*$/.test(text)) factor *= 0.45
  if (text.endsWith(':') && !unit.code) factor *= 0.7
  if (isNarration(text)) factor *= 0.6
  if (isPointing(text)) factor *= 0.75
  if (isDangling(text)) factor *= 0.85
  if (/^[\p{Ll}…,;)]/u.test(text) && kind === 'sentence') factor *= 0.6
  if (kind === 'sentence' && !/[.!?…:。！？]["”’)\]`]*$/.test(text)) factor *= 0.6
  if (/^\(.*\)\.?$/.test(text)) factor *= 0.7
  if (/\b(?:us|we|we['’]\w+|our|let['’]s)\b/i.test(text)) factor *= 0.88
  if (/\b(?:this|these|those|such) (?!is|was|are|were|means|way\b)\w+/i.test(text)) factor *= 0.93
  if (unit.lead !== undefined && isNarration(unit.lead)) factor *= 0.5
  if (count < 6) factor *= kind === 'sentence' ? 0.55 : kind === 'item' && unit.lead === undefined ? 0.85 : 1
  if (count > 45) factor *= 0.8
  if (count > 70) factor *= 0.7
  if (text.endsWith('!')) factor *= 0.85
  return factor
}

/** Shares of the topic in sets of terms. */
interface Topic {
  /** Share of the topic that the terms speak of, 0 to 1. */
  shareOf(terms: ReadonlySet<string>): number
  /** The same, less where they mostly speak of something else. */
  fitOf(terms: ReadonlySet<string>): number
}

function createTopic(weights: ReadonlyMap<string, number>): Topic {
  const topic = [...weights].filter(([, weight]) => weight >= topicWeight)
  const sum = (terms: readonly (readonly [string, number])[]): number =>
    terms.reduce((all, [, weight]) => all + weight, 0)
  const whole = sum(topic) || 1
  const shareOf = (terms: ReadonlySet<string>): number => sum(topic.filter(([term]) => terms.has(term))) / whole
  return {
    shareOf,
    fitOf(terms) {
      const own = [...terms].filter((term) => !stopWords.has(term))
      const about = own.filter((term) => weights.has(term)).length
      return shareOf(terms) * (0.3 + (0.7 * about) / (own.length || 1))
    },
  }
}

/** Where a unit stands. */
interface Location {
  /** Terms of the title and all headings above. */
  readonly place: ReadonlySet<string>
  /** Terms of the nearest heading and the sentence that leads here. */
  readonly near: ReadonlySet<string>
  readonly nearShare: number
  readonly nearFit: number
  readonly titleShare: number
  readonly titleFit: number
}

/** Tells where units stand; units of one place share the answer. */
function createLocations(topic: Topic): (unit: Candidate) => Location {
  const known = new Map<string, Location>()
  return (unit) => {
    const { title, section = '' } = unit.passage
    const key = `${title}\n${section}\n${unit.headings.join('\n')}\n${unit.lead ?? ''}`
    const cached = known.get(key)
    if (cached) return cached
    const near = termSet(`${nearestHeading(unit, unit.passage) || title} ${unit.lead ?? ''}`)
    const location = {
      place: termSet(key),
      near,
      nearShare: topic.shareOf(near),
      nearFit: topic.fitOf(near),
      titleShare: topic.shareOf(termSet(title)),
      titleFit: topic.fitOf(termSet(title)),
    }
    known.set(key, location)
    return location
  }
}

/** What an unspoken word counts when it stands beside a unit: above it, leading to it, or in the sentence before. */
function nearness(term: string, unit: Candidate, { near, place }: Location): number {
  if (near.has(term)) return 0.7
  if (place.has(term)) return 0.5
  return unit.before?.terms.has(term) ? 0.4 : 0
}

/** Adds for what makes a unit an answer to this kind of question. */
function bonus(question: Question, unit: Candidate, location: Location, isAbout: boolean): number {
  const { nearFit, titleShare } = location
  let more = 0.15 * nearFit + 0.1 * titleShare
  if (unit.kind === 'code') return more
  const stems = wordsOf(unit.text).map(stem)
  const met = question.pairs.filter(([first, second]) =>
    stems.some((word, at) => word === first && stems[at + 1] === second),
  )
  if (question.pairs.length > 0) more += (0.2 * met.length) / question.pairs.length
  if (isAbout && hasClue(question.kind, unit.text)) more += question.kind === 'how' ? 0.1 : 0.2
  // What a sentence is about stands at its beginning.
  if (stems.slice(0, 6).some((word) => (question.terms.get(word) ?? 0) >= 0.7)) more += 0.1
  if (question.kind !== 'why' && subordinate.test(unit.text)) more -= 0.1
  return more + bonusOfKind(question, unit, location)
}

/** Whether a unit begins the page about what was asked: it says what that is, often without naming it. */
const opensPage = (unit: Candidate, { titleFit }: Location): boolean =>
  titleFit >= 0.9 && unit.order === 0 && unit.headings.length === 1

const subordinate = /^(?:because|when|if|although|while|since|as|after|before|once|just as)\b/i

function bonusOfKind(question: Question, unit: Candidate, location: Location): number {
  const { nearShare, nearFit, titleShare } = location
  const isOfSummary = opensPage(unit, location) || isSummary(unit, unit.passage)
  const { kind } = question
  const defines = Math.max(0, ...unit.defines)
  let more = defines
  if (kind === 'definition' && defines === 0 && !isOfSummary) more -= 0.15
  if (kind === 'definition' || kind === 'overview') {
    if (unit.order < 5) more += 0.15 * nearFit
    if (isOfSummary) more += titleShare >= 0.7 && unit.order < 3 ? 0.4 : 0.15
    if (/^example\b/i.test(unit.headings.at(-1) ?? '')) more -= 0.3
  }
  if (kind === 'how' && (nearShare >= 0.7 || (isOfSummary && titleShare >= 0.5))) more += 0.15
  if (unit.kind === 'sentence') return more
  const isWanted = question.isPlural && nearFit >= listFit
  return more + (isWanted ? 0.3 : unit.kind === 'item' && (question.isPlural || kind === 'how') ? 0 : -0.25)
}

/** In how many units of each passage the topic is spoken of. */
function densities(candidates: readonly Candidate[], topic: Topic): Map<SourcePassage, number> {
  const density = new Map<SourcePassage, number>()
  for (const { terms, passage } of candidates)
    if (topic.shareOf(terms) >= 0.5) density.set(passage, (density.get(passage) ?? 0) + 1)
  return density
}

function countTerms(sets: readonly ReadonlySet<string>[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const terms of sets) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

/** Scores everything quotable of the passages by how well it answers. */
export function scorePassages(
  original: Question,
  passages: readonly SourcePassage[],
  candidates: readonly Candidate[] = collect(passages, original.symbols),
): Scored {
  const titles = passages.map((passage) => passage.title)
  const vocabulary = countTerms([...candidates.map((unit) => unit.terms), ...titles.map(termSet)])
  const texts = [...candidates.map((unit) => unit.text), ...titles]
  const { question, weights, total } = weighTerms(original, vocabulary, candidates.length, texts)

  const topic = createTopic(weights)
  const density = densities(candidates, topic)
  const locationOf = createLocations(topic)
  const definitions = question.subjects.map(definitionPatterns)
  const alone = question.subjects.map((subject) => standsAlone(namePattern(subject.toLowerCase())))
  for (const unit of candidates) {
    const location = locationOf(unit)
    let inText = 0
    let covered = 0
    for (const [term, weight] of weights) {
      const isHere = unit.terms.has(term)
      if (isHere) inText += weight
      covered += weight * (isHere ? 1 : nearness(term, unit, location))
    }
    unit.coverage = covered / total
    unit.nearShare = location.nearShare
    unit.nearFit = location.nearFit
    unit.defines = definitions.map((own) => own.find(([pattern]) => pattern.test(unit.text))?.[1] ?? 0)
    // Ranking finds what speaks most of a thing, which is seldom where it is introduced.
    unit.quality = qualityOf(unit, question.kind === 'definition' ? 0.012 : 0.03)
    const isOfCompound =
      unit.kind === 'sentence' && alone.length > 0 && !alone.some((pattern) => pattern.test(unit.text))
    if (isOfCompound && !opensPage(unit, location)) unit.quality *= 0.85
    // What only stands under a fitting heading may be about anything.
    const ground = unit.coverage * (inText === 0 && location.nearShare < 0.7 ? 0.45 : 1)
    const dense = 0.15 * Math.min(1, (density.get(unit.passage) ?? 0) / 4)
    unit.score = (ground + dense + bonus(question, unit, location, inText > 0)) * unit.quality
  }
  return { candidates, question, weights, total }
}

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
