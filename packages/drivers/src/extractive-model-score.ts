import type { Question } from './extractive-model-question.ts'
import { isNear, isStopWord, partsOf, stem, termSet, wordsOf } from './extractive-model-terms.ts'
import { unitsOf, type Unit } from './extractive-model-text.ts'

/** A passage as the search action gives it to the model. */
export interface SourcePassage {
  /** Citation number; undefined for text that has none, such as an earlier answer. */
  readonly number: number | undefined
  readonly title: string
  /** Headings above it, outermost first, with ` > ` between; absent when the content holds its headings itself. */
  readonly section?: string
  readonly content: string
}

/** A unit with what is known about it. */
export interface Candidate extends Unit {
  readonly passage: SourcePassage
  /** Position of the passage among the results, from 0. */
  readonly rank: number
  /** Position among the units of the passage, from 0. */
  readonly order: number
  readonly terms: ReadonlySet<string>
  /** The unit before it in the same block. */
  readonly before: Candidate | undefined
  /** How well it answers; above 0, mostly below 2. */
  score: number
  /** How good it is to read whatever was asked, 0 to 1. */
  quality: number
  /** How well it says what each subject of the question is; same order. */
  defines: readonly number[]
  /** Share of the topic that the nearest heading speaks of, 0 to 1. */
  nearShare: number
  /** The same, less where that heading is mostly about something else. */
  nearFit: number
  /** Share of what was asked for that the unit and its surroundings speak of, 0 to 1. */
  coverage: number
}

/** Everything quotable of the passages, with scores. */
export interface Scored {
  readonly candidates: readonly Candidate[]
  /** The question, with slips in its subjects mended by the words of the passages. */
  readonly question: Question
  /** Weight of each term of the question, by its rarity in the passages. */
  readonly weights: ReadonlyMap<string, number>
}

