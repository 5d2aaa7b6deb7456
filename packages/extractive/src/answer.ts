import { yieldToEventLoop } from '@inlay/scheduling'
import { keysOf, lengthInWords, spaceless, wordPattern } from '@inlay/text'
import { hasNumber } from './answer-kind.ts'
import { weighEvidence, type Evidence, type Weighed } from './evidence.ts'
import { readPassages, relevantParts, type ReadPassage, type ReadUnit, type SourcePassage } from './page.ts'
import type { Reading } from './prompt.ts'
import { understand, type Question } from './question.ts'
import { placeOf, quoted, written } from './quoting.ts'

/**
 * Minimum share of the question that one place must cover, otherwise it is refused. Pairs of characters match less
 * often.
 */
const minSupport = { words: 0.4, short: 0.5, spaceless: 0.2 }

/**
 * A sentence is quoted alone if it covers this share of the question and its score exceeds the next one by this gap.
 */
const sure = { share: 0.75, gap: 0.2 }

/** A sentence that leans on headings for more than this may be about another thing of its page. */
const minSureOwn = 0.8

/** A longer sentence is shown as a closest passage: seldom all of it answers. */
const maxSureWords = 25

/** With more characters than this, yields to the event loop between the steps. */
const longCharacters = 20_000

/** Input for choosing an answer. */
interface Findings extends Evidence {
  readonly question: Question
  readonly passages: readonly ReadPassage[]
  /** Whether the passages speak of what the question asks. */
  readonly isKnown: boolean
  /** Whether a unit may be quoted: it is an answer, was not said before, and does no harm. */
  readonly isQuotable: (read: ReadUnit) => boolean
}

/** The forms of an answer, the most complete first. */
const forms: readonly ((findings: Findings) => string | undefined)[] = [list, sureAnswer, closestPassages]

async function quote(original: Question, sources: readonly SourcePassage[], said: string): Promise<string | undefined> {
  const parts = relevantParts(original.queries[0] ?? original.text, sources)
  const { question, current } = withoutOldVersions(original, parts)
  const isLong = current.reduce((sum, { content }) => sum + content.length, 0) > longCharacters
  if (isLong) await yieldToEventLoop()
  const passages = readPassages(current)
  if (isLong) await yieldToEventLoop()
  const evidence = weighEvidence(question, passages)
  const { topic, text } = question
  // Half of two words is one word, which any page may have; a heading that stands in the question says more.
  const isHeaded = ({ read: { heading } }: Weighed): boolean =>
    heading !== '' && keysOf(heading).every((key) => topic.includes(key))
  const isShort = topic.length < 3 && question.kind === undefined && !evidence.units.some(isHeaded)
  const least = spaceless.test(text) ? minSupport.spaceless : minSupport.words
  const isKnown = topic.length > 0 && !evidence.isMissing && evidence.support > least
  const isQuotable = (read: ReadUnit): boolean => isAllowed(read, said)
  const units = evidence.units.filter(({ read }) => isQuotable(read))
  const findings: Findings = { ...evidence, units, question, passages, isKnown, isQuotable }
  if (!isKnown || (isShort && evidence.support <= minSupport.short)) return undefined
  for (const form of forms) {
    const answer = form(findings)
    if (answer !== undefined) return answer
  }
  return undefined
}

const asksForOld =
  /(?<!\bhow |\bwie )\b(?:old|older|previous|former|outdated|superseded|alte[nrs]?|frühere[nrs]?|vorherige[nrs]?)\b/iu

/**
 * Drops passages of documents that another one among the results replaces, unless they alone contain a word of the
 * question. A question for the old version keeps it instead, and one with a year the versions of that year.
 */
