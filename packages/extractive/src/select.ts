import { collect, nearestHeading, relevantParts, type Candidate, type SourcePassage } from './passages.ts'
import { yieldToEventLoop } from '@inlay/protocol/concurrency'
import { spaceless } from '@inlay/text'
import { sectionAsking } from './asked-section.ts'
import { pickFacts, rankFacts, type Facts } from './facts/rank-facts.ts'
import { languageOf } from './facts/evidence.ts'
import { understand, type Question } from './question.ts'
import type { Reading } from './prompt.ts'
import { hasKind, isDangling, isNarration, isReferral } from './phrases.ts'
import { isAnswered, scorePassages, listFit, type Scored } from './score.ts'
import { pick } from './pick.ts'

/** Sentences, items or code that belong together, in the order of their source. */
export interface Group {
  readonly units: readonly Candidate[]
}

const poolLimit = 120
const listLimit = { items: 12, characters: 1_100 }
const codeLimit = { lines: 25, characters: 1_200 }

/** Gives sentences that lean on the one before them that one, or leaves them out. */
function withFooting(chosen: readonly Candidate[], excluded: (unit: Candidate) => boolean): Candidate[] {
  const kept = new Set<Candidate>()
  for (const unit of chosen) {
    const support: Candidate[] = []
    let at: Candidate | undefined = unit
    while (at && at.kind === 'sentence' && isDangling(at.text) && support.length < 2 && !kept.has(at)) {
      const before: Candidate | undefined = at.before
      if (!before || excluded(before) || before.text.endsWith('?') || isNarration(before.text)) break
      support.push(before)
      at = before
    }
    const stands = !at || !isDangling(at.text) || kept.has(at)
    if (stands || kept.size === 0) for (const member of [...support, unit]) kept.add(member)
  }
  return [...kept]
}

/**
 * All items of the list an item belongs to, when it is short enough to be given whole; else that item.
 * @param isBroad whether a list that something leads to is always given whole
 */
function wholeList(
  question: Question,
  item: Candidate,
  candidates: readonly Candidate[],
  isBroad: boolean,
): readonly Candidate[] {
  const isWanted = item.nearFit >= listFit || ((isBroad || question.kind === 'how') && item.lead !== undefined)
  if (!isWanted || (item.lead === undefined && item.kind === 'item' && !question.isPlural)) return [item]
  const list = candidates.filter(
    (unit) => unit.kind === item.kind && unit.passage === item.passage && unit.lead === item.lead,
  )
  const at = list.indexOf(item)
  let [from, to] = [at, at]
  while (from > 0 && list[from]!.block - list[from - 1]!.block === 1) from--
  while (to < list.length - 1 && list[to + 1]!.block - list[to]!.block === 1) to++
  const whole = list.slice(from, to + 1)
  const characters = whole.reduce((sum, unit) => sum + unit.text.length, 0)
  return whole.length <= listLimit.items && characters <= listLimit.characters ? whole : [item]
}

const commandLanguage = /^(?:console|sh|bash|shell|zsh|powershell|pwsh|ps1|cmd|bat|sql)$/
const outputLanguage = /^(?:output|text|txt|plaintext|yaml)$/

function isShowable(unit: Candidate): boolean {
  if (unit.kind !== 'code' || outputLanguage.test(unit.language ?? '')) return false
  return unit.text.length <= codeLimit.characters && unit.text.split('\n').length <= codeLimit.lines
}

/** How well code shows what was asked; 0 when it stands too far from what was chosen. */
function worthOfCode(unit: Candidate, chosen: readonly Candidate[]): number {
  const near = chosen.filter(
    (other) => other.passage === unit.passage && other.headings.join() === unit.headings.join(),
  )
  // Code mostly stands behind the text it belongs to.
  const steps = near.map(({ block }) => (unit.block > block ? unit.block - block : 4 + block - unit.block))
  const distance = Math.min(99, ...steps)
  const isOfDocument = chosen.some((other) => other.passage.number === unit.passage.number)
  if (distance >= 4 && unit.nearShare < 0.7 && !(unit.coverage >= 0.7 && isOfDocument)) return 0
  const isSyntax = /^syntax$/i.test(unit.headings.at(-2) ?? unit.headings.at(-1) ?? '')
  const isCommand =
    commandLanguage.test(unit.language ?? '') || /\b(?:run|enter|type|execute)\b[^.]*:$/i.test(unit.lead ?? '')
  let worth = unit.score * (isSyntax ? 0.6 : 1) * (unit.language ? 1 : 0.8) + 0.8 * unit.nearShare
  if (distance < 9) worth += 0.4 - 0.04 * distance
  if (unit.text.split('\n').length <= 8) worth += 0.1
  return worth + (isCommand ? 0.25 : 0)
}