const narration =
  /^(?:let(?:['’]s| us| me)\b|in this (?:chapter|section|example|case|article|topic|listing|code)|in (?:the )?(?:next|previous|following) |as (?:we|you|i|mentioned|discussed|shown|noted|described)\b|(?:next|first|now|finally|again|recall|remember|consider|suppose|imagine|notice|say)\b|we['’](?:ll|ve|re|d)\b|we (?:will|now|can see|could|also|saw|have)\b|i\b|you['’]ll (?:see|learn)|see\b|for more (?:information|details?)|figure \d|listing \d|table \d|note(?: that)?\b|here\b|(?:second|third|fourth|fifth|lastly)\b|the (?:last|first|second|third|fourth|next|final) (?:thing|change|step|command|line|example)\b|if you were\b|(?:it|this example|this command) (?:uses|shows|demonstrates)\b|be warned|this (?:chapter|section|article|topic|page|guide|document|tutorial)\b|luckily|unfortunately|with that|at this point|back in)/i
const pointsElsewhere =
  /\b(?:listing|figure|chapter|appendix) [\dA-Z][-\d]*\b|\b(?:shown|described|listed|discussed|mentioned) (?:in|above|below|here|earlier)\b|\b(?:following|preceding|previous|above|below|next) (?:example|section|code|command|listing|chapter|output|table|line)s?\b|\bthis (?:code|example|line|listing|program|error|function|command|output)\b|\bthe (?:command|example|code|script|output) \w+s\b/i
const dangling =
  /^(?:this|that|these|those|it|its|it['’]s|they|their|them|he|she|his|her|here|there(?=['’]s|fore)|then|otherwise|so|but|and|or|however|also|instead|such|both|thus|hence|therefore|additionally|moreover|furthermore|nevertheless|still|yet|similarly|likewise|in (?:other words|contrast|addition|fact|particular|this case|that case|both cases)|for (?:example|instance|this reason|that reason)|on the other hand|as a result|because of (?:this|that)|the (?:same|former|latter|other|second|third|first|result|code|example|program|output)|another|again|finally|next|note|to do (?:so|this|that)|doing (?:so|this)|by doing|if so|when (?:this|that|it)|even so|that['’]s|rather|unlike (?:this|that)|what['’]s more|as (?:such|before))\b/i

const contrast =
  /\b(?:while|whereas|unlike|instead|rather than|in contrast|but|differ\w*|compared|both|either|on the other hand|only|however|not)\b/i
const clues: Partial<Record<Question['kind'], RegExp>> = {
  why: /\b(?:because|so that|reasons?|since|in order to|therefore|thus|that['’]s why|to (?:prevent|avoid|ensure|make sure|allow)|prevents?|avoids?|ensures?|otherwise|due to|leads? to|caus\w+|result\w*)\b/i,
  how: /^(?:to \w+|use|run|call|type|add|set|create|open|click|install|you can|we can|by \w+ing|if you want)\b|\b(?:you can|use the|by using|by calling|using the|run the|run `|call `|method|cmdlet|command|parameter|function)\b/i,
  when: /\b(?:1\d{3}|20\d{2})\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|century|when|after|before|during|if you|whenever|version)\b/i,
  who: /(?<=[\p{L},] )\p{Lu}[\p{Ll}’'-]+(?:\s+\p{Lu}[\p{L}’'-]+)*/u,
  where: /\b(?:in|at|on|under|near|from|inside|within) (?:the )?(?:\p{Lu}|`)/u,
  number:
    /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion|half|twice|once|percent)\b/i,
  difference: contrast,
}

/** From this share on a heading or leading sentence is about what was asked, see `nearFit`. */
export const listFit = 0.45

/** Whether a sentence guides through its page instead of saying something. */
export const isNarration = (text: string): boolean => narration.test(text)

/** Whether a text has what an answer to this kind of question needs: a date, a number. */
export function hasKind(question: Question, text: string): boolean {
  if (
    question.kind === 'when' &&
    /^(?:when (?:was|were|did)|since when|(?:in |on )?(?:what|which) (?:year|date|day|month|century))\b/i.test(
      question.text,
    )
  )
    return /\d|\b(?:January|February|March|April|May|June|July|August|September|October|November|December|[Cc]entury|War)\b/.test(
      text,
    )
  return question.kind !== 'number' || (clues.number?.test(text) ?? true)
}

/** Whether a sentence leans on the one before it. */
export const isDangling = (text: string): boolean => dangling.test(text)

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const kindWords =
  'cmdlet|command|function|method|type|trait|keyword|operator|macro|parameter|statement|module|tool|system|feature|attribute|pattern|expression|alias|variable|provider|class|concept|rule|process|package|crate|library|service|team|game|file|option|flag|syntax|loop|term|word|data type|data structure|preference variable|automatic variable'
const opening = '^(?:(?:in [^,]{1,40}|simply put|basically|essentially|at its core|by definition),\\s+)?'
const general = `${opening}(?:(?:an?|every|each|all|any)\\s+)?`
const article = `${opening}(?:(?:the|an?|every|each|all|any)\\s+)?`
const says = '(?:is|are|was|were|means?|refers? to|describes?|represents?|denotes?|defines?|consists? of|stands? for)'
const does =
  '(?:lets?|allows?|enables?|provides?|creates?|gets?|sets?|returns?|makes?|removes?|deletes?|adds?|sends?|runs?|starts?|stops?|performs?|controls?|contains?|holds?|gives?|specif(?:y|ies)|stores?|tells?|helps?|changes?|determines?|gathers?|takes?)'
const adverb = '(?:(?:also|simply|just|basically|essentially|really|actually|usually|often)\\s+)?'
const someKind =
  '(?:an?|the|one of|any|some|another|how|when|what|where|anything|everything|used|similar|like|short for|(?:[a-z-]+\\s+){1,2}(?:that|which|who|you|we)|[a-z-]+\\s+[a-z-]+s)\\b'

/** A thing's name as it may stand in a text: any case unless the question used capitals, singular or plural, quoted or not. */
export function namePattern(subject: string): string {
  const bare = subject
    .replace(/[`"“”'‘’*]/g, '')
    .trim()
    .replace(/^[$@&-]+(?=\w)/, '')
  const words = escape(bare.replace(/(?<=\w{3})(?:ies|e?s)$/i, '')).replace(/\s+/g, '[\\s`-]+')
  return `[\`"“_*]*(?<![\\w-])[$@&-]*(?<!\\w)${words}(?:e?s|ies|y)?(?:<[^>\`]*>)?(?![\\w-])[\`"”_*]*`
}

const follower = `(?:${kindWords})s?\\b|${says}\\b|${does}\\b|\\w+ly\\b|(?:[a-z]{1,3}|can|will|would|should|could|must|that|with|from|into|when|where|while|like|have|than|then|only|also|this|they|more|such|over|under|after|before|through|because|which|rather|instead)\\b`

/** A named thing by itself, not as the first half of the name of another (`trait` in `trait object`). */
export const standsAlone = (name: string): RegExp =>
  new RegExp(`${name}(?:[^\\s\\w]|$|\\s+[^\\w]|\\s+(?:${follower}))`, /[A-Z]/.test(name.replace(/\\./g, '')) ? '' : 'i')

/** Patterns of sentences that say what a thing is, with their worth, the surest first. */
function definitionPatterns(subject: string): readonly (readonly [RegExp, number])[] {
  const name = namePattern(subject)
  const anyKind = `(?:\\s+(?:${kindWords})s?)?`
  const aside = '(?:\\s+\\([^)]*\\)|,\\s+(?!which)[^,.]{1,60},|,\\s+which [^,.]{1,120},)?'
  return [
    [new RegExp(`${general}${name}${anyKind}${aside}\\s+${says}\\s+${adverb}${someKind}`, 'i'), 0.65],
    [new RegExp(`${article}${name}\\s+(?:${kindWords})s?${aside}\\s+${says}\\s+${adverb}${someKind}`, 'i'), 0.65],
    [
      new RegExp(
        `${general}${name}${anyKind}${aside}\\s+(?:means?|refers? to|describes?|represents?|denotes?|defines?|consists? of|stands? for)\\s`,
        'i',
      ),
      0.6,
    ],
    [new RegExp(`${article}${name}\\s+(?:${kindWords})s?\\s+\\w+s\\b`, 'i'), 0.5],
    [new RegExp(`${general}${name}${anyKind}${aside}\\s+${adverb}${does}\\b`, 'i'), 0.45],
    [
      new RegExp(
        `${article}(?:(?!because|when|if|while|although|since|as\\b|after|before|once|until|where|how|that|to\\b|in\\b|with|for)[\\w’'-]+\\s+)?${name}${anyKind}${aside}\\s+${says}\\s+${adverb}${someKind}`,
        'i',
      ),
      0.4,
    ],
    [
      new RegExp(
        `\\b(?:called|known as|termed|referred to as|we call (?:it|this)?)\\s+(?:an?\\s+|the\\s+)?${name}`,
        'i',
      ),
      0.35,
    ],
    [new RegExp(`${general}${name}${anyKind}${aside}\\s+(?:is|are)\\s`, 'i'), 0.35],
    [new RegExp(`,\\s+which\\s+(?:is|are)\\s+(?:the\\s+|an?\\s+)?${name}`, 'i'), 0.15],
    [new RegExp(`${name}[^.]{0,30},\\s+which\\s+${says}\\s`, 'i'), 0.1],
  ]
}

/** How much a word of the passages counts, and how sure it is that it was meant. */
interface MeantTerm {
  readonly weight: number
  readonly certainty: number
}

/** Puts in place of words of the question that occur nowhere the parts they are made of, or the likeliest word meant. */
function withoutSlips(
  question: Question,
  vocabulary: ReadonlyMap<string, number>,
  texts: readonly string[],
): { meant: Map<string, MeantTerm>; mended: Map<string, string> } {
  const meant = new Map<string, MeantTerm>()
  const mended = new Map<string, string>()
  const add = (term: string, weight: number, certainty: number): void => {
    if (weight * certainty > (meant.get(term)?.weight ?? 0)) meant.set(term, { weight, certainty })
  }
  let words: ReadonlySet<string> | undefined
  for (const [term, weight] of question.terms) {
    const parts = vocabulary.has(term) ? [] : partsOf(term).map(stem)
    if (vocabulary.has(term)) add(term, weight, 1)
    else if (parts.some((part) => vocabulary.has(part))) for (const part of parts) add(part, weight, 1)
    else {
      words ??= new Set(texts.flatMap(wordsOf))
      const near = nearest(question.words.get(term) ?? term, words)
      add(near === undefined ? term : stem(near), weight, 0.7)
      if (near !== undefined) mended.set(question.words.get(term) ?? term, near)
    }
  }
  return { meant, mended }
}

/** A word that is nearly the same; undefined when there is none. Whole words are compared, since stems are alike too easily. */
function nearest(word: string, words: ReadonlySet<string>): string | undefined {
  for (const known of words) if (isNear(word, known)) return known
  return undefined
}

const summaryHeading =
  /^(?:synopsis|short description|summary|abstract|description|overview|introduction|long description)$/i

const nearestHeading = (unit: Unit, { section = '' }: SourcePassage): string =>
  unit.headings.at(-1) ?? section.split(' > ').at(-1) ?? ''

/** The terms of a text, with those signs of the question that it has as code. */
function termsOf(text: string, symbols: readonly string[]): Set<string> {
  const terms = termSet(text)
  for (const symbol of symbols) if (text.includes(`\`${symbol}\``)) terms.add(symbol)
  return terms
}

/** A synopsis often leaves out whose it is: the title goes before it. */
function withSubject(unit: Unit, passage: SourcePassage): Unit {
  const isBare =
    unit.kind === 'sentence' &&
    unit.index === 0 &&
    /^(?:synopsis|short description)$/i.test(nearestHeading(unit, passage))
  const title = passage.title.replace(/^about_/, '').replaceAll('_', ' ')
  if (!isBare || title === '' || unit.text.toLowerCase().includes(title.toLowerCase())) return unit
  return { ...unit, text: `${/^[\w-]+$/.test(title) ? `\`${title}\`` : title}: ${unit.text}` }
}

function collect(passages: readonly SourcePassage[], symbols: readonly string[]): Candidate[] {
  const seen = new Set<string>()
  return passages.flatMap((passage, rank) => {
    let before: Candidate | undefined
    const own: Candidate[] = []
    for (const [order, read] of unitsOf(passage.content).entries()) {
      const unit = withSubject(read, passage)
      const isNext = before?.block === unit.block
      const candidate: Candidate = {
        ...unit,
        passage,
        rank,
        order,
        terms: termsOf(unit.text, symbols),
        before: isNext ? before : undefined,
        score: 0,
        quality: 1,
        defines: [],
        nearShare: 0,
        nearFit: 0,
        coverage: 0,
      }
      before = candidate
      // Passages may overlap; the better ranked copy counts.
      if (!seen.has(unit.text) || unit.kind === 'code') own.push(candidate)
      seen.add(unit.text)
    }
    return own
  })
}

function quality(unit: Candidate, rankLoss: number): number {
  const { text, kind } = unit
  const count = wordsOf(text).length
  let factor = 1 - rankLoss * Math.min(unit.rank, 15)
  if (unit.rank === 0 && unit.order < 2) factor *= 1.05
  if (kind === 'code') return factor
  if (/\?["”’)]*$/.test(text)) factor *= 0.45
  if (text.endsWith(':')) factor *= 0.7
  if (narration.test(text)) factor *= 0.6
  if (pointsElsewhere.test(text)) factor *= 0.75
  if (isDangling(text)) factor *= 0.85
  if (/^[\p{Ll}…,;)]/u.test(text) && kind === 'sentence') factor *= 0.6
  if (kind === 'sentence' && !/[.!?…:。！？]["”’)\]`]*$/.test(text)) factor *= 0.6
  if (/^\(.*\)\.?$/.test(text)) factor *= 0.7
  if (/\b(?:us|we|we['’]\w+|our|let['’]s)\b/i.test(text)) factor *= 0.88
  if (/\b(?:this|these|those|such) (?!is|was|are|were|means|way\b)\w+/i.test(text)) factor *= 0.93
  if (unit.lead !== undefined && narration.test(unit.lead)) factor *= 0.5
  if (count < 6) factor *= kind === 'row' ? 1 : kind === 'item' ? 0.8 : 0.55
  if (count > 45) factor *= 0.8
  if (count > 70) factor *= 0.7
  if (text.endsWith('!')) factor *= 0.85
  return factor
}

interface Surroundings {
  /** Terms of the title and all headings above. */
  readonly place: ReadonlySet<string>
  /** Terms of the nearest heading and the sentence that leads here. */
  readonly near: ReadonlySet<string>
  readonly nearShare: number
  /** The same, less where the heading is mostly about something else. */
  readonly nearFit: number
  readonly titleShare: number
}

/** Scores everything quotable of the passages by how well it answers. */
export function scorePassages(asked: Question, passages: readonly SourcePassage[]): Scored {
  const candidates = collect(passages, asked.symbols)
  const vocabulary = new Map<string, number>()
  for (const { terms } of candidates) for (const term of terms) vocabulary.set(term, (vocabulary.get(term) ?? 0) + 1)
  for (const { title } of passages)
    for (const term of termSet(title)) vocabulary.set(term, (vocabulary.get(term) ?? 0) + 1)

  const texts = [...candidates.map((unit) => unit.text), ...passages.map((passage) => passage.title)]
  const weights = new Map<string, number>()
  const most = Math.log(1 + candidates.length)
  const weigh = (term: string): number =>
    0.6 + 0.6 * Math.min(1, Math.log(1 + candidates.length / ((vocabulary.get(term) ?? 0) + 0.5)) / (most || 1))
  let total = 0
  const { meant, mended } = withoutSlips(asked, vocabulary, texts)
  const mend = (subject: string): string =>
    subject.replace(/[\p{L}\p{N}]+/gu, (word) => mended.get(word.toLowerCase()) ?? word)
  const question: Question = { ...asked, subjects: asked.subjects.map(mend) }
  for (const [term, { weight, certainty }] of meant) {
    weights.set(term, weight * certainty * weigh(term))
    total += weight * weigh(term)
  }
  total ||= 1

  const topic = [...weights].filter(([, weight]) => weight >= 0.35).map(([term]) => term)
  const definitions = question.subjects.map(definitionPatterns)
  const alone = question.subjects.map((subject) => standsAlone(namePattern(subject.toLowerCase())))
  const shareOf = (terms: ReadonlySet<string>): number => {
    const asked = topic.reduce((sum, term) => sum + (weights.get(term) ?? 0), 0)
    return asked === 0
      ? 0
      : topic.reduce((sum, term) => sum + (terms.has(term) ? (weights.get(term) ?? 0) : 0), 0) / asked
  }
  const fitOf = (terms: ReadonlySet<string>): number => {
    const own = [...terms].filter((term) => !isStopWord(term))
    return shareOf(terms) * (0.3 + (0.7 * own.filter((term) => weights.has(term)).length) / (own.length || 1))
  }
  const density = new Map<SourcePassage, number>()
  for (const unit of candidates)
    if (shareOf(unit.terms) >= 0.5) density.set(unit.passage, (density.get(unit.passage) ?? 0) + 1)
  const surroundings = new Map<string, Surroundings>()
  for (const unit of candidates) {
    const { title, section = '' } = unit.passage
    const nearest = nearestHeading(unit, unit.passage)
    const key = `${title}\n${section}\n${unit.headings.join('\n')}\n${unit.lead ?? ''}`
    const known = surroundings.get(key)
    const near = termSet(`${nearest || title} ${unit.lead ?? ''}`)
    const around = known ?? {
      place: termSet(key),
      near,
      nearShare: shareOf(near),
      nearFit: fitOf(near),
      titleShare: shareOf(termSet(title)),
    }
    surroundings.set(key, around)
    let covered = 0
    let inText = 0
    for (const [term, weight] of weights) {
      const isHere = unit.terms.has(term)
      if (isHere) inText += weight
      covered +=
        weight *
        (isHere
          ? 1
          : around.near.has(term)
            ? 0.7
            : around.place.has(term)
              ? 0.5
              : unit.before?.terms.has(term)
                ? 0.4
                : 0)
    }
    unit.coverage = covered / total
    unit.nearShare = around.nearShare
    unit.nearFit = around.nearFit
    // Ranking finds what speaks most of a thing, which is seldom where it is introduced.
    unit.quality = quality(unit, question.kind === 'definition' ? 0.012 : 0.03)
    unit.defines = definitions.map((own) => own.find(([pattern]) => pattern.test(unit.text))?.[1] ?? 0)
    if (alone.length > 0 && unit.kind === 'sentence' && !alone.some((pattern) => pattern.test(unit.text)))
      unit.quality *= 0.85
    const ground = unit.coverage * (inText === 0 && around.nearShare < 0.7 ? 0.45 : 1)
    const dense = 0.15 * Math.min(1, (density.get(unit.passage) ?? 0) / 4)
    unit.score =
      (ground + dense + bonus(question, unit, around, inText > 0, summaryHeading.test(nearest))) * unit.quality
  }
  return { candidates, question, weights }
}

function bonus(
  question: Question,
  unit: Candidate,
  { nearShare, nearFit, titleShare }: Surroundings,
  isAbout: boolean,
  isSummary: boolean,
): number {
  const isOnTopic = nearShare >= 0.7
  let more = 0.15 * nearFit + 0.1 * titleShare
  if (unit.kind === 'code') return more
  const stems = wordsOf(unit.text).map(stem)
  const met = question.pairs.filter(([one, other]) => stems.some((word, at) => word === one && stems[at + 1] === other))
  if (question.pairs.length > 0) more += (0.2 * met.length) / question.pairs.length
  if (isAbout && clues[question.kind]?.test(unit.text)) more += question.kind === 'how' ? 0.1 : 0.2
  // What a sentence is about stands at its beginning.
  if (stems.slice(0, 6).some((word) => (question.terms.get(word) ?? 0) >= 0.7)) more += 0.1
  more += Math.max(0, ...unit.defines)
  if (question.kind === 'definition' && !isSummary && !unit.defines.some((worth) => worth > 0)) more -= 0.15
  if (
    question.kind !== 'why' &&
    /^(?:because|when|if|although|while|since|as|after|before|once|just as)\b/i.test(unit.text)
  )
    more -= 0.1
  if (question.kind === 'definition' || question.kind === 'overview') {
    if (unit.order < 5) more += 0.15 * nearFit
    if (/^example\b/i.test(unit.headings.at(-1) ?? '')) more -= 0.3
    if (
      /^(?:synopsis|short description|description|overview|introduction|long description)$/i.test(
        unit.headings.at(-1) ?? '',
      )
    )
      more += 0.15
  }
  if (question.kind === 'how' && (isOnTopic || (isSummary && titleShare >= 0.5))) more += 0.15
  if (unit.kind !== 'sentence')
    more += question.isPlural && nearFit >= listFit ? 0.3 : question.isPlural || question.kind === 'how' ? 0 : -0.25
  return more
}