function withoutOldVersions(question: Question, sources: readonly SourcePassage[]) {
  const isReplaced = ({ replacedBy = '' }: SourcePassage): boolean =>
    replacedBy !== '' && sources.some((other) => other.title === replacedBy && other.replacedBy !== replacedBy)
  const replaced = new Set(sources.filter(isReplaced))
  if (replaced.size === 0) return { question, current: sources }
  const newest = new Set([...replaced].map(({ replacedBy }) => replacedBy))
  /** The title of the newest version; undefined for a document without other versions. */
  const familyOf = (source: SourcePassage): string | undefined =>
    replaced.has(source) ? source.replacedBy : newest.has(source.title) ? source.title : undefined
  const years = question.names.filter((key) => /^(?:19|20)\d\d$/.test(key))
  const isOfYear = ({ title, updatedAt = '' }: SourcePassage): boolean =>
    years.some((year) => (/\b(?:19|20)\d\d\b/.test(title) ? title.includes(year) : updatedAt.startsWith(year)))
  const ofYear = new Set(sources.filter(isOfYear).flatMap((source) => familyOf(source) ?? []))
  const isOld = asksForOld.test(question.text)
  const isCurrent = (source: SourcePassage): boolean => {
    const family = familyOf(source)
    if (family === undefined) return true
    return ofYear.has(family) ? isOfYear(source) : isOld === replaced.has(source)
  }
  const keysIn = (list: readonly SourcePassage[]): ReadonlySet<string> =>
    new Set(list.flatMap(({ title, section = '', content }) => keysOf(`${title} ${section} ${content}`)))
  const known = keysIn(sources.filter(isCurrent))
  const missing = isOld ? [] : question.topic.filter((key) => !known.has(key) && !years.includes(key))
  const isNeeded = (source: SourcePassage): boolean => missing.some((key) => keysIn([source]).has(key))
  // The year has chosen a version; its sentences need not repeat it.
  const isTopic = (key: string): boolean => ofYear.size === 0 || !years.includes(key)
  return {
    question: { ...question, topic: question.topic.filter(isTopic), names: question.names.filter(isTopic) },
    current: sources.filter((source) => isCurrent(source) || isNeeded(source)),
  }
}

const referral =
  /^(?:more information\b|read more\b|see (?:also\b|[^.]{1,40}\.?$)|for (?:more|further) (?:information|details)\b)|\bplease (?:also )?(?:have a look at|refer to|see)\b/i

function isAllowed({ unit }: ReadUnit, said: string): boolean {
  // What a command prints tells nobody what to do.
  if (unit.language === 'output' || referral.test(unit.text)) return false
  if (unit.kind === 'sentence' && /[?？]$/.test(unit.text)) return false
  return said === '' || !said.includes(unit.text.replace(/(?<![.!?:])[.!?:]+$/, ''))
}

/** Units in their order if each of them may be quoted. */
const allWritten = (units: readonly ReadUnit[], { isQuotable }: Findings): string | undefined =>
  units.length > 0 && units.every(isQuotable) ? written(units) : undefined

/** Minimum share of the topic in a heading or title for the steps of it. */
const minHeadingShare = 0.6
const comparing = /\bdifferences?\b|\bcompare\b|\bvs\b|\bversus\b/i
const asks =
  /[?？]|^(?:who|whom|whose|what|when|where|which|why|how|can|could|may|is|are|was|were|do|does|did|has|have|should|must|wer|wen|wem|was|wann|wo|wie|warum|welche[rsn]?|ist|sind|kann|darf|muss|gibt|i|we|my|ich|wir)(?!\p{L})/iu
const stepsHeading =
  /\b(?:steps?|how|instructions?|procedure|method|directions|anleitung|schritte?|zubereitung|vorgehen|pasos|étapes)\b/iu

/** Minimum share of the topic in the headings of a list or table, and in the nearest one. */
const [minListShare, minOwnShare] = [0.9, 0.3]

