import { commonWordsOf } from '@inlay/text'
import { pickFacts, rankFacts } from './facts.ts'
import { isSpaceless } from './terms.ts'
import { collect, type Candidate, type SourcePassage } from './passages.ts'
import { understand, type Question } from './question.ts'
import type { Reading } from './prompt.ts'
import { hasKind } from './phrases.ts'
import { scorePassages } from './score.ts'
import { isAnswered, select, toGroups } from './select.ts'
import { write } from './write.ts'

const toolTextLimit = 2_000

const factKinds: ReadonlySet<Question['kind']> = new Set(['who', 'when', 'where', 'number', 'other'])

/** Whether a question asks for a single fact; in other languages than English every question is read so. */
function asksForFact({ text, kind, isPlural }: Question): boolean {
  if (isSpaceless(text) || (commonWordsOf(text)?.language ?? 'en') !== 'en') return true
  return factKinds.has(kind) && !isPlural
}

/** From this certainty on the passages are taken to hold the answer. */
const answeredFrom = 0.25

function quoteFacts(question: Question, passages: readonly SourcePassage[], said: string): string | undefined {
  const facts = rankFacts(question.queries[0] ?? question.text, collect(passages, question.symbols))
  if (facts.certainty < answeredFrom) return undefined
  const chosen = pickFacts(facts, (unit) => wasSaid(unit, said))
  return chosen.length === 0 ? undefined : write(toGroups(chosen).map((units) => ({ units })))
}

const wasSaid = ({ text }: Candidate, said: string): boolean => said.includes(text.replace(/[.!?:]+$/, ''))

function quote(question: Question, passages: readonly SourcePassage[], said: string): string | undefined {
  if (asksForFact(question)) return quoteFacts(question, passages, said)
  const scored = scorePassages(question, passages)
  if (!isAnswered(scored)) return undefined
  const groups = select(scored, (unit) => wasSaid(unit, said))
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
export function answerFromFindings(reading: Reading): string {
  const question = understand(reading.questions)
  const passages = [...reading.context, ...reading.passages]
  const said = reading.answers.at(-1) ?? ''
  const isRepeat =
    reading.questions.length > 1 && question.queries[0] === understand(reading.questions.slice(0, -1)).queries[0]
  const quoted = quote(question, passages, isRepeat ? said : '')
  if (quoted !== undefined) return quoted
  if (reading.passages.length === 0 && reading.toolAnswers.length > 0) return ofTools(reading) ?? ''
  if (isRepeat) return 'I found nothing more about this in the documents.'
  if (passages.length === 0)
    return 'I found nothing about this in the documents. Other words may help, or the documents do not cover it.'
  return 'I could not find an answer to this in the documents.'
}

/** Answers from the conversation alone: text that came with the message, then earlier answers. */
export function answerFromConversation(reading: Reading): string | undefined {
  const question = understand(reading.questions)
  const earlier = reading.answers.map((content): SourcePassage => ({ number: undefined, title: '', content }))
  return quote(question, reading.context, '') ?? quote(question, earlier.toReversed(), '')
}
