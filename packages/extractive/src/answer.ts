import { yieldToEventLoop } from '@inlay/scheduling'
import { commonWordsOf, keysOf, lengthInWords, spaceless, stopWords, wordPattern } from '@inlay/text'
import { fitOf, isOfKind } from './answer-kind.ts'
import { isDangerous, isOpposite } from './dangers.ts'
import {
  headingOf,
  readPassages,
  weighEvidence,
  type Evidence,
  type ReadPassage,
  type ReadUnit,
  type SourcePassage,
  type Weighed,
} from './evidence.ts'
import type { Reading } from './prompt.ts'
import { understand, type Question } from './question.ts'
import { cited, placeOf, quoted, quotedList, relevantParts, shortened } from './quoting.ts'
import { extremeRows, namedRow, valueWord, type Rows } from './tables.ts'

/**
 * Minimum share of the question that one place must cover, otherwise it is refused. Pairs of characters match less
 * often.
 */
const minSupport = { words: 0.4, spaceless: 0.2 }

/**
 * A sentence is quoted alone if it covers this share of the question and its score exceeds the next one by this gap.
 */
const sure = { share: 0.75, gap: 0.2 }

/** A longer sentence is cut at the ends of clauses. */
const maxSureWords = 25

const stopKeys = new Set([...stopWords].flatMap(keysOf))

const maxPlaces = 3
/** Maximum number of words of all closest passages, without their headings. */
const maxClosestWords = 95
/** With less room than this, no further sentence is added. */
const minQuotedWords = 5
/** A place is shown if it covers at least this share of what the best place covers. */
const minRelativeShare = 0.5
const maxSentencesOfPlace = 2
const maxListItems = 15
const maxSections = 8

/** With more characters than this, yields to the event loop between the steps. */
const longCharacters = 20_000

/** Input for choosing an answer. */
interface Findings {
  readonly question: Question
  readonly passages: readonly ReadPassage[]
  readonly evidence: Evidence
  /** Quotable units, best first. */
  readonly units: readonly Weighed[]
}

const isReferral = (text: string): boolean =>
  /^(?:more information\b|read more\b|see (?:also\b|[^.]{1,40}\.?$)|for (?:more|further) (?:information|details)\b)/i.test(
    text,
  )

async function quote(original: Question, sources: readonly SourcePassage[], said: string): Promise<string | undefined> {
  const { question, current } = withoutOtherVersions(
    relevantParts(original.queries[0] ?? original.text, sources),
    original,
  )
  const isLong = current.reduce((sum, { content }) => sum + content.length, 0) > longCharacters
  if (isLong) await yieldToEventLoop()
  const passages = readPassages(current)
  if (isLong) await yieldToEventLoop()
  const evidence = weighEvidence(question, passages)
  const units = evidence.units.filter(({ read }) => isQuotable(question, read, said))
  const findings = { question, passages, evidence, units }
  const section = titledOverview(findings) ?? answeringSection(findings)
  if (section) return section
  const isKnown = !isRefused(findings)
  const rows = (isKnown && namedRow(question, passages, evidence)) || extremeRows(question, passages, evidence)
  if (rows) return writeRows(rows)
  if (!isKnown) return undefined
  return (
    overview(findings) ??
    list(findings) ??
    steps(findings) ??
    sureAnswer(findings) ??
    samelyHeaded(findings) ??
    closestPassages(findings)
  )
}

const bare = (text: string): string => text.replace(/(?<![.!?:])[.!?:]+$/, '')

