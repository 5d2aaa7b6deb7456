import { lengthInWords, spaceless } from '@inlay/text'
import type { Candidate } from '../passages.ts'
import { readEvidence, type Evidence, type JudgedPassage, type PassageFeatures, type UnitFeatures } from './evidence.ts'

/** A unit and how likely it holds the fact that was asked for, 0 to 1. */
export interface RankedFact {
  readonly unit: Candidate
  readonly likelihood: number
  /** Place of its passage, the likeliest first, from 0. */
  readonly passage: number
}

/** What the passages say to a question that asks for a fact. */
export interface Facts {
  /** Likeliest first. */
  readonly ranked: readonly RankedFact[]
  /** How likely the passages hold an answer at all, 0 to 1. */
  readonly certainty: number
  /** Whether the few words of the question are met everywhere, and no sentence stands out. */
  readonly isInPassing: boolean
  /** Whether the likeliest passage holds a list, a table or code. */
  readonly isOfList: boolean
}

/**
 * Log-linear models over 4,760 questions in English, German, Spanish and Chinese (XQuAD): which passage holds the
 * answer, and which of its units. Fitted to all of them, so figures on XQuAD are no measure of other documents, where
 * answers are worse: articles there are short, and each question has its words from the passage that answers it.
 */
const passageWeights: Readonly<Record<keyof PassageFeatures, number>> = {
  cover: 3.09,
  title: 6,
  rank: 2.83,
  own: 4.66,
  window: 0.6,
  pairs: 1.81,
  exact: 0,
  often: 4.58,
  fits: 0.44,
  near: 2.23,
  names: 2.19,
  phrase: 4.44,
  noName: -3.93,
  noNumber: -6,
  withoutNumber: -4,
  length: -0.85,
}
const unitWeights: Readonly<Record<keyof UnitFeatures, number>> = {
  own: 2.4,
  context: 3.75,
  local: 2.69,
  before: 0.59,
  after: 0.29,
  fits: 1.15,
  fitsOwn: -1.06,
  pairs: -0.9,
  near: 2.56,
  names: -2.39,
  phrase: 2.29,
  length: 0.38,
  position: -0.03,
}

function scoreOf<Name extends string>(
  features: Readonly<Record<Name, number>>,
  weights: Readonly<Record<Name, number>>,
): number {
  let score = 0
  for (const name in weights) score += weights[name] * features[name]
  return score
}

/** Likelihoods of alternatives, of which one holds. */
function shares(scores: readonly number[]): number[] {
  const most = Math.max(...scores)
  const powers = scores.map((score) => Math.exp(score - most))
  const total = powers.reduce((sum, power) => sum + power, 0)
  return powers.map((power) => power / total)
}

const readOn =
  /^(?:for )?(?:more|further|additional) (?:information|details|help|examples) ?:|^see (?:also )?[^.!?]{1,60}\.?$/i

/** Passages that are looked into: what stands in the others is hardly ever what was asked for. */
const readPassages = 3

/** Ranks what passages say by how likely it holds the fact that a question in any language asks for. */
export function rankFacts(question: string, candidates: readonly Candidate[]): Facts {
  const evidence = readEvidence(question, candidates)
  const likelihoods = shares(evidence.passages.map(({ features }) => scoreOf(features, passageWeights)))
  const order = evidence.passages
    .map((passage, at) => ({ passage, likelihood: likelihoods[at] ?? 0 }))
    .toSorted((first, second) => second.likelihood - first.likelihood)
  const ranked = order.slice(0, readPassages).flatMap(({ passage: { units }, likelihood }, passage) => {
    const quotable = units.filter(
      ({ unit: { kind, text, code } }) => kind !== 'code' && (!text.endsWith(':') || code) && !readOn.test(text),
    )
    const within = shares(quotable.map(({ features }) => scoreOf(features, unitWeights)))
    return quotable.map(({ unit }, at): RankedFact => ({ unit, passage, likelihood: likelihood * (within[at] ?? 0) }))
  })
  ranked.sort((first, second) => second.likelihood - first.likelihood)
  const best = order[0]?.passage
  return {
    ranked,
    certainty: certaintyOf(question, best, evidence),
    isInPassing: isSaidInPassing(best, ranked[0], evidence),
    isOfList: best?.units.some(({ unit }) => unit.kind !== 'sentence') ?? false,
  }
}