/** The list or table that the question asks for, or the steps of the task that it asks about. */
function list(findings: Findings): string | undefined {
  const { question, units, shareOf, isQuotable } = findings
  const { form, topic, kind, text } = question
  // `Public holidays in Bergen` names a table without asking for a list.
  const isName = form !== 'list' && form !== 'steps' && topic.length > 1 && kind === undefined && !asks.test(text)
  if (form !== 'list' && form !== 'steps' && !isName) return undefined
  const groups = new Set(units.flatMap(({ read: { group } }) => (group.length > 1 ? [group] : [])))
  const suitable = [...groups].flatMap((group) => {
    const { unit, above, heading, passage, isCommand } = group[0]!
    const own = shareOf(above, new Set(keysOf(heading)))
    const share = shareOf(above, passage.head)
    const isProcedure = unit.isNumbered || stepsHeading.test(heading)
    const isSuitable =
      form === 'steps'
        ? isProcedure &&
          !isCommand &&
          (own >= minHeadingShare || (stepsHeading.test(heading) && shareOf(passage.head) >= 0.5))
        : (unit.kind === 'row' || !isName) && own > minOwnShare && share >= (isName ? 1 : minListShare)
    return isSuitable ? [{ group, worth: form === 'steps' ? 0 : share + own / 2 }] : []
  })
  const [best] = suitable.toSorted((left, right) => right.worth - left.worth)
  if (!best) return undefined
  const shown = form === 'steps' ? best.group : best.group.filter(isQuotable)
  return shown.length < 2 ? undefined : allWritten(shown[0]!.lead ? [shown[0]!.lead, ...shown] : shown, findings)
}

/** The single sentence, command, list or procedure that answers with high confidence. */
function sureAnswer(findings: Findings): string | undefined {
  const [best, next] = findings.units
  if (!best || !isSure(best, next, findings)) return undefined
  const { read } = best
  const units = together(read, findings)
  // Remarks on an example are no steps.
  if (findings.question.form === 'steps' && read.led[0]?.unit.kind === 'item' && !read.led[0].unit.isNumbered)
    return undefined
  if (units.length > 1) return allWritten(units, findings)
  if (read.isCommand) return quoted(read)
  // What ends like this is part of a sentence.
  return isBrief(read) && !/[:：,;]$/.test(read.unit.text) ? quoted(read) : undefined
}

const isBrief = ({ unit: { text } }: ReadUnit): boolean => lengthInWords(text) <= maxSureWords

/** A unit with those without which it is of no use: what it leads to, the lead of code, the rest of a list. */
function together(read: ReadUnit, { question: { kind }, shareOf }: Findings): readonly ReadUnit[] {
  const lead = read.unit.kind === 'code' ? (read.lead ?? read) : read
  if (lead.led.length > 0) return [lead, ...lead.led]
  // Steps make sense together, and so do items of which the heading says more than they do.
  const isPart = read.unit.isNumbered || shareOf(read.keys) < shareOf(read.above)
  return read.unit.kind === 'item' && !read.isCommand && isPart && kind === undefined ? read.group : [read]
}

const asksWhy = /^(?:why|warum|wieso|por qué|pourquoi|perché)(?!\p{L})/iu
const reason = /\b(?:because|since|so that|in order to|due to|reason|weil|denn|damit|porque|debido|parce|car|perché)\b/i

/** Starts with a word that refers to the previous sentence. */
const leansBack =
  /^(?:(?:and|but|however|also|then|thus|und|aber|jedoch),? )?(?:he|she|it|they|this|these|those|his|her|its|their|er|sie|dies\p{L}*|él|ella|ellos|ellas|est[aeo]s?|il|elle|ils|elles|ce|cette|ces|cela)(?!\p{L})/iu