function isQuotable(question: Question, { unit, passage }: ReadUnit, said: string): boolean {
  // What a command prints tells nobody what to do.
  if (unit.language === 'output' || isReferral(unit.text) || (said !== '' && said.includes(bare(unit.text))))
    return false
  const code =
    unit.kind === 'code' ? unit.text : [unit.code?.text ?? '', ...(unit.text.match(/`[^`]+`/g) ?? [])].join('\n')
  if (code === '') return true
  const prose =
    unit.kind === 'code' ? `${unit.headings.at(-1) ?? passage.source.section ?? ''} ${unit.lead ?? ''}` : unit.text
  const wanted = question.queries[0] ?? question.text
  return !isDangerous(wanted, prose, code) && !isOpposite(wanted, `${passage.source.title} ${prose} ${code}`)
}

/** The part of a title that distinguishes versions of one document: a year, a date, `v2`, `version 2.1`, `rev. 3`. */
const versionMark =
  /\b(?:v|version|ver|rev|revision|fassung|stand)[.\s]*(\d+(?:\.\d+)*)\b|\b((?:19|20)\d\d(?:-\d\d){0,2})\b/giu

function versionOf({ title, section = '', updatedAt = '' }: SourcePassage) {
  const marks = [...title.matchAll(versionMark)].map(([, version, year]) => version ?? year ?? '')
  const plain = (text: string): string =>
    text
      .toLowerCase()
      .replace(versionMark, ' ')
      .replace(/[\p{P}\p{S}\s]+/gu, ' ')
      .trim()
  return { marks, names: [plain(title), plain(section)], updatedAt }
}

type Version = ReturnType<typeof versionOf>

/** Whether one document is newer than another: by the version in their titles, otherwise by their dates. */
function isNewer(left: Version, right: Version): boolean {
  const [own, other] = [left.marks.join(' '), right.marks.join(' ')]
  if (left.marks.length > 0 && left.marks.length === right.marks.length && own !== other)
    return own.localeCompare(other, 'en', { numeric: true }) > 0
  return right.updatedAt !== '' && left.updatedAt > right.updatedAt
}

const asksForOld =
  /(?<!\bhow |\bwie )\b(?:old|older|previous|former|outdated|superseded|alte[nrs]?|frühere[nrs]?|vorherige[nrs]?)\b/iu

/**
 * Drops passages of which the others contain a newer version: the same title or heading except for a version or a year,
 * and mostly the same words. A question for a year or for the old version keeps that version of a title instead.
 * A passage that is the only one with a number or name of the question is kept.
 */
function withoutOtherVersions(
  sources: readonly SourcePassage[],
  question: Question,
): { question: Question; current: readonly SourcePassage[] } {
  const { names, text } = question
  let isYearChosen = false
  const years = names.filter((key) => /^(?:19|20)\d\d$/.test(key))
  const isOfYear = ({ marks, updatedAt }: Version): boolean =>
    years.some(
      (year) => marks.some((mark) => mark.startsWith(year)) || (marks.length === 0 && updatedAt.startsWith(year)),
    )
  const read = sources.map((source) => ({
    source,
    version: versionOf(source),
    keys: new Set(keysOf(`${source.title} ${source.content}`)),
  }))
  const isReplaced = (own: (typeof read)[number], other: (typeof read)[number]): boolean => {
    if (other.source.number === own.source.number && own.source.number !== undefined) return false
    const isSameTitle = own.version.names[0] !== '' && own.version.names[0] === other.version.names[0]
    if (isSameTitle && isOfYear(other.version) && !isOfYear(own.version)) return (isYearChosen = true)
    if (isSameTitle && years.length === 0 && asksForOld.test(text)) return isNewer(own.version, other.version)
    if (!isNewer(other.version, own.version) || isOfYear(own.version)) return false
    if (!own.version.names.some((name, part) => name !== '' && name === other.version.names[part])) return false
    if (names.some((key) => own.keys.has(key) && !other.keys.has(key))) return false
    const shared = [...own.keys].filter((key) => other.keys.has(key)).length
    return shared >= 0.6 * Math.min(own.keys.size, other.keys.size) && own.keys.size > 3
  }
  const current = sources.filter((_, at) => !read.some((other) => isReplaced(read[at]!, other)))
  // The year has chosen the version; its sentences need not repeat it.
  const isTopic = (key: string): boolean => !isYearChosen || !years.includes(key)
  return { question: { ...question, topic: question.topic.filter(isTopic), names: names.filter(isTopic) }, current }
}

function isRefused({ question, evidence }: Findings): boolean {
  const { topic, text } = question
  if (topic.length === 0 || evidence.missing.length > 0) return true
  if (question.literals.length > 0 && !evidence.units.some(({ read }) => evidence.literalShare(read) > 0)) return true
  return evidence.support <= (spaceless.test(text) ? minSupport.spaceless : minSupport.words)
}

const writeRows = (rows: Rows): string =>
  rows.map(({ read, text }) => cited(text, read.passage.source.number)).join('\n\n')

/** Units under the same heading of the same passage, in order. */
const sectionOf = ({ passage, unit }: ReadUnit): readonly ReadUnit[] =>
  passage.units.filter((other) => other.unit.headings.join('\n') === unit.headings.join('\n'))

const maxSectionWords = 60

/** Returns the beginning of the section whose heading asks the same question, as on an FAQ page. */
function answeringSection({ question, passages, evidence: { has } }: Findings): string | undefined {
  const isCommon = (key: string): boolean => passages.filter(({ all }) => has(all, key)).length * 2 > passages.length
  const distinctive = question.topic.filter((key) => !question.names.includes(key) || !isCommon(key))
  const wanted = distinctive.length > 0 ? distinctive : question.topic
  if (wanted.length === 0) return undefined
  let best: { first: ReadUnit; more: number } | undefined
  for (const { units } of passages)
    for (const [at, read] of units.entries()) {
      const heading = headingOf(read)
      if (!/[?？]\s*$/.test(heading) || (at > 0 && headingOf(units[at - 1]!) === heading)) continue
      for (const [asking] of heading.matchAll(/[^?？]+[?？]/g)) {
        const headingQuestion = understand([asking])
        const keys = new Set(headingQuestion.topic)
        const more = headingQuestion.topic.filter(
          (key) => !question.topic.includes(key) && !question.names.includes(key),
        ).length
        if (
          !wanted.every((key) => has(keys, key)) ||
          !asksAlike(question, headingQuestion) ||
          more > Math.max(1, wanted.length)
        )
          continue
        if (more < (best?.more ?? Infinity)) best = { first: read, more }
      }
    }
  if (!best) return undefined
  const section = sectionOf(best.first).filter((read) => isQuotable(question, read, ''))
  return section.length === 0 ? undefined : beginningOf(section)
}

/** The units of a section that fit into an answer. */
function beginningOf(section: readonly ReadUnit[]): string {
  let words = 0
  const end = section.findIndex(({ unit }, at) => (words += lengthInWords(unit.text)) > maxSectionWords && at > 0)
  return inOrder(end === -1 ? section : section.slice(0, end))
}

/** Whether two questions on one topic ask for the same kind of value. */
function asksAlike(question: Question, other: Question): boolean {
  if (question.kind === other.kind) return true
  const isLabel = !/[?？]/.test(question.text) && question.topic.length < 3
  const general = [question, other].every(({ kind, form }) => kind !== 'name' && form !== 'steps')
  return isLabel || general
}

/** Writes units as on their page: sentences of a paragraph on one line, everything else on separate lines. */
function inOrder(units: readonly ReadUnit[]): string {
  return units.reduce((written, read, at) => {
    const before = units[at - 1]
    const isLead = units[at + 1]?.unit.kind === 'code' && units[at + 1]?.unit.lead === read.unit.text
    // Code is written together with the sentence that introduces it.
    if (isLead) return written
    const text = read.unit.kind === 'item' && !read.unit.code ? `- ${quoted(read)}` : quoted(read)
    if (!before || written === '') return text
    const isSame = before.unit.block === read.unit.block && read.at - before.at === 1
    const isList = before.unit.kind === 'item' && read.unit.kind === 'item' && !before.unit.code
    return `${written}${isSame ? (spaceless.test(text) ? '' : ' ') : isList ? '\n' : '\n\n'}${text}`
  }, '')
}

/** Minimum share of the topic in a heading or title for an overview of it. */
const minHeadingShare = 0.6

const plainTitle = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[\p{P}\s]+/gu, ' ')
    .trim()

/** Returns the overview of the page whose title is the whole question. */
function titledOverview(findings: Findings): string | undefined {
  const text = plainTitle(findings.question.text)
  const page = findings.passages.find(({ source }) => source.title !== '' && plainTitle(source.title) === text)
  return page && overviewOf(page, findings)
}

function overview(findings: Findings): string | undefined {
  if (findings.question.form !== 'overview') return undefined
  const shares = findings.passages.map(({ head }) => findings.evidence.shareOf(head))
  const best = Math.max(...shares)
  const page = findings.passages[shares.indexOf(best)]
  return page && best >= minHeadingShare ? overviewOf(page, findings) : undefined
}

/** Lists the headings of a page with the first sentence of each. */
function overviewOf(page: ReadPassage, { question, passages }: Findings): string | undefined {
  const { number, title } = page.source
  const units = passages
    .filter(({ source }) => source.number === number && source.title === title)
    .flatMap((passage) => passage.units)
    .filter((read) => isQuotable(question, read, ''))
  const sections = [...Map.groupBy(units, headingOf)]
  if (sections.length < 2) {
    const isList = units.filter(({ unit }) => unit.kind !== 'sentence').length * 2 > units.length
    return isList ? quotedList(units.slice(0, maxListItems), undefined) : inOrder(units.slice(0, 3))
  }
  return sections
    .slice(0, maxSections)
    .flatMap(([heading, [first]]) =>
      first ? [`- **${heading || title}**: ${quoted(first).replaceAll('\n', '\n  ')}`] : [],
    )
    .join('\n')
}

const asks =
  /[?？]|^(?:who|whom|whose|what|when|where|which|why|how|can|could|may|is|are|was|were|do|does|did|has|have|should|must|wer|wen|wem|was|wann|wo|wie|warum|welche[rsn]?|ist|sind|kann|darf|muss|gibt|i|we|my|ich|wir)(?!\p{L})/iu

/** Minimum share of the topic in the headings of a list or table. */
const minListShare = 0.9

/** Returns the list or table that the question asks for. */
function list({ question, passages, evidence: { shareOf } }: Findings): string | undefined {
  // `Public holidays in Bergen` names a table without asking for a list.
  const namesTable = question.form !== 'list'
  if (namesTable && (question.topic.length < 2 || question.kind !== undefined || asks.test(question.text)))
    return undefined
  let best: { items: ReadUnit[]; share: number } | undefined
  for (const passage of passages) {
    const items = passage.units.filter(
      (read) =>
        (read.unit.kind === 'row' || (read.unit.kind === 'item' && !namesTable)) && isQuotable(question, read, ''),
    )
    const lists = Map.groupBy(items, ({ unit }) =>
      [unit.kind, unit.lead, ...unit.headings, unit.table?.header].join('\n'),
    )
    for (const listed of lists.values()) {
      const [first] = listed
      if (!first || listed.length < 2) continue
      const own = shareOf(first.above, new Set(keysOf(headingOf(first))))
      const share = shareOf(first.above, passage.head) + 0.5 * own
      if (own > 0.3 && share - 0.5 * own >= (namesTable ? 1 : minListShare) && share > (best?.share ?? 0))
        best = { items: listed, share }
    }
  }
  if (!best) return undefined
  const { items } = best
  const more = items.length > maxListItems ? `\n- … ${items.length - maxListItems} more` : ''
  return quotedList(items.slice(0, maxListItems)) + more
}

const stepsHeading =
  /\b(?:steps?|how|instructions?|procedure|method|directions|anleitung|schritte?|zubereitung|vorgehen|pasos|étapes)\b/iu

/** Returns the steps of a section about the task. */
function steps({ question, units, evidence: { shareOf } }: Findings): string | undefined {
  if (question.form !== 'steps') return undefined
  for (const { read } of units) {
    if (read.unit.kind !== 'item' || read.unit.code) continue
    const section = sectionOf(read).filter(({ unit }) => unit.lead === read.unit.lead || unit.text === read.unit.lead)
    const items = section.filter((other) => other.unit.kind === 'item' && !other.unit.code)
    const above = shareOf(read.above, new Set(keysOf(headingOf(read))))
    const isAbout =
      above >= minHeadingShare || (stepsHeading.test(headingOf(read)) && shareOf(read.passage.head) >= 0.5)
    if (items.length < 2 || !isAbout || !(items[0]!.unit.isNumbered || stepsHeading.test(headingOf(read)))) continue
    const allowed = items.filter(
      (other) => isQuotable(question, other, '') && !isDangerous(question.text, other.unit.text),
    )
    if (allowed.length === items.length) return quotedList(items.slice(0, maxListItems))
  }
  return undefined
}

/** Items introduced by a sentence that ends in a colon. */
const ledBy = ({ unit, passage, at }: ReadUnit): readonly ReadUnit[] => {
  if (unit.kind !== 'sentence' || !/[:：]$/.test(unit.text)) return []
  const after = passage.units.slice(at + 1)
  const end = after.findIndex((other) => other.unit.kind !== 'item' || other.unit.lead !== unit.text)
  return end === -1 ? after : after.slice(0, end)
}

/** Returns the section whose heading has the same meaning as the question. */
function samelyHeaded({ question, units, evidence: { has } }: Findings): string | undefined {
  const { topic, kind } = question
  if (topic.length < 2 || kind !== undefined || comparing.test(question.text)) return undefined
  for (const { read } of units) {
    // The text directly below the title, before the first section, may be about anything.
    if (headingOf(read) === read.passage.source.title) continue
    const heading = keysOf(headingOf(read)).filter((key) => !stopKeys.has(key))
    const own = new Set(heading)
    if (!topic.every((key) => has(own, key)) || own.size > topic.length) continue
    const section = sectionOf(read)
    if (section.every((other) => isQuotable(question, other, ''))) return beginningOf(section)
  }
  return undefined
}

/** Returns the single sentence, command or row that answers with high confidence. */
function sureAnswer({ question, units, evidence }: Findings): string | undefined {
  const defined =
    question.form === 'definition' && question.literals.length === 0 ? definition(question, units) : undefined
  const definedText = defined && short(question, defined, evidence)
  if (definedText !== undefined) return quoted(defined!, definedText)
  const labelled = labelledValue(question, units, evidence)
  if (labelled) return quoted(labelled)
  const [best, next] = units
  if (!best || !isSure(question, best, next, evidence)) return undefined
  const { read } = best
  // A sentence that introduces code is quoted with the code.
  const code = read.passage.units.find(({ unit }) => unit.kind === 'code' && unit.lead === read.unit.text)
  if (code) return isQuotable(question, code, '') ? quoted(code) : undefined
  const led = ledBy(read)
  if (led.length > 0 && question.form === 'steps' && !led[0]!.unit.isNumbered) return undefined
  if (led.length > 0)
    return led.every((item) => isQuotable(question, item, '')) ? quotedList(led.slice(0, maxListItems)) : undefined
  if (read.unit.kind === 'code' || read.unit.code) return quoted(read)
  if (/[:：]$/.test(read.unit.text)) return undefined
  // One step of a procedure is no answer.
  const procedure = read.unit.isNumbered && question.kind === undefined ? numberedWith(read) : []
  if (procedure.length > 1)
    return procedure.every((step) => isQuotable(question, step, ''))
      ? quotedList(procedure.slice(0, maxListItems))
      : undefined
  const text = short(question, read, evidence)
  return text === undefined ? undefined : quoted(read, text)
}

/** The value behind a label of the page or section that the question names: `Phone: …` of the helpdesk. */
function labelledValue(question: Question, units: readonly Weighed[], { has }: Evidence): ReadUnit | undefined {
  const wanted = question.topic.filter((key) => !valueWord.test(key))
  const matching = units.flatMap(({ read }) => {
    const [, label] = /^([^:.]{2,30}): \S/.exec(read.unit.text) ?? []
    const keys = read.unit.kind === 'row' || label === undefined ? [] : keysOf(label)
    const own = new Set(keys)
    const isAsked = keys.length > 0 && keys.every((key) => wanted.some((other) => has(new Set([key]), other)))
    const head = new Set([...read.passage.head, ...read.above])
    return isAsked && wanted.every((key) => has(own, key) || has(head, key)) ? [read] : []
  })
  return matching.length === 1 ? matching[0] : undefined
}

const comparing = /\bdifferences?\b|\bcompare\b|\bvs\b|\bversus\b/i
const asksWhy = /^(?:why|warum|wieso|por qué|pourquoi|perché)(?!\p{L})/iu
const reason = /\b(?:because|since|so that|in order to|due to|reason|weil|denn|damit|porque|debido|parce|car|perché)\b/i

function isSure(
  question: Question,
  { read, score, bonus }: Weighed,
  next: Weighed | undefined,
  { units: all, has, literalShare, shareOf }: Evidence,
): boolean {
  const known = new Set(question.topic)
  /** Numbers and names of a sentence that the question asks for. */
  const values = ({ unit }: ReadUnit): string =>
    [...new Set(unit.text.match(wordPattern) ?? [])]
      .filter((word) => isOfKind(question.kind, word) && !keysOf(word).some((key) => known.has(key)))
      .toSorted()
      .join(' ')
  const isCode = read.unit.kind === 'code' || read.unit.code
  const proseKeys = isCode ? new Set(keysOf(read.unit.kind === 'code' ? '' : read.unit.text)) : read.keys
  // One of many commands is sure only on the page that the question names, and its description is no instruction.
  const { units, source } = read.passage
  const isManual = units.filter(({ unit }) => unit.code).length * 2 > units.length
  if (isManual && question.form !== 'definition') {
    const isOnly = all.every(({ read: other }) => other.passage.source.title === source.title)
    if (!isCode || !(isOnly || keysOf(source.title).every((key) => known.has(key)))) return false
  }
  // Of a command, what is said about it counts, and the question has to speak of its page or section.
  const isNamed = isCode ? [...read.passage.head].some((key) => known.has(key)) : true
  // Two sentences with the same value say the same.
  if (literalShare(read) < 1) return false
  const isRivalled =
    next &&
    score - bonus - (next.score - next.bonus) <= sure.gap &&
    (values(read) === '' || values(read) !== values(next.read))
  // A row without the value that is asked for.
  if (read.unit.kind === 'row' && question.kind === 'number') return false
  // One sentence is seldom all that a page says about a single word.
  if (question.topic.length === 1 && question.form === 'fact' && question.kind === undefined) return false
  if (isRivalled || !isNamed || shareOf(proseKeys, read.above, read.passage.head) < sure.share) return false
  const others = read.unit.text.split(/\s+/).filter((word) => !keysOf(word).some((key) => known.has(key)))
  if (fitOf(question.kind, others.join(' ')) < 0 || /[?？]$/.test(read.unit.text)) return false
  if (question.form === 'list' || question.form === 'overview' || comparing.test(question.text)) return false
  if (asksWhy.test(question.text) && !reason.test(read.unit.text)) return false
  if (read.unit.kind === 'sentence' && (leansBack.test(read.unit.text) || pointsElsewhere.test(read.unit.text)))
    return false
  if (question.names.some((key) => !has(read.keys, key) && !has(read.above, key) && !has(read.passage.head, key)))
    return false
  if (question.form !== 'steps') return true
  // Instructions that lack a word of the question may do something else.
  const { head } = read.passage
  const isCovered = question.topic.every((key) => has(read.keys, key) || has(read.above, key) || has(head, key))
  const text = `${read.passage.source.title} ${read.unit.text} ${read.unit.code?.text ?? ''}`
  return isCovered && !isDangerous(question.text, text) && !isOpposite(question.text, text)
}

/** The sentence that defines a term: `A relay is …`, or the first sentence of the page with that title. */
function definition({ topic, queries }: Question, units: readonly Weighed[]): ReadUnit | undefined {
  const english = commonWordsOf(queries[0] ?? '')
  const isTopic = (text: string): boolean => {
    const words = text
      .split(/\s+/)
      .filter((word) => !/^(?:an?|the|der|die|das|el|la|los|las|le|les)$/i.test(word))
      .join(' ')
    const keys = keysOf(words)
    return keys.length > 0 && keys.every((key) => topic.includes(key)) && topic.every((key) => keys.includes(key))
  }
  const prose = units.filter(({ read }) => read.unit.kind === 'sentence').map(({ read }) => read)
  const says =
    /^(.{1,80}?)(?: \([^)]{1,60}\))?,? (?:is|are|was|were|means|refers to|ist|sind|es|son|est|sont) |^(.{1,40}?), (?=an? )/u
  return (
    prose.find(({ unit }) => isTopic(says.exec(unit.text)?.slice(1).find(Boolean) ?? '')) ??
    (english ? prose.find(({ at, passage }) => at === 0 && isTopic(passage.source.title)) : undefined)
  )
}

/** Words that restrict a statement: a sentence is not quoted without such a clause. */
const condition =
  /(?<!\p{L})(?:not|no|never|unless|except|only|but|if|provided|until|without|nicht|kein\p{L}*|nur|außer|wenn|falls|sofern|ohne|aber|no|nunca|salvo|excepto|solo|sólo|si|sin|pero|pas|jamais|sauf|seulement|sans|mais)(?!\p{L})/iu

/** Shortens a long sentence to the clauses that answer; undefined if the rest could be the answer or change it. */
function short({ kind, topic }: Question, { unit }: ReadUnit, { shareOf }: Evidence): string | undefined {
  const known = new Set(topic)
  const fresh = (text: string): string[] =>
    text.split(/\s+/).filter((word) => !keysOf(word).some((key) => known.has(key)))
  const text = shortened(unit.text, maxSureWords, (part) => {
    return shareOf(new Set(keysOf(part))) + 0.6 * fitOf(kind, fresh(part).join(' ')) + 0.004 * lengthInWords(part)
  })
  if (text === unit.text) return text
  const kept = text.replace(/^… | …$/g, '')
  if (kind === undefined || lengthInWords(kept) > maxSureWords) return undefined
  const dropped = unit.text.replace(kept, ' ')
  const losesTopic = shareOf(new Set(keysOf(kept))) < shareOf(new Set(keysOf(unit.text)))
  const isComplete = !losesTopic && !condition.test(dropped) && !fresh(dropped).some((word) => isOfKind(kind, word))
  return isComplete ? text : undefined
}

/** Starts with a word that refers to the previous sentence. */
const leansBack =
  /^(?:(?:and|but|however|also|then|thus|und|aber|jedoch),? )?(?:he|she|it|they|this|these|those|his|her|its|their|er|sie|dies\p{L}*|él|ella|ellos|ellas|est[aeo]s?|il|elle|ils|elles|ce|cette|ces|cela)(?!\p{L})/iu

/** Refers to something in another sentence. */
const pointsElsewhere =
  /(?<!\p{L})(?:these|those|dies(?:e[rmns]?)|est[ae] tipo|estos|estas|ces|cette)(?!\p{L})|这种|这些|該|该/iu

const closestLead = (count: number): string => `The closest passage${count === 1 ? ' is' : 's are'}:`

/** The numbered items of the list that a unit is part of. */
const numberedWith = (read: ReadUnit): readonly ReadUnit[] =>
  sectionOf(read).filter(({ unit }) => unit.isNumbered && unit.lead === read.unit.lead)

/** Quotes the best sentences of the closest places if no single one answers with confidence. */
function closestPassages({ question, units, evidence }: Findings): string | undefined {
  const least = minRelativeShare * Math.max(0, ...units.map(({ context }) => context))
  // If a heading contains the number or version of the question, other sections are about other versions.
  const numbers = question.names.filter((key) => /\p{N}/u.test(key))
  const count = (...sets: readonly ReadonlySet<string>[]): number =>
    numbers.filter((key) => sets.some((set) => evidence.has(set, key))).length
  const mostNumbers = Math.max(0, ...units.map(({ read }) => count(new Set(keysOf(headingOf(read))))))
  const places = new Map<string, Map<ReadUnit, string>>()
  let room = maxClosestWords
  /** Adds a unit to its place, if there is room in both. */
  const add = (read: ReadUnit): boolean => {
    const key = [read.passage.source.number, read.passage.source.title, headingOf(read)].join('\n')
    const place = places.get(key) ?? new Map<ReadUnit, string>()
    if (place.has(read)) return true
    // A row or command beside the best one of its place has to cover about as much of the question.
    const [first] = place.keys()
    const leastOwn =
      read.unit.kind === 'row' ? (comparing.test(question.text) ? 0.5 : 1) : read.unit.code === undefined ? 0 : 0.6
    if (first && evidence.shareOf(read.keys) < leastOwn * evidence.shareOf(first.keys)) return false
    if (place.size === maxSentencesOfPlace || (place.size === 0 && places.size === maxPlaces)) return false
    const isCode = read.unit.kind === 'code' || read.unit.code !== undefined
    const led = ledBy(read)
    const text =
      led.length > 0 && led.every((item) => isQuotable(question, item, ''))
        ? quotedList(led.slice(0, maxListItems))
        : quoted(read, isCode ? read.unit.text : (short(question, read, evidence) ?? read.unit.text))
    const words = lengthInWords(text)
    if (words > room && places.size > 0) return false
    places.set(key, place.set(read, text))
    room -= words
    return true
  }
  for (const { read: matching, own, context } of units) {
    // Code is quoted with the sentence that introduces it, so that sentence is not quoted alone.
    const read =
      matching.passage.units.find(({ unit }) => unit.kind === 'code' && unit.lead === matching.unit.text) ?? matching
    if (read !== matching && !isQuotable(question, read, '')) continue
    if (
      context === 0 ||
      evidence.literalShare(read) === 0 ||
      context < least ||
      room < minQuotedWords ||
      count(read.keys, read.above, read.passage.head) < mostNumbers
    )
      continue
    // A row stands for itself, whatever its table is called. Any other unit may lean on its headings, but a sentence
    // beside one that answers is not an answer.
    // Part of a procedure is of no use, so numbered steps are quoted together.
    const procedure = read.unit.isNumbered && question.kind === undefined ? numberedWith(read) : []
    if (procedure.length > 1 && procedure.length <= maxListItems && places.size === 0) {
      if (!procedure.every((step) => isQuotable(question, step, ''))) continue
      return `${closestLead(1)}\n\n**${placeOf(read)}**\n\n${quotedList(procedure)}`
    }
    if (own === 0 && (read.unit.kind === 'row' || evidence.shareOf(read.above, read.passage.head) === 0)) continue
    const before = read.passage.units[read.at - 1]
    const isAdded = add(read)
    if (
      isAdded &&
      before?.unit.block === read.unit.block &&
      leansBack.test(read.unit.text) &&
      isQuotable(question, before, '')
    )
      add(before)
  }
  if (places.size === 0) return undefined
  const written = [...places.values()].map((quotes) => {
    const reads = [...quotes.keys()].toSorted(
      (left, right) => left.passage.rank - right.passage.rank || left.at - right.at,
    )
    const text = reads.map((read, at) => {
      const before = reads[at - 1]
      const isApart = before && (before.passage !== read.passage || read.at - before.at > 1)
      return `${isApart ? '…\n\n' : ''}${quotes.get(read)!}`
    })
    const name = placeOf(reads[0]!)
    const quotation = text.join('\n\n').replace(/^/gm, '> ').replace(/^> $/gm, '>')
    return `${name === '' ? '' : `**${name}**\n\n`}${quotation}`
  })
  return [closestLead(written.length), ...written].join('\n\n')
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
  const said = reading.answers.at(-1) ?? ''
  const isRepeat =
    reading.questions.length > 1 && question.queries[0] === understand(reading.questions.slice(0, -1)).queries[0]
  const answer = await quote(question, passages, isRepeat ? said : '')
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