/** What a question of one or two words meets everywhere: a sentence has to stand out. */
const short = { words: 2, likelihood: 0.24, word: 1, often: 0.5, surely: 0.97 }
/** As many passages leave a choice. */
const severalPassages = 3

/** Whether the words of a short question come here and there, or its only word once and in no title: by the way. */
function isSaidInPassing(
  best: JudgedPassage | undefined,
  first: RankedFact | undefined,
  { topicSize, passages }: Evidence,
): boolean {
  if (!best || !first || topicSize > short.words || passages.length < severalPassages) return false
  const { often, title } = best.features
  const isOnce = topicSize === short.word && often < short.often && title === 0
  return first.likelihood < (isOnce ? short.surely : short.likelihood)
}

/** Languages in which the forms of a word are much alike. */
const alike = /^(?:en|es|fr|it|pt)$/

/** Logistic regression over questions in four languages, asked of documents with and without their answers. */
function certaintyOf(question: string, best: JudgedPassage | undefined, evidence: Evidence): number {
  const { language, topicSize, names, nowhere } = evidence
  if (!best || best.features.withoutNumber === 1) return 0
  const { own, window, pairs, exact, often, noName, noNumber } = best.features
  // The less the forms of a word are alike, the fewer words of a question are met again in its answer.
  const unlike = spaceless.test(question) ? 4 : alike.test(language) ? 0 : 1.9
  const shares = 0.66 * own + 2.2 * window + 3.63 * pairs + 1.89 * exact + 16.53 * often + 2.03 * names
  const lacks = 1.93 * nowhere + 6.68 * noName + 6 * noNumber
  const form = language === 'en' ? mismatchOf(question, best) : 0
  return 1 / (1 + Math.exp(7.66 - unlike - shares + lacks + form - 1.94 * Math.min(1, topicSize / 8)))
}

const asksForSteps = /^how (?:do|can|should|could|would|must|to)\b/i
const instructs =
  /\b(?:you|your|we|must|should|need to|ha(?:s|ve) to)\b|^(?:add|choose|click|create|enter|go|open|press|run|select|set|type|use)\b/i
const asksForCommand =
  /^how\b|\b(?:how|commands?|options?|flags?|examples?|syntax|code|script|query|call|usage|tool)\b/i

/** What the form of a passage says against it: steps seldom stand in a narrative, other facts seldom beside a command. */
function mismatchOf(question: string, { units }: JudgedPassage): number {
  if (asksForSteps.test(question))
    return units.some(({ unit }) => unit.kind !== 'sentence' || instructs.test(unit.text)) ? 0 : 1.5
  const closest = units.reduce((most, next) => (next.features.own > most.features.own ? next : most))
  return closest.unit.code && !asksForCommand.test(question) ? 2 : 0
}

/** How much is quoted: briefly where one unit stands out, more where several may be meant. Lengths in words. */
const brief = { from: 0.835, likelihood: 0.95, words: 45 }
const full = { likelihood: 0.98, words: 170 }
/** More pieces are read as no answer. */
const mostUnits = 8
/** What a unit of another passage than the likeliest needs to be quoted. */
const leastElsewhere = 0.04

/** Chooses what to quote of the facts, the likeliest first, until it is likely enough that the answer is among them. */
export function pickFacts({ ranked }: Facts, excluded: (unit: Candidate) => boolean): Candidate[] {
  const usable = ranked.filter(({ unit }) => !excluded(unit))
  const [best] = usable
  if (!best) return []
  const { likelihood: enough, words } = best.likelihood >= brief.from ? brief : full
  const chosen: Candidate[] = []
  let [length, likelihood] = [0, 0]
  for (const fact of usable) {
    const more = lengthInWords(fact.unit.text)
    if (chosen.length > 0 && (length + more > words || (fact.passage > 0 && fact.likelihood < leastElsewhere))) continue
    chosen.push(fact.unit)
    length += more
    likelihood += fact.likelihood
    if (likelihood >= enough || chosen.length === mostUnits) break
  }
  return chosen
}
