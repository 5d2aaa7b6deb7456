import { yieldToEventLoop } from '@inlay/scheduling'
import { keysOf, lengthInWords, spaceless, toProse } from '@inlay/text'
import { weighEvidence, type Evidence, type Weighed } from './evidence.ts'
import { framesOf, languageOf } from './frames.ts'
import { readPassages, relevantParts, type Place, type ReadUnit, type SourcePassage } from './page.ts'
import type { Reading } from './prompt.ts'
import { understand, type Question } from './question.ts'
import { cited, written } from './quoting.ts'
import { holdsValues, valuesIn, type Values } from './values.ts'

/** With more characters than this, yields to the event loop between the steps. */
const longCharacters = 20_000

interface Findings extends Evidence {
  readonly question: Question
  readonly language: string
  readonly isQuotable: (read: ReadUnit) => boolean
}

/** Answers from the newest versions, or from all if those do not answer: only an old one may hold the year of a question. */
async function quote(question: Question, sources: readonly SourcePassage[], said: string): Promise<string | undefined> {
  const parts = relevantParts(question.queries[0] ?? question.text, sources)
  const current = parts.filter((part) => !isReplaced(part))
  const answer = await quoteFrom(question, current, said)
  return answer ?? (current.length < parts.length ? quoteFrom(question, parts, said) : undefined)
}

async function quoteFrom(
  original: Question,
  parts: readonly SourcePassage[],
  said: string,
): Promise<string | undefined> {
  const language = languageOf(original.text, parts[0]?.content ?? '')
  const { question, given } = await withoutValues(original, language)
  const isLong = parts.reduce((sum, { content }) => sum + content.length, 0) > longCharacters
  if (isLong) await yieldToEventLoop()
  const passages = readPassages(parts)
  if (isLong) await yieldToEventLoop()
  const evidence = weighEvidence(question, passages)
  const holding = new Map<Place, boolean>()
  for (const { read } of evidence.units) {
    const { place } = read
    if (holding.has(place)) continue
    const isNamed = question.names.every((key) => evidence.has(key, place.keys))
    holding.set(place, isNamed && (given === undefined || holdsValues(await valuesOf(place, language), given)))
  }
  const isHeld = ({ read }: Weighed): boolean => holding.get(read.place) === true && isQuotable(read, said)
  const units = evidence.units.filter(isHeld)
  const findings: Findings = { ...evidence, units, question, language, isQuotable: (read) => isQuotable(read, said) }
  const [best] = findings.units
  if (!best || question.topic.length === 0) return undefined
  const least = leastShares(question, language)
  if (best.context < least.links) return undefined
  const isSure = best.context >= least.quote && !comparing.test(question.text)
  return (isSure ? quotation(best, findings) : undefined) ?? closestPlaces(findings)
}

/**
 * Least share of the question in a unit, its neighbours and its headings for a quotation, and for links. Two of three
 * words may be said of another thing. Words of languages with more endings match less often, pairs of characters seldom.
 */
function leastShares({ topic, text }: Question, language: string): { readonly quote: number; readonly links: number } {
  if (spaceless.test(text)) return { quote: 0.22, links: 0.22 }
  const links = language === 'en' ? 0.5 : 0.44
  return { quote: topic.length > 3 ? links : 0.65, links }
}

/** The question without its dates and numbers, which are compared as values. */
async function withoutValues(question: Question, language: string) {
  const text = question.given.slice(0, maxValueCharacters).replace(/\s+/g, ' ')
  const given = await valuesIn(text, language)
  if (given.spans.length === 0) return { question, given: undefined }
  const letters = text.split('')
  for (const [start, end] of given.spans) letters.fill(' ', start, end)
  const left = new Set(keysOf(`${letters.join('')} ${text === question.text ? '' : question.text}`))
  const own = new Set(keysOf(text))
  const isTopic = (key: string): boolean => left.has(key) || !own.has(key)
  const [topic, names] = [question.topic.filter(isTopic), question.names.filter(isTopic)]
  return { question: { ...question, topic, names }, given }
}

const maxValueCharacters = 10_000

function valuesOf({ source, units }: Place, language: string): Promise<Values> {
  const texts = units.map(({ unit }) => `${unit.text} ${unit.code?.text ?? ''} ${unit.lead ?? ''}`)
  const headings = units[0]?.unit.headings.join('\n') ?? ''
  const day = source.updatedAt?.slice(0, 10) ?? ''
  const text = [source.title, source.section, headings, isReplaced(source) ? day : '', ...texts].join('\n')
  return valuesIn(text.slice(0, maxValueCharacters).replace(/\s+/g, ' '), language)
}

const isReplaced = ({ replacedBy = '' }: SourcePassage): boolean => replacedBy !== ''

function isQuotable({ unit }: ReadUnit, said: string): boolean {
  // What a command prints tells nobody what to do.
  if (unit.language === 'output') return false
  return said === '' || !said.includes(unit.text.replace(/(?<![.!?:])[.!?:]+$/, ''))
}

/** Each side of a comparison has a place of its own. */
const comparing = /\bdifferences?\b|\bcompare\b|\bvs\b|\bversus\b|\bunterschied/i