function isSure(best: Weighed, next: Weighed | undefined, findings: Findings): boolean {
  const { question, units, has, literalShare, shareOf } = findings
  const { topic, form, kind, text } = question
  const { read } = best
  const { unit, passage, above } = read
  const known = new Set(topic)
  /** Words of a sentence that the question does not have. */
  const fresh = ({ unit: { text: other } }: ReadUnit): string[] =>
    (other.match(wordPattern) ?? []).filter((word) => !keysOf(word).some((key) => known.has(key)))
  const valuesOf = (other: ReadUnit): string =>
    kind === 'number' ? [...new Set(fresh(other).filter(hasNumber))].toSorted().join(' ') : ''
  const covers = (key: string): boolean => has(key, read.keys, above, passage.head)

  if (form === 'list' || form === 'overview' || comparing.test(text) || literalShare(read) < 1) return false
  if (next && best.score - next.score <= sure.gap) return false
  // A page called like the topic need not repeat it: any of its values may be the answer.
  const isOtherValue = (other: ReadUnit): boolean => {
    const values = other.unit.kind === 'row' ? '' : valuesOf(other)
    return values !== '' && values !== valuesOf(read)
  }
  const isNamed = shareOf(above, passage.head) >= sure.share
  if (kind === 'number' && isNamed && read.section.some(isOtherValue)) return false
  // The question has to speak of the page of a command.
  if (read.isCommand && ![...passage.head].some((key) => known.has(key))) return false
  if (best.own < minSureOwn || passage.source.replacedBy) return false
  // What the question calls by name stands in the sentence or its heading: the title names all that is on the page.
  const named = (text.match(/(?<=\S\s)\p{Lu}[\p{L}\p{M}\p{N}]*/gu) ?? []).flatMap(keysOf)
  if (!named.every((key) => !known.has(key) || has(key, read.keys, read.headingKeys))) return false
  // One of many commands is sure only on the page that the question names, and its description is no instruction.
  const { title } = passage.source
  const isTitled = keysOf(title).every((key) => known.has(key))
  const isOnly = (): boolean => units.every(({ read: other }) => other.passage.source.title === title)
  if (passage.isManual && form !== 'definition' && !(read.isCommand && (isTitled || isOnly()))) return false
  // A row without the value that is asked for.
  if (unit.kind === 'row' && kind === 'number') return false
  if (best.fit < 0 || /[?？]$/.test(unit.text)) return false
  if (asksWhy.test(text) && !reason.test(unit.text)) return false
  if (unit.kind === 'sentence' && leansBack.test(unit.text)) return false
  // Instructions that lack a word of the question may do something else.
  return form !== 'steps' || topic.every(covers)
}

const maxPlaces = 3
/** The first place is quoted up to here before any other. */
const minQuotesOfNearest = 3
/** Maximum number of words of all closest passages, without their headings. */
const maxClosestWords = 120
/** A place is shown if it covers at least this share of what the best place covers. */
const minRelativeShare = 0.5

/** Quotes the best sentences of the closest places if no single one answers with confidence. */
function closestPassages(findings: Findings): string | undefined {
  const { question, units, passages, shareOf, literalShare, isQuotable } = findings
  const newest = new Set(passages.map(({ source }) => source.replacedBy ?? ''))
  const isComparing = comparing.test(question.text)
  // Each side of a comparison covers about half of it.
  const least = (isComparing ? 0.8 : 1) * minRelativeShare * Math.max(0, ...units.map(({ context }) => context))
  const isWhole = ({ unit: { kind, text }, led }: ReadUnit): boolean =>
    kind !== 'sentence' || led.length > 0 || (lengthInWords(text) > 1 && !/[:：]$/.test(text))
  // Never an old version without the new one.
  const isNear = ({ read, context }: Weighed): boolean =>
    context > 0 && (context >= least || newest.has(read.passage.source.title))
  const close = units.filter((each) => isWhole(each.read) && isNear(each) && literalShare(each.read) > 0)
  const places = new Map<string, ReadUnit[]>()
  let room = maxClosestWords
  const keyOf = ({ read }: Weighed): string => `${read.passage.source.number} ${placeOf(read)}`
  const [nearest = []] = Map.groupBy(close, keyOf).values()
  for (const weighed of new Set([...nearest.slice(0, minQuotesOfNearest), ...close])) {
    const { read, own, fit } = weighed
    const { unit, passage, heading, above } = read
    const key = keyOf(weighed)
    const shown = places.get(key) ?? []
    if (shown.length === 0 && places.size === maxPlaces) continue
    // A unit without a word of the question may lean on the headings of the first place, or of one that is shown;
    // elsewhere on its own heading, not on the title. A row stands for itself.
    const isFurther = places.size > 0 && shown.length === 0
    const about = isFurther ? [new Set(heading === passage.source.title ? [] : keysOf(heading))] : [above, passage.head]
    if ((isFurther && fit < 0) || (own === 0 && (unit.kind === 'row' || shareOf(...about) === 0))) continue
    const before = passage.units[read.at - 1]
    const isLeaning = before?.unit.block === unit.block && leansBack.test(unit.text) && isQuotable(before)
    const all = isLeaning ? [before, read] : together(read, findings)
    // Of a long list below the heading that the question names, the best items.
    const isNamed =
      unit.kind === 'item' && !unit.isNumbered && [...read.headingKeys].every((key) => question.topic.includes(key))
    const whole = isNamed && lengthInWords(written(all)) > room ? [read] : all
    const quotes = whole.filter((each) => !shown.includes(each))
    const words = lengthInWords(written(quotes))
    if (quotes.length === 0 || !quotes.every(isQuotable) || (words > room && places.size > 0)) continue
    shown.push(...quotes)
    places.set(key, shown)
    room -= words
    // Steps stand alone.
    if (places.size === 1 && quotes.length > 1 && unit.isNumbered) break
  }
  const isOld = ([read]: readonly ReadUnit[]): number => (read!.passage.source.replacedBy ? 1 : 0)
  return places.size === 0 ? undefined : closest([...places.values()].toSorted((a, b) => isOld(a) - isOld(b)))
}

