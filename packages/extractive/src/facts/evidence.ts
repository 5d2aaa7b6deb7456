import { commonWordsOf, keysOf, spaceless, stopWords, wordPattern } from '@inlay/text'
import type { Candidate } from '../passages.ts'
import { askingWords } from '../phrases.ts'
import { askedKindOf, fitOf, isOfKind, type AskedKind } from './asked-kind.ts'
import { createCoverage, rarity, readPassages, type Coverage, type ReadPassage } from './coverage.ts'

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
  /** Share of the question that is names and stands in the unit. */
  readonly names: number
  /** The longest run of words of the question that stands in the unit too, as a share of its words. */
  readonly phrase: number
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
  readonly names: number
  readonly phrase: number
  /** Shares of the question that are names or numbers and do not stand in the passage. */
  readonly noName: number
  readonly noNumber: number
  /** 1 where a number is asked for and the passage holds none but those of the question: it cannot hold the answer. */
  readonly withoutNumber: number
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
  /** Share of the question that is names. */
  readonly names: number
  /** Share of the question that no passage speaks of. */
  readonly nowhere: number
  /** Of the question, see {@link languageOf}. */
  readonly language: string
  readonly kind: AskedKind
}

/** A word with a capital letter that does not begin the question, or one in letters among others of East Asia. */
export const namePart: RegExp = /(?<=[^\s“"„¿¡]\s["“„(]?)\p{Lu}[\p{L}\p{M}\p{N}]*|(?<=\p{Script=Han}\s?)[A-Za-z]{2,}/gu

const asking = /什么|哪|谁|多少|几|怎|吗/u

/** The language a question seems to be in; "" for one that is not known and not English, as its letters tell. */
export const languageOf = (question: string): string =>
  commonWordsOf(question)?.language ?? (/[^\P{L}a-z]/iu.test(question) ? '' : 'en')

/** The keys of a question that carry its topic. */
export function topicOf(question: string): string[] {
  const common = commonWordsOf(question)
  const sayingLittle = common && common.language !== 'en' ? common.words : stopWords
  const said = (question.match(wordPattern) ?? []).filter(
    (token) => spaceless.test(token) || !sayingLittle.has(token.toLowerCase().replaceAll('’', "'").replace(/'s$/, '')),
  )
  const about = said.filter((token) => !askingWords.has(token.toLowerCase()))
  const keys = (about.length > 0 ? about : said).flatMap(keysOf)
  return [...new Set(keys)].filter((key) => !asking.test(key))
}

/** Reads what passages say to a question, in any language. */
export function readEvidence(question: string, candidates: readonly Candidate[]): Evidence {
  const read = readPassages(candidates)
  const topic = topicOf(question)
  const language = languageOf(question)
  const coverage = createCoverage(topic, question, { passages: read, isEnglish: language === 'en' })
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
    names: [...new Set((question.match(namePart) ?? []).flatMap(keysOf))].filter((key) => known.has(key)),
    said: (question.toLowerCase().match(wordPattern) ?? []).slice(0, mostSaid),
    words: (question.match(wordPattern) ?? [])
      .filter((word) => keysOf(word).some((key) => known.has(key)))
      .map((word) => word.toLowerCase()),
  }
  return {
    passages: read.map((passage) => judge(passage, wanted, coverage)),
    topicSize: topic.length,
    names: coverage.share(wanted.names),
    nowhere: coverage.share(topic.filter((key) => !read.some(({ all }) => coverage.has(all, key)))),
    language,
    kind: wanted.kind,
  }
}

interface Wanted {
  readonly topic: readonly string[]
  readonly known: ReadonlySet<string>
  /** Keys of the topic that are names. */
  readonly names: readonly string[]
  /** The words of the question as they stand. */
  readonly said: readonly string[]
  /** Neighbouring keys. */
  readonly pairs: readonly string[]
  readonly kind: AskedKind
  readonly words: readonly string[]
}

/** Words of a question that are looked for as they follow each other. */
const mostSaid = 40

/** The longest run of words that a text holds too, as a share of them. */
function longestRun(said: readonly string[], text: string): number {
  let longest = 0
  for (let from = 0; from + longest < said.length; from++)
    while (from + longest < said.length && text.includes(` ${said.slice(from, from + longest + 1).join(' ')} `))
      longest++
  return longest / Math.max(1, said.length)
}

function judge(read: ReadPassage, wanted: Wanted, coverage: Coverage): JudgedPassage {
  const own = read.units.map(({ keys }) => coverage.of(keys))
  const local = localShares(wanted.topic, read, coverage)
  const units = read.units.map(({ unit, keys, list, pairs, text }, at): JudgedUnit => {
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
      pairs: wanted.pairs.filter((pair) => pairs.has(pair)).length / (wanted.pairs.length || 1),
      near: nearness(unit.text, wanted, coverage),
      names: coverage.share(wanted.names.filter((key) => coverage.has(keys, key))),
      phrase: longestRun(wanted.said, text),
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
    pairs:
      wanted.pairs.filter((pair) => read.units.some(({ pairs }) => pairs.has(pair))).length /
      (wanted.pairs.length || 1),
    exact:
      wanted.words.length === 0 ? 0 : wanted.words.filter((word) => read.words.has(word)).length / wanted.words.length,
    often: often / total,
    fits: best?.fits ?? 0,
    near: Math.max(0, ...units.map(({ features }) => features.near)),
    names: Math.max(0, ...units.map(({ features }) => features.names)),
    phrase: Math.max(0, ...units.map(({ features }) => features.phrase)),
    noName: coverage.share(wanted.names.filter((key) => !coverage.has(read.all, key))),
    noNumber: coverage.share(wanted.topic.filter((key) => /\p{N}/u.test(key) && !coverage.has(read.all, key))),
    withoutNumber: wanted.kind === 'number' && units.every(({ features }) => features.fits < 1) ? 1 : 0,
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
