import { yieldToEventLoop } from '@inlay/protocol/concurrency'
import { commonWordsOf, keysOf, lengthInWords, spaceless } from '@inlay/text'
import { fitOf } from './answer-kind.ts'
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
import { extremeRows, namedRow, type Rows } from './tables.ts'

/** Share of a question that some place has to speak of, or the question is refused; pairs of characters match less often. */
const minSupport = { words: 0.4, spaceless: 0.2 }

/** A single answer speaks of this share of the question, and scores this much more than the next. */
const sure = { share: 0.75, gap: 0.3 }

/** A longer sentence is cut at the ends of clauses. */
const maxSureWords = 40
const maxPlaces = 3
const maxSentencesOfPlace = 2
const maxListItems = 15
const maxSections = 8

/** Reading more characters takes so long that the event loop gets its turn in between. */
const longCharacters = 20_000

/** What is known when an answer is chosen. */
interface Findings {
  readonly question: Question
  readonly passages: readonly ReadPassage[]
  readonly evidence: Evidence
  /** Units that may be quoted, best first. */
  readonly units: readonly Weighed[]
}

const isReferral = (text: string): boolean =>
  /^(?:more information\b|read more\b|see (?:also\b|[^.]{1,40}\.?$)|for (?:more|further) (?:information|details)\b)/i.test(
    text,
  )

async function quote(question: Question, sources: readonly SourcePassage[], said: string): Promise<string | undefined> {
  const current = withoutOldVersions(relevantParts(question.queries[0] ?? question.text, sources), question.names)
  const isLong = current.reduce((sum, { content }) => sum + content.length, 0) > longCharacters
  if (isLong) await yieldToEventLoop()
  const passages = readPassages(current)
  if (isLong) await yieldToEventLoop()
  const evidence = weighEvidence(question, passages)
  const units = evidence.units.filter(({ read }) => isQuotable(question, read, said))
  const findings = { question, passages, evidence, units }
  const section = answeringSection(findings)
  if (section) return section
  const rows = extremeRows(question, passages, evidence)
  if (rows) return writeRows(rows)
  if (isRefused(findings)) return undefined
  const row = namedRow(question, passages, evidence)
  if (row) return writeRows(row)
  return overview(findings) ?? list(findings) ?? sureAnswer(findings) ?? steps(findings) ?? closestPassages(findings)
}

const bare = (text: string): string => text.replace(/(?<![.!?:])[.!?:]+$/, '')