/** The code that shows best what was asked, near the chosen text if possible. */
function pickCode(question: Question, scored: Scored, chosen: readonly Candidate[]): Candidate | undefined {
  if (!question.wantsCode) return undefined
  const worth = scored.candidates.filter(isShowable).map((unit) => ({ unit, worth: worthOfCode(unit, chosen) }))
  const [best] = worth.filter(({ worth }) => worth > 0).toSorted((first, second) => second.worth - first.worth)
  return best?.unit
}

/** Units that stand together in their source, in its order. */
export function toGroups(units: readonly Candidate[]): Candidate[][] {
  const groups: Candidate[][] = []
  for (const unit of units) {
    const own = groups.find((group) =>
      group.some(
        (other) =>
          other.passage === unit.passage && Math.abs(other.block - unit.block) <= 1 && other.kind === unit.kind,
      ),
    )
    if (own) own.push(unit)
    else groups.push([unit])
  }
  for (const group of groups) group.sort((first, second) => first.order - second.order)
  return groups
}

/**
 * Chooses what to quote. Groups come in reading order, the one that holds the best answer first; code comes last.
 * @param excluded units that must not be quoted, such as those an earlier answer gave
 * @param pickUnits how much is taken; by default what answers briefly
 */
export function select(
  scored: Scored,
  excluded: (unit: Candidate) => boolean,
  pickUnits: typeof pick = pick,
): readonly Group[] {
  const { question } = scored
  const pool = scored.candidates
    .filter((unit) => unit.kind !== 'code' && unit.score > 0 && !excluded(unit))
    .toSorted((first, second) => second.score - first.score)
    .slice(0, poolLimit)
  const isBroad = pickUnits !== pick
  const picked = pickUnits(question, pool)
  const footed = withFooting(picked, excluded)
  const lists = footed.map((unit) =>
    unit.kind === 'sentence' ? [unit] : wholeList(question, unit, scored.candidates, isBroad),
  )
  // A list of what was asked for is the whole answer.
  const full =
    question.isPlural && !isBroad
      ? lists.find((list) => list.length > 1 && (list[0]?.nearFit ?? 0) >= listFit)
      : undefined
  const code = full ? undefined : pickCode(question, scored, picked)
  const groups = toGroups(full ?? [...new Set(lists.flat())])
  return [...groups, ...(code ? [[code]] : [])].map((units) => ({ units }))
}

const toolTextLimit = 2_000

const factKinds: ReadonlySet<Question['kind']> = new Set(['who', 'when', 'where', 'number', 'other', 'how'])

/** From this certainty on the passages are taken to hold the answer. */
const answeredFrom = 0.063

function writeFacts(facts: Facts, said: string): string | undefined {
  const chosen = pickFacts(facts, ({ text: own }) => wasSaid(own, said))
  return chosen.length === 0 ? undefined : write(toGroups(chosen).map((units) => ({ units })))
}

const wasSaid = (text: string, said: string): boolean => said.includes(text.replace(/(?<![.!?:])[.!?:]+$/, ''))

/** Of more characters each step of an answer takes so long that the event loop gets its turn in between. */
const manyCharacters = 20_000

async function quote(question: Question, sources: readonly SourcePassage[], said: string): Promise<string | undefined> {
  const { text, kind, isPlural } = question
  const passages = relevantParts(text, sources)
  let characters = 0
  for (const { content } of passages) characters += content.length
  const isLong = characters > manyCharacters
  if (isLong) await yieldToEventLoop()
  const candidates = collect(passages, question.symbols)
  if (isLong) await yieldToEventLoop()
  const ofQuestions = candidates.filter((unit) => /[?？]\s*$/.test(nearestHeading(unit, unit.passage)))
  const section = ofQuestions.length === 0 ? [] : sectionAsking(question, ofQuestions, candidates)
  const fresh = section.filter((unit) => !isReferral(unit.text) && !wasSaid(unit.text, said))
  if (fresh.length > 0) return write(toGroups(fresh).map((units) => ({ units })))
  const isEnglish = languageOf(text) === 'en'
  // Questions in other languages are all taken to ask for a single fact.
  const asksFact = !isEnglish || factKinds.has(kind)
  if (asksFact || kind === 'definition') {
    const facts = rankFacts(question.queries[0] ?? text, candidates)
    if (facts.certainty < answeredFrom || (asksFact && facts.isInPassing)) return undefined
    // Steps and several things are best told by a list, and prose is best quoted sentence by sentence.
    if (asksFact && (!isEnglish || !(isPlural || kind === 'how') || !facts.isOfList)) return writeFacts(facts, said)
  }
  if (isLong) await yieldToEventLoop()
  const scored = scorePassages(question, passages, candidates)
  if (!isAnswered(scored)) return undefined
  if (isLong) await yieldToEventLoop()
  const groups = select(scored, ({ text: own }) => wasSaid(own, said))
  if (!groups.some(({ units }) => units.some((unit) => hasKind(question, unit.text)))) return undefined
  const written = write(groups)
  return written === '' ? undefined : written
}

