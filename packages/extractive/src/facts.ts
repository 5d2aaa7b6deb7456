import { commonWordsOf, isLike, spaceless, stopWords, keysOf, lengthInWords, wordPattern } from '@inlay/text'
import type { Candidate } from './passages.ts'
import { askingWords } from './question-words.ts'

/** A unit and how likely it holds the fact that was asked for; scores compare within one question only. */
export interface RankedFact {
  readonly unit: Candidate
  readonly score: number
}

/** What the passages say to a question that asks for a fact. */
export interface Facts {
  /** Best first. */
  readonly ranked: readonly RankedFact[]
  /** How likely the passages hold an answer at all, 0 to 1. */
  readonly certainty: number
}

/** Logistic regression over 1,494 questions in English, German, Spanish and Chinese whose answers are known (XQuAD). */
const weights = {
  own: 3.33,
  context: 3.67,
  passage: -1.87,
  rank: 8.23,
  isFirst: -0.95,
  fits: 0.4,
  pairs: 1.02,
  length: 0.27,
  ownInPassage: -2.8,
  local: 1.94,
  before: -1.67,
  after: -1.97,
  position: -0.38,
  best: 0.23,
  fitsOwn: 0.33,
} as const

type Features = Readonly<Record<keyof typeof weights, number>>

const asksNumber =
  /\b(?:how (?:many|much|long|often|old|far|big|large|high|fast|tall|wide|deep)|what (?:number|percent|percentage|amount|year|date|day|age)|when|(?:in )?which year|wie ?viele?|wie (?:lange|hoch|oft|alt)|wann|jahr|prozent|cuánt[oa]s?|cuándo|qué (?:año|porcentaje)|combien|quand|quanti|quando)\b|多少|几|何时|哪一?年|什么时候|多久|多长|多大|比例/iu
const asksName =
  /^(?:who|whose|whom|which (?:person|player|team)|where|wer|wem|wen|wo|quién(?:es)?|dónde|qui|où|chi|dove)\b|谁|哪位|哪里|何处|哪儿/iu