const [maxWords, maxSentences] = [60, 3]

function quotation(best: Weighed, findings: Findings): string | undefined {
  const { read } = best
  const { place } = read
  const name = placeLine(place, findings.language)
  const room = maxWords - lengthInWords(name)
  const listed = listOf(best, findings)
  // An item of another list is not what there is of a kind.
  if (findings.question.isForList && !listed && read.unit.kind !== 'sentence') return undefined
  const units = listed ?? sentencesAround(best, findings, room)
  const text = written(units, room)
  return text === undefined ? undefined : `${text}\n\n${name}`
}

/** Minimum share of the topic in all headings of a list that is asked for, and in the nearest with the lead. */
const [minListShare, minNearestShare] = [0.9, 0.3]

/** The list that the question asks for, the steps around the best item, or what the best sentence leads to. */
function listOf({ read }: Weighed, { question, shareOf, units }: Findings): readonly ReadUnit[] | undefined {
  const isAsked = ([first]: readonly ReadUnit[]): boolean => {
    if (first === undefined) return false
    const { unit, heading, above, passage } = first
    const nearest = keysOf(`${heading} ${unit.lead ?? ''} ${unit.table?.header.join(' ') ?? ''}`)
    return shareOf(above, passage.head) >= minListShare && shareOf(new Set(nearest)) >= minNearestShare
  }
  const groups = units.map(({ read: { group } }) => group).filter(({ length }) => length > 1)
  const wanted = question.isForList ? groups.find(isAsked) : undefined
  // Steps make sense together, and so do items of which the heading says more than they do.
  const isPart = read.unit.isNumbered || shareOf(read.keys) < shareOf(read.above)
  const isItem = !question.isForList && read.unit.kind === 'item' && !read.isCommand && read.group.length > 1
  const group = wanted ?? (read.led.length > 0 ? read.led : isItem && isPart ? read.group : undefined)
  return group && (group[0]?.lead ? [group[0].lead, ...group] : group)
}

/** The best sentence of a place with those around it, as far as there is room; a command alone. */
function sentencesAround({ read: best }: Weighed, { isQuotable }: Findings, room: number): readonly ReadUnit[] {
  if (best.unit.kind !== 'sentence') return [best]
  const chosen = [shortened(best, room)]
  let left = room - lengthInWords(chosen[0]!.unit.text)
  const add = (read: ReadUnit | undefined, isBefore: boolean): void => {
    const isProse = read?.place === best.place && read.unit.kind === 'sentence' && isQuotable(read)
    if (!isProse || chosen.length === maxSentences || /[:：]$/.test(read.unit.text)) return
    const words = lengthInWords(read.unit.text)
    left -= words > 1 ? words : left
    if (left < 0) return
    if (isBefore) chosen.unshift(read)
    else chosen.push(read)
  }
  const { units } = best.passage
  for (let at = best.at + 1; chosen.at(-1)?.at === at - 1; at++) add(units[at], false)
  add(units[best.at - 1], true)
  return chosen
}

function shortened(read: ReadUnit, room: number): ReadUnit {
  if (lengthInWords(read.unit.text) <= room) return read
  const words = read.unit.text.split(/(?<=\s)/)
  let length = 0
  const tooMany = words.findIndex((word) => (length += lengthInWords(word)) > room - 1)
  const text = words.slice(0, Math.max(1, tooMany)).join('').trimEnd()
  return { ...read, unit: { ...read.unit, text: `${text} …` } }
}

function placeLine({ name, source }: Place, language: string): string {
  const time = Date.parse(source.updatedAt ?? '')
  const date = Number.isNaN(time)
    ? ''
    : `, ${new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(time)}`
  const later = source.replacedBy ? ` → ${toProse(source.replacedBy)}` : ''
  return name === '' ? '' : `— ${toProse(name)}${date}${later}`
}

const maxPlaces = 3

function closestPlaces({ units, language }: Findings): string {
  const places = [...new Set(units.map(({ read }) => read.place))].slice(0, maxPlaces)
  const lines = places.map(({ name, source }) => `- ${cited(toProse(name), source.number)}`)
  return [framesOf(language).unsure, lines.join('\n')].join('\n\n')
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

export async function answerFromFindings(reading: Reading): Promise<string> {
  const question = understand(reading.questions)
  const passages = [...reading.context, ...reading.passages]
  const isRepeat =
    reading.questions.length > 1 && question.queries[0] === understand(reading.questions.slice(0, -1)).queries[0]
  const answer = await quote(question, passages, isRepeat ? (reading.answers.at(-1) ?? '') : '')
  if (answer !== undefined) return answer
  if (reading.passages.length === 0 && reading.toolAnswers.length > 0) return fromTools(reading)
  return framesOf(languageOf(question.text, passages[0]?.content ?? '')).refused
}

/** Answers from the conversation only: texts sent with the message, then earlier answers. */
export async function answerFromConversation(reading: Reading): Promise<string | undefined> {
  const question = understand(reading.questions)
  const earlier = reading.answers.map((content): SourcePassage => ({ number: undefined, title: '', content }))
  return (await quote(question, reading.context, '')) ?? quote(question, earlier.toReversed(), '')
}