function ofTools({ toolAnswers }: Reading): string | undefined {
  const [failed] = toolAnswers.filter((answer) => answer.isError || answer.text.startsWith('Tool failed with error'))
  if (failed)
    return `The action \`${failed.toolName}\` failed, so I cannot answer from it. Please try again, or ask differently.`
  const written = toolAnswers.map(
    ({ toolName, text }) => `\`${toolName}\` gave:\n\n\`\`\`\`text\n${text.slice(0, toolTextLimit)}\n\`\`\`\``,
  )
  return written.length === 0 ? undefined : written.join('\n\n')
}

/** Answers the present question from what was found, from text that came with it, or says that neither answers it. */
export async function answerFromFindings(reading: Reading): Promise<string> {
  const question = understand(reading.questions)
  const passages = [...reading.context, ...reading.passages]
  const said = reading.answers.at(-1) ?? ''
  const isRepeat =
    reading.questions.length > 1 && question.queries[0] === understand(reading.questions.slice(0, -1)).queries[0]
  const quoted = await quote(question, passages, isRepeat ? said : '')
  if (quoted !== undefined) return quoted
  if (reading.passages.length === 0 && reading.toolAnswers.length > 0) return ofTools(reading) ?? ''
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

const connective =
  /^(?:(?:however|also|so|but|and|therefore|thus|hence|additionally|moreover|furthermore|instead|similarly|finally|for example|for instance|in addition|in other words|in fact|note(?: that)?|rather|again|still|then|next|luckily|fortunately|unfortunately|now)[,:]?|as (?:already |we )?(?:discussed|mentioned|noted|described|shown|seen|saw)(?: earlier| above| before| previously| in [^,]{1,60})?,)\s+(?=\S)/i

/** A sentence that can open a paragraph: a first word that only ties it to what is not quoted is dropped. */
function asOpening(text: string): string {
  const bare = text.replace(connective, '')
  return bare === text ? text : bare.replace(/^[a-z]/, (letter) => letter.toUpperCase())
}

/** Puts the citation before the mark that ends a sentence. */
export function cited(text: string, number: number | undefined): string {
  const clean = text.trim()
  if (number === undefined) return clean
  // Behind a closing quotation mark or parenthesis; else before the full stop.
  const [, body = clean, mark = ''] = /^([\s\S]*[^.!?:;,…。！？：；，])([.!?:;,…。！？：；，]+)$/.exec(clean) ?? []
  return /["”’)」』）》]$/.test(clean) || (mark === '' && spaceless.test(clean.slice(-1)))
    ? `${clean} [${number}]`
    : `${body} [${number}]${mark || '.'}`
}

const fenceFor = (code: string): string =>
  '`'.repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)))

function writeCode({ text, language, lead, passage, headings }: Candidate, said: string): string {
  const heading = /^(?:example|beispiel)\s*[\dA-Z]*\s*[:.–—-]\s*(\S.*)$/i.exec(headings.at(-1) ?? '')?.[1]
  const named = heading === undefined ? 'For example:' : `From the example “${heading.replace(/[.:]$/, '')}”:`
  const leading = lead !== undefined && !said.includes(lead.slice(0, -1)) ? lead : named
  return `${cited(leading, passage.number)}\n\n${fenced(text, language)}`
}

function fenced(code: string, language = 'text'): string {
  const mark = fenceFor(code)
  return `${mark}${language}\n${code}\n${mark}`
}

function writeGroup(units: readonly Candidate[], said: string): string {
  const [first] = units
  if (!first) return ''
  const number = first.passage.number
  if (first.kind === 'code') return writeCode(first, said)
  if (units.some(({ code }) => code !== undefined))
    return units
      .map(({ text, code }) =>
        code ? `${cited(text, number)}\n\n${fenced(code.text, code.language)}` : cited(text, number),
      )
      .join('\n\n')
  if (first.kind !== 'sentence' && (units.length > 1 || first.lead !== undefined)) {
    const lead =
      first.lead !== undefined && !said.includes(first.lead.slice(0, -1)) ? `${asOpening(first.lead)}\n\n` : ''
    return lead + units.map((unit) => `- ${cited(unit.text, number)}`).join('\n')
  }
  return units.reduce((written, unit, at) => {
    if (at === 0) return cited(asOpening(unit.text), number)
    // What does not follow on in its source is set apart.
    const isNext = unit.order - units[at - 1]!.order === 1
    return `${written}${!isNext ? '\n\n' : spaceless.test(unit.text) ? '' : ' '}${cited(unit.text, number)}`
  }, '')
}

/** Writes what was selected as Markdown: sentences of one place in a paragraph, lists and code as such. */
export function write(groups: readonly Group[]): string {
  const parts: string[] = []
  for (const { units } of groups) parts.push(writeGroup(units, parts.join('\n')))
  return parts.filter((part) => part !== '').join('\n\n')
}
