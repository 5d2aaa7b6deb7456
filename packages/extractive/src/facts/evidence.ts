import { commonWordsOf, isLike, keysOf, spaceless, stopWords, wordPattern } from '@inlay/text'
import type { Candidate } from '../passages.ts'
import { askingWords } from '../question-words.ts'
import { askedKindOf, fitOf, isOfKind, type AskedKind } from './asked-kind.ts'

/** What is known of a unit when it is judged; each from 0 to 1 unless it says otherwise. */
export interface UnitFeatures {
  /** Share of the question that the unit speaks of. */
  readonly own: number
  /** The same with its headings and neighbours. */
  readonly context: number
  /** Share of the question, each word weighed by its rarity within the passage. */
  readonly local: number
  /** Share of the question in the unit before, and in the one behind. */
  readonly before: number
  readonly after: number
  /** Whether it holds the kind of thing that is asked for: 1, -1, or 0 for no kind. */
  readonly fits: number
  readonly fitsOwn: number
  /** Share of the neighbouring words of the question that stand together in the unit as well. */
  readonly pairs: number
  /** Share of the question that stands within a few words of a thing of the kind asked for. */
  readonly near: number
  readonly length: number
  readonly position: number
}

/** What is known of a passage when it is judged. */
export interface PassageFeatures {
  /** Share of the question that the passage speaks of, with its title. */
  readonly cover: number
  /** Share that its title and headings speak of. */
  readonly title: number
  /** 1 / (1 + rank in the search). */
  readonly rank: number
  /** Share of its best unit, and of its best two neighbouring units. */
  readonly own: number
  readonly window: number
  readonly pairs: number
  /** Share of the question in the very words of the question. */
  readonly exact: number
  /** How often the words of the question come, each more often counting less. */
  readonly often: number
  readonly fits: number
  readonly near: number
  readonly length: number
}

export interface JudgedUnit {
  readonly unit: Candidate
  readonly features: UnitFeatures
}

export interface JudgedPassage {
  readonly features: PassageFeatures
  readonly units: readonly JudgedUnit[]
}

export interface Evidence {
  readonly passages: readonly JudgedPassage[]
  /** Number of the words that carry the topic of the question. */
  readonly topicSize: number
  readonly kind: AskedKind
}

const asking = /什么|哪|谁|多少|几|怎|吗/u

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
interface ReadPassage {
  readonly rank: number
  readonly units: readonly ReadUnit[]
  readonly head: ReadonlySet<string>
  readonly all: ReadonlySet<string>
  readonly counts: ReadonlyMap<string, number>
  readonly words: ReadonlySet<string>
}

interface ReadUnit {
  readonly unit: Candidate
  readonly keys: ReadonlySet<string>
  readonly list: readonly string[]
}

function readPassages(candidates: readonly Candidate[]): ReadPassage[] {
  return [...Map.groupBy(candidates, ({ passage }) => passage)].map(([passage, own]): ReadPassage => {
    const units = own.map((unit): ReadUnit => {
      const list = keysOf(unit.code ? `${unit.text} ${unit.code.text}` : unit.text)
      return { unit, list, keys: new Set(list) }
    })
    const title = `${passage.title} ${passage.section ?? ''}`
    const head = new Set(keysOf(title))
    const counts = new Map<string, number>()
    for (const key of units.flatMap(({ list }) => list)) counts.set(key, (counts.get(key) ?? 0) + 1)
    const words = `${title} ${own.map(({ text }) => text).join(' ')}`.match(wordPattern) ?? []
    return {
      rank: own[0]?.rank ?? 0,
      units,
      head,
      counts,
      all: new Set([...head, ...counts.keys()]),
      words: new Set(words.map((word) => word.toLowerCase())),
    }
  })
}

/** What share of a question sets of keys speak of, each key weighed by its rarity in the passages. */
interface Coverage {
  of(...sets: readonly (ReadonlySet<string> | undefined)[]): number
  has(set: ReadonlySet<string>, key: string): boolean
  readonly worth: ReadonlyMap<string, number>
  readonly total: number
}

/** How common something is, the other way round (the idf of BM25). */
const rarity = (count: number, holding: number): number => Math.log(1 + (count - holding + 0.5) / (holding + 0.5))

/** Text that is taken to exist beside the passages, so that rarity means something among a few of them. */
const elsewhere = { units: 30, passages: 8 }