function isQuotable(question: Question, { unit, passage }: ReadUnit, said: string): boolean {
  if (isReferral(unit.text) || (said !== '' && said.includes(bare(unit.text)))) return false
  const code =
    unit.kind === 'code' ? unit.text : [unit.code?.text ?? '', ...(unit.text.match(/`[^`]+`/g) ?? [])].join('\n')
  if (code === '') return true
  const prose = unit.kind === 'code' ? (unit.lead ?? '') : unit.text
  const wanted = question.queries[0] ?? question.text
  return !isDangerous(wanted, prose, code) && !isOpposite(wanted, `${passage.source.title} ${prose} ${code}`)
}

/**
 * Drops passages with a newer version among the others: nearly the same title or heading, and mostly the same words.
 * @param names numbers and names of the question; a passage that alone holds one of them is no older version
 */
function withoutOldVersions(sources: readonly SourcePassage[], names: readonly string[]): readonly SourcePassage[] {
  if (sources.every(({ updatedAt }) => !updatedAt)) return sources
  const unversioned = (text = ''): string => text.toLowerCase().replace(/[\d\p{P}\p{S}\s]+|\b(?:v|version|rev)\b/gu, '')
  const read = sources.map((source) => ({
    source,
    names: [unversioned(source.title), unversioned(source.section)],
    keys: new Set(keysOf(source.content)),
  }))
  return sources.filter((source, at) => {
    const own = read[at]!
    return !read.some((other) => {
      if (!source.updatedAt || (other.source.updatedAt ?? '') <= source.updatedAt) return false
      if (other.source.number === source.number && source.number !== undefined) return false
      if (!own.names.some((name, part) => name !== '' && name === other.names[part])) return false
      if (names.some((key) => own.keys.has(key) && !other.keys.has(key))) return false
      const shared = [...own.keys].filter((key) => other.keys.has(key)).length
      return shared >= 0.6 * Math.min(own.keys.size, other.keys.size) && own.keys.size > 3
    })
  })
}

function isRefused({ question, evidence }: Findings): boolean {
  const { topic, text } = question
  if (topic.length === 0 || evidence.missing.length > 0) return true
  return evidence.support <= (spaceless.test(text) ? minSupport.spaceless : minSupport.words)
}

const writeRows = (rows: Rows): string =>
  rows.map(({ read, text }) => cited(text, read.passage.source.number)).join('\n\n')

/** Units under the same heading of the same passage, in their order. */
const sectionOf = ({ passage, unit }: ReadUnit): readonly ReadUnit[] =>
  passage.units.filter((other) => other.unit.headings.join('\n') === unit.headings.join('\n'))

const maxSectionWords = 60

/** The beginning of the section whose heading asks the same, as on a page of frequent questions. */
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
  let words = 0
  const end = section.findIndex(({ unit }, at) => (words += lengthInWords(unit.text)) > maxSectionWords && at > 0)
  const shown = end === -1 ? section : section.slice(0, end)
  return shown.length === 0 ? undefined : inOrder(shown)
}

/** Whether two questions on one topic ask for the same kind of thing. */
function asksAlike(question: Question, other: Question): boolean {
  if (question.kind === other.kind) return true
  const isLabel = !/[?？]/.test(question.text) && question.topic.length < 3
  const general = [question, other].every(({ kind, form }) => kind !== 'name' && form !== 'steps')
  return isLabel || general
}

/** Units as they stand on their page: sentences of a paragraph in a line, other things apart. */
function inOrder(units: readonly ReadUnit[]): string {
  return units.reduce((written, read, at) => {
    const before = units[at - 1]
    const isLead = units[at + 1]?.unit.kind === 'code' && units[at + 1]?.unit.lead === read.unit.text
    // Code is written with the sentence that leads to it.
    if (isLead) return written
    const text = read.unit.kind === 'item' && !read.unit.code ? `- ${quoted(read)}` : quoted(read)
    if (!before || written === '') return text
    const isSame = before.unit.block === read.unit.block && read.at - before.at === 1
    const isList = before.unit.kind === 'item' && read.unit.kind === 'item' && !before.unit.code
    return `${written}${isSame ? (spaceless.test(text) ? '' : ' ') : isList ? '\n' : '\n\n'}${text}`
  }, '')
}

/** Share of the topic that a heading or title has to speak of to be what an overview is of. */
const minHeadingShare = 0.6

/** The headings of a page with the first sentence of each, for a question that asks for the whole of it. */
function overview({ question, passages, evidence }: Findings): string | undefined {
  if (question.form !== 'overview') return undefined
  const shares = passages.map(({ head }) => evidence.shareOf(head))
  const best = Math.max(...shares)
  const page = passages[shares.indexOf(best)]
  if (!page || best < minHeadingShare) return undefined
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

/** The list or table of a page that a question for several things asks for. */
function list({ question, passages, evidence: { shareOf } }: Findings): string | undefined {
  if (question.form !== 'list') return undefined
  let best: { items: ReadUnit[]; share: number } | undefined
  for (const passage of passages) {
    const items = passage.units.filter((read) => read.unit.kind !== 'sentence' && isQuotable(question, read, ''))
    const lists = Map.groupBy(items, ({ unit }) =>
      [unit.kind, unit.lead, ...unit.headings, unit.table?.header].join('\n'),
    )
    for (const listed of lists.values()) {
      const [first] = listed
      if (!first || listed.length < 2) continue
      const own = shareOf(first.above, new Set(keysOf(headingOf(first))))
      const share = shareOf(first.above, passage.head) + 0.5 * own
      if (own > 0.3 && share >= 0.9 && share > (best?.share ?? 0)) best = { items: listed, share }
    }
  }
  if (!best) return undefined
  const { items } = best
  const more = items.length > maxListItems ? `\n- … ${items.length - maxListItems} more` : ''
  return quotedList(items.slice(0, maxListItems)) + more
}

/** The steps of a section about what a question asks to do. */
function steps({ question, units, evidence: { shareOf } }: Findings): string | undefined {
  if (question.form !== 'steps') return undefined
  for (const { read } of units.slice(0, 10)) {
    const section = sectionOf(read).filter(({ unit }) => unit.lead === read.unit.lead || unit.text === read.unit.lead)
    const items = section.filter((other) => other.unit.kind === 'item' && !other.unit.code)
    const above = shareOf(read.above, new Set(keysOf(headingOf(read))))
    if (read.unit.kind !== 'item' || read.unit.code || items.length < 2 || above < minHeadingShare) continue
    const allowed = items.filter(
      (other) => isQuotable(question, other, '') && !isDangerous(question.text, other.unit.text),
    )
    if (allowed.length === items.length) return quotedList(items.slice(0, maxListItems))
  }
  return undefined
}

/** One sentence, command or row that surely answers. */
function sureAnswer({ question, units, evidence }: Findings): string | undefined {
  const defined = question.form === 'definition' ? definition(question, units) : undefined
  if (defined) return quoted(defined, short(question, defined, evidence))
  const [best, next] = units
  if (!best || !isSure(question, best, next, evidence)) return undefined
  const { read } = best
  // A sentence that leads to code is quoted with it.
  const code = read.passage.units.find(({ unit }) => unit.kind === 'code' && unit.lead === read.unit.text)
  if (code) return isQuotable(question, code, '') ? quoted(code) : undefined
  if (read.unit.kind === 'code' || read.unit.code) return quoted(read)
  return quoted(read, short(question, read, evidence))
}

const comparing = /\bdifferences?\b|\bcompare\b|\bvs\b|\bversus\b/i
const asksWhy = /^(?:why|warum|wieso|por qué|pourquoi|perché)(?!\p{L})/iu
const reason = /\b(?:because|since|so that|in order to|due to|reason|weil|denn|damit|porque|debido|parce|car|perché)\b/i

function isSure(
  question: Question,
  { read, context, score }: Weighed,
  next: Weighed | undefined,
  { has }: Evidence,
): boolean {
  if (context < sure.share || (next && score - next.score <= sure.gap)) return false
  const known = new Set(question.topic)
  const others = read.unit.text.split(/\s+/).filter((word) => !keysOf(word).some((key) => known.has(key)))
  if (fitOf(question.kind, others.join(' ')) < 0 || /[?？]$/.test(read.unit.text)) return false
  if (question.form === 'list' || question.form === 'overview' || comparing.test(question.text)) return false
  if (asksWhy.test(question.text) && !reason.test(read.unit.text)) return false
  if (question.form !== 'steps') return true
  // Instructions that leave a word of the question out may do something else.
  const { head } = read.passage
  const isCovered = question.topic.every((key) => has(read.keys, key) || has(read.above, key) || has(head, key))
  const text = `${read.passage.source.title} ${read.unit.text} ${read.unit.code?.text ?? ''}`
  return isCovered && !isDangerous(question.text, text) && !isOpposite(question.text, text)
}

/** The sentence that says what a thing is: `A relay is …`, or the first of the page that is called like it. */
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
  const says = /^(.{1,80}?)(?: \([^)]{1,60}\))?,? (?:is|are|was|were|means|refers to|ist|sind|es|son|est|sont) /u
  return (
    prose.find(({ unit }) => isTopic(says.exec(unit.text)?.[1] ?? '')) ??
    (english ? prose.find(({ at, passage }) => at === 0 && isTopic(passage.source.title)) : undefined)
  )
}

/** A long sentence, cut to the clauses that answer. */
function short({ kind, topic }: Question, { unit }: ReadUnit, { shareOf }: Evidence): string {
  const known = new Set(topic)
  return shortened(unit.text, maxSureWords, (part) => {
    const others = part.split(/\s+/).filter((word) => !keysOf(word).some((key) => known.has(key)))
    return shareOf(new Set(keysOf(part))) + 0.6 * fitOf(kind, others.join(' ')) + 0.004 * lengthInWords(part)
  })
}

/** Passages of different places with their best sentences, where none surely answers. */
function closestPassages({ units }: Findings): string | undefined {
  const places = new Map<string, ReadUnit[]>()
  for (const { read, context } of units) {
    if (context === 0) continue
    const key = [read.passage.rank, headingOf(read)].join('\n')
    const place = places.get(key)
    if (place) place.push(read)
    else if (places.size < maxPlaces) places.set(key, [read])
  }
  if (places.size === 0) return undefined
  const written = [...places.values()].map((reads) => {
    const best = reads.slice(0, maxSentencesOfPlace).toSorted((left, right) => left.at - right.at)
    const text = best.map((read, at) => {
      const isApart = at > 0 && read.at - best[at - 1]!.at > 1
      return `${isApart ? '…\n\n' : ''}${quoted(read)}`
    })
    const name = placeOf(reads[0]!)
    const quotation = text.join('\n\n').replace(/^/gm, '> ').replace(/^> $/gm, '>')
    return `${name === '' ? '' : `**${name}**\n\n`}${quotation}`
  })
  return [`The closest passage${places.size === 1 ? ' is' : 's are'}:`, ...written].join('\n\n')
}

const maxToolText = 2_000

function fromTools({ toolAnswers }: Reading): string {
  const failed = toolAnswers.find((answer) => answer.isError || answer.text.startsWith('Tool failed with error'))
  if (failed)
    return `The action \`${failed.toolName}\` failed, so I cannot answer from it. Please try again, or ask differently.`
  return toolAnswers
    .map(({ toolName, text }) => `\`${toolName}\` gave:\n\n\`\`\`\`text\n${text.slice(0, maxToolText)}\n\`\`\`\``)
    .join('\n\n')
}

/** Answers the present question from what was found and what came with it, or says that neither answers it. */
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

/** Answers from the conversation alone: text that came with the message, then earlier answers. */
export async function answerFromConversation(reading: Reading): Promise<string | undefined> {
  const question = understand(reading.questions)
  const earlier = reading.answers.map((content): SourcePassage => ({ number: undefined, title: '', content }))
  return (await quote(question, reading.context, '')) ?? quote(question, earlier.toReversed(), '')
}