const number =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundreds?|thousands?|millions?|billions?|half|twice|once|percent|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|hälfte|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|mitad)\b|[一二三四五六七八九十百千万亿两半]/iu
const name = /\s["“(«]?\p{Lu}/u
const asking = /什么|哪|谁|多少|几|怎|吗/u

/** Whether a text, the words of the question left out, holds the kind of thing that is asked for: 1, -1, or 0 for no kind. */
function fitOf(question: string, fresh: string): number {
  if (asksNumber.test(question)) return number.test(fresh) ? 1 : -1
  if (asksName.test(question)) return name.test(fresh) || spaceless.test(fresh) ? 1 : -1
  return 0
}

/** The keys of a question that carry its topic. */
function topicOf(question: string): string[] {
  const common = commonWordsOf(question)
  const sayingLittle = common && common.language !== 'en' ? common.words : stopWords
  const said = (question.match(wordPattern) ?? []).filter(
    (token) => spaceless.test(token) || !sayingLittle.has(token.toLowerCase().replaceAll('’', "'").replace(/'s$/, '')),
  )
  const about = said.filter((token) => !askingWords.has(token.toLowerCase()))
  const keys = (about.length > 0 ? about : said).flatMap(keysOf)
  return [...new Set(keys)].filter((key) => !asking.test(key))
}

/** A passage, read for comparison. */
interface Read {
  readonly rank: number
  readonly units: readonly { readonly unit: Candidate; readonly keys: ReadonlySet<string>; readonly list: string[] }[]
  readonly head: ReadonlySet<string>
  readonly all: ReadonlySet<string>
}

function readPassages(candidates: readonly Candidate[]): Read[] {
  const byPassage = Map.groupBy(candidates, ({ passage }) => passage)
  return [...byPassage].map(([passage, own]): Read => {
    const units = own.map((unit) => {
      const list = keysOf(unit.text)
      return { unit, list, keys: new Set(list) }
    })
    const head = new Set(keysOf(`${passage.title} ${passage.section ?? ''}`))
    return { rank: own[0]?.rank ?? 0, units, head, all: new Set([...head, ...units.flatMap(({ list }) => list)]) }
  })
}

/** What share of a question sets of keys speak of, each key weighed by its rarity in the passages. */
interface Coverage {
  of(...sets: readonly (ReadonlySet<string> | undefined)[]): number
  has(set: ReadonlySet<string>, key: string): boolean
  /** Share of the question that no passage speaks of. */
  readonly unknown: number
}

/** How common something is, the other way round (the idf of BM25). */
const rarity = (count: number, holding: number): number => Math.log(1 + (count - holding + 0.5) / (holding + 0.5))

/** Text that is taken to exist beside the passages, so that rarity means something among a few of them. */
const elsewhere = { units: 30, passages: 8 }

function createCoverage(topic: readonly string[], passages: readonly Read[]): Coverage {
  const vocabulary = new Set(passages.flatMap(({ all }) => [...all]))
  const alike = new Map(
    topic.map((key) => [key, vocabulary.has(key) ? [] : [...vocabulary].filter((other) => isLike(key, other))]),
  )
  const has = (set: ReadonlySet<string>, key: string): boolean =>
    set.has(key) || (alike.get(key)?.some((other) => set.has(other)) ?? false)
  const count = passages.reduce((sum, { units }) => sum + units.length, 0)
  const worth = new Map<string, number>()
  let [total, unknown] = [0, 0]
  for (const key of topic) {
    const inPassages = passages.filter(({ all }) => has(all, key)).length
    const inUnits = passages.reduce((sum, { units }) => sum + units.filter(({ keys }) => has(keys, key)).length, 0)
    const value =
      (rarity(count + elsewhere.units, inUnits) + rarity(passages.length + elsewhere.passages, inPassages)) / 2
    worth.set(key, value)
    total += value
    if (inPassages === 0) unknown += value
  }
  return {
    has,
    unknown: total === 0 ? 1 : unknown / total,
    of(...sets) {
      let sum = 0
      for (const [key, value] of worth) {
        if (sets.some((set) => set?.has(key))) sum += value
        else if (sets.some((set) => set && has(set, key))) sum += 0.7 * value
      }
      return total === 0 ? 0 : sum / total
    },
  }
}

/** Ranks what passages say by how likely it holds the fact that a question in any language asks for. */
export function rankFacts(question: string, candidates: readonly Candidate[]): Facts {
  const passages = readPassages(candidates)
  const topic = topicOf(question)
  const coverage = createCoverage(topic, passages)
  const questionKeys = keysOf(question)
  const known = new Set(topic)
  const pairs = questionKeys.slice(1).flatMap((key, at) => {
    const pair = `${questionKeys[at]} ${key}`
    return known.has(key) || known.has(questionKeys[at] ?? '') ? [pair] : []
  })
  const ranked: (RankedFact & { readonly features: Features })[] = []
  for (const read of passages) {
    const passage = coverage.of(read.all)
    const own = read.units.map(({ keys }) => coverage.of(keys))
    const most = Math.max(0, ...own)
    const local = localShares(topic, read, coverage)
    for (const [at, { unit, keys, list }] of read.units.entries()) {
      const [before, after] = [read.units[at - 1], read.units[at + 1]]
      const share = own[at] ?? 0
      const fits = fitOf(
        question,
        unit.text.replace(wordPattern, (token) => (known.has(keysOf(token)[0] ?? '') ? ' ' : token)),
      )
      const next = new Set(list.slice(1).map((key, index) => `${list[index]} ${key}`))
      const features: Features = {
        own: share,
        context: coverage.of(keys, read.head, before?.keys, after?.keys),
        passage,
        rank: 1 / (1 + read.rank),
        isFirst: read.rank === 0 ? 1 : 0,
        fits,
        pairs: pairs.length === 0 ? 0 : pairs.filter((pair) => next.has(pair)).length / pairs.length,
        length: Math.min(1, list.length / 30),
        ownInPassage: share * passage,
        local: local[at] ?? 0,
        before: own[at - 1] ?? 0,
        after: own[at + 1] ?? 0,
        position: Math.min(1, at / 8),
        best: share / (0.01 + most),
        fitsOwn: fits * share,
      }
      const score = Object.entries(weights).reduce(
        (sum, [name, weight]) => sum + weight * features[name as keyof Features],
        0,
      )
      ranked.push({ unit, score, features })
    }
  }
  ranked.sort((first, second) => second.score - first.score)
  return { ranked, certainty: certaintyOf(question, ranked, coverage.unknown) }
}

/** For each unit of a passage the share of the question that it speaks of, weighed by rarity within that passage. */
function localShares(topic: readonly string[], { units }: Read, coverage: Coverage): number[] {
  const worth = topic.map((key) => {
    const holding = units.filter(({ keys }) => coverage.has(keys, key)).length
    return holding === 0 ? 0 : rarity(units.length, holding)
  })
  const total = worth.reduce((sum, value) => sum + value, 0) || 1
  return units.map(
    ({ keys }) => topic.reduce((sum, key, at) => sum + (coverage.has(keys, key) ? (worth[at] ?? 0) : 0), 0) / total,
  )
}

/** Logistic regression over the same questions, asked of documents with and without their answers. */
function certaintyOf(
  question: string,
  ranked: readonly { readonly score: number; readonly features: Features }[],
  unknown: number,
): number {
  const [best] = ranked
  if (!best) return 0
  const most = Math.max(...ranked.map(({ features }) => features.passage))
  const { own, context, passage } = best.features
  // Forms of a word differ more, and keys match less often, than in English.
  const language = spaceless.test(question) ? 4.76 : (commonWordsOf(question)?.language ?? 'en') === 'en' ? 0 : 1.67
  const evidence = 1.41 * own + 6.24 * context + 1.39 * passage + 9.53 * most - 2.13 * unknown + 0.27 * best.score
  return 1 / (1 + Math.exp(9.94 - evidence - language))
}

/** How much is quoted: briefly where one unit stands out, more where several may be meant. Lengths in words. */
const sure = { lead: 2, units: 2, words: 43 }
const unsure = { units: 5, words: 130 }
/** What a unit of the passage that holds the best one gains, since the answer often stands beside it. */
const nearby = 2

/** Chooses what to quote of the facts, the likeliest first. */
export function pickFacts({ ranked }: Facts, excluded: (unit: Candidate) => boolean): Candidate[] {
  const usable = ranked.filter(({ unit }) => {
    const leadsAway = unit.text.endsWith(':') && unit.code === undefined
    return unit.kind !== 'code' && !leadsAway && !excluded(unit)
  })
  const [best, second] = usable
  if (!best) return []
  const isSure = best.score - (second?.score ?? -Infinity) >= sure.lead
  const { units, words } = isSure ? sure : unsure
  const chosen: Candidate[] = [best.unit]
  let length = lengthInWords(best.unit.text)
  const others = usable
    .slice(1, 40)
    .map(({ unit, score }) => ({ unit, score: score + (unit.passage === best.unit.passage ? nearby : 0) }))
    .toSorted((first, second) => second.score - first.score)
  for (const { unit } of others) {
    const more = lengthInWords(unit.text)
    if (chosen.length >= units || length + more > words) continue
    chosen.push(unit)
    length += more
  }
  return chosen
}