function createCoverage(topic: readonly string[], passages: readonly ReadPassage[]): Coverage {
  const vocabulary = new Set(passages.flatMap(({ all }) => [...all]))
  const alike = new Map(
    topic.map((key) => [key, vocabulary.has(key) ? [] : [...vocabulary].filter((other) => isLike(key, other))]),
  )
  const has = (set: ReadonlySet<string>, key: string): boolean =>
    set.has(key) || (alike.get(key)?.some((other) => set.has(other)) ?? false)
  const count = passages.reduce((sum, { units }) => sum + units.length, 0)
  const worth = new Map<string, number>()
  let total = 0
  for (const key of topic) {
    const inPassages = passages.filter(({ all }) => has(all, key)).length
    const inUnits = passages.reduce((sum, { units }) => sum + units.filter(({ keys }) => has(keys, key)).length, 0)
    const value =
      (rarity(count + elsewhere.units, inUnits) + rarity(passages.length + elsewhere.passages, inPassages)) / 2
    worth.set(key, value)
    total += value
  }
  return {
    has,
    worth,
    total: total || 1,
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

/** Reads what passages say to a question, in any language. */
export function readEvidence(question: string, candidates: readonly Candidate[]): Evidence {
  const read = readPassages(candidates)
  const topic = topicOf(question)
  const coverage = createCoverage(topic, read)
  const known = new Set(topic)
  const questionKeys = keysOf(question)
  const pairs = questionKeys.slice(1).flatMap((key, at) => {
    const pair = `${questionKeys[at]} ${key}`
    return known.has(key) || known.has(questionKeys[at] ?? '') ? [pair] : []
  })
  const wanted: Wanted = {
    topic,
    known,
    pairs,
    kind: askedKindOf(question),
    words: (question.match(wordPattern) ?? [])
      .filter((word) => keysOf(word).some((key) => known.has(key)))
      .map((word) => word.toLowerCase()),
  }
  return {
    passages: read.map((passage) => judge(passage, wanted, coverage)),
    topicSize: topic.length,
    kind: wanted.kind,
  }
}

interface Wanted {
  readonly topic: readonly string[]
  readonly known: ReadonlySet<string>
  /** Neighbouring keys. */
  readonly pairs: readonly string[]
  readonly kind: AskedKind
  readonly words: readonly string[]
}

const neighboursOf = (list: readonly string[]): Set<string> =>
  new Set(list.slice(1).map((key, index) => `${list[index]} ${key}`))

const shareOfPairs = (pairs: readonly string[], held: ReadonlySet<string>): number =>
  pairs.length === 0 ? 0 : pairs.filter((pair) => held.has(pair)).length / pairs.length

function judge(read: ReadPassage, wanted: Wanted, coverage: Coverage): JudgedPassage {
  const own = read.units.map(({ keys }) => coverage.of(keys))
  const local = localShares(wanted.topic, read, coverage)
  const units = read.units.map(({ unit, keys, list }, at): JudgedUnit => {
    const [before, after] = [read.units[at - 1], read.units[at + 1]]
    const share = own[at] ?? 0
    const fits = fitOf(
      wanted.kind,
      unit.text.replace(wordPattern, (token) => (wanted.known.has(keysOf(token)[0] ?? '') ? ' ' : token)),
    )
    const features: UnitFeatures = {
      own: share,
      context: coverage.of(keys, read.head, before?.keys, after?.keys),
      local: local[at] ?? 0,
      before: own[at - 1] ?? 0,
      after: own[at + 1] ?? 0,
      fits,
      fitsOwn: fits * share,
      pairs: shareOfPairs(wanted.pairs, neighboursOf(list)),
      near: nearness(unit.text, wanted, coverage),
      length: Math.min(1, list.length / 30),
      position: Math.min(1, at / 8),
    }
    return { unit, features }
  })
  return { features: ofPassage(read, { own, units, wanted, coverage }), units }
}

function ofPassage(
  read: ReadPassage,
  {
    own,
    units,
    wanted,
    coverage,
  }: { own: readonly number[]; units: readonly JudgedUnit[]; wanted: Wanted; coverage: Coverage },
): PassageFeatures {
  const { worth, total } = coverage
  let often = 0
  for (const [key, value] of worth) {
    const times = read.counts.get(key) ?? 0
    often += (value * times) / (times + 1.2)
  }
  const windows = read.units.slice(1).map(({ keys }, at) => coverage.of(read.units[at]?.keys, keys))
  const highest = Math.max(0, ...own)
  const best = units[own.indexOf(highest)]?.features
  return {
    cover: coverage.of(read.all),
    title: coverage.of(read.head),
    rank: 1 / (1 + read.rank),
    own: highest,
    window: Math.max(highest, ...windows),
    pairs: shareOfPairs(wanted.pairs, new Set(read.units.flatMap(({ list }) => [...neighboursOf(list)]))),
    exact:
      wanted.words.length === 0 ? 0 : wanted.words.filter((word) => read.words.has(word)).length / wanted.words.length,
    often: often / total,
    fits: best?.fits ?? 0,
    near: Math.max(0, ...units.map(({ features }) => features.near)),
    length: Math.min(1, read.units.reduce((sum, { list }) => sum + list.length, 0) / 300),
  }
}

/** For each unit of a passage the share of the question that it speaks of, weighed by rarity within that passage. */
function localShares(topic: readonly string[], { units }: ReadPassage, coverage: Coverage): number[] {
  const worth = topic.map((key) => {
    const holding = units.filter(({ keys }) => coverage.has(keys, key)).length
    return holding === 0 ? 0 : rarity(units.length, holding)
  })
  const total = worth.reduce((sum, value) => sum + value, 0) || 1
  return units.map(
    ({ keys }) => topic.reduce((sum, key, at) => sum + (coverage.has(keys, key) ? (worth[at] ?? 0) : 0), 0) / total,
  )
}

/** Words on either side of a thing that may be the answer. */
const reach = 6

/** The largest share of the question that stands beside one word of the kind that is asked for. */
function nearness(text: string, { kind, known }: Wanted, { worth, total }: Coverage): number {
  if (kind === undefined) return 0
  const tokens = (text.match(wordPattern) ?? []).map((token) => ({ token, keys: keysOf(token) }))
  let best = 0
  for (const [at, { token, keys }] of tokens.entries()) {
    if (!isOfKind(kind, token) || keys.some((key) => known.has(key))) continue
    const nearby = new Set(tokens.slice(Math.max(0, at - reach), at + reach + 1).flatMap((other) => other.keys))
    let sum = 0
    for (const [key, value] of worth) if (nearby.has(key)) sum += value
    best = Math.max(best, sum / total)
  }
  return best
}