function closest(places: readonly ReadUnit[][]): string {
  const shown = places.map((quotes) => {
    const orderOf = ({ passage, at }: ReadUnit): number => passage.rank * 1e6 + at
    const units = quotes.toSorted((left, right) => orderOf(left) - orderOf(right))
    const name = placeOf(units[0]!)
    const quotation = written(units).replace(/^/gm, '> ').replace(/^> $/gm, '>')
    return name === '' ? quotation : `**${name}**\n\n${quotation}`
  })
  return [`The closest passage${shown.length === 1 ? ' is' : 's are'}:`, ...shown].join('\n\n')
}

const maxToolText = 2_000

function fromTools({ toolAnswers }: Reading): string {
  const failed = toolAnswers.find((answer) => answer.isError || answer.text.startsWith('Tool failed with error'))
  if (failed)
    return `The action \`${failed.toolName}\` failed, so I cannot answer. Please try again, or rephrase the question.`
  return toolAnswers
    .map(({ toolName, text }) => `\`${toolName}\` gave:\n\n\`\`\`\`text\n${text.slice(0, maxToolText)}\n\`\`\`\``)
    .join('\n\n')
}

/**
 * Answers the current question from search results and from texts in the conversation, or says that neither contains an
 * answer.
 */
export async function answerFromFindings(reading: Reading): Promise<string> {
  const question = understand(reading.questions)
  const passages = [...reading.context, ...reading.passages]
  const isRepeat =
    reading.questions.length > 1 && question.queries[0] === understand(reading.questions.slice(0, -1)).queries[0]
  const answer = await quote(question, passages, isRepeat ? (reading.answers.at(-1) ?? '') : '')
  if (answer !== undefined) return answer
  if (reading.passages.length === 0 && reading.toolAnswers.length > 0) return fromTools(reading)
  if (isRepeat) return 'I found nothing more about this in the documents.'
  if (passages.length === 0)
    return 'I found nothing about this in the documents. Other words may help, or the documents do not cover it.'
  return 'I could not find an answer to this in the documents.'
}

/** Answers from the conversation only: texts sent with the message, then earlier answers. */
export async function answerFromConversation(reading: Reading): Promise<string | undefined> {
  const question = understand(reading.questions)
  const earlier = reading.answers.map((content): SourcePassage => ({ number: undefined, title: '', content }))
  return (await quote(question, reading.context, '')) ?? quote(question, earlier.toReversed(), '')
}
