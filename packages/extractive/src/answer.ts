import { understand, type Question } from './question.ts'
import type { Reading } from './prompt.ts'
import type { Candidate, SourcePassage } from './passages.ts'
import { hasKind, isDangling } from './phrases.ts'
import { scorePassages } from './score.ts'
import { isAnswered, select } from './select.ts'
import { cited, write } from './write.ts'

const toolTextLimit = 2_000

/** The sentence that comes nearest to an answer, with its citation; empty when none is near at all. */
function nearest(candidates: readonly Candidate[]): string {
  const close = candidates.filter((unit) => unit.kind === 'sentence' && unit.coverage >= 0.33 && !isDangling(unit.text))
  const [best] = close.toSorted((one, other) => other.score - one.score)
  return best ? ` What comes nearest:\n\n${cited(best.text, best.passage.number)}` : ''
}

function quote(question: Question, passages: readonly SourcePassage[], said: string): string | undefined {
  const scored = scorePassages(question, passages)
  if (!isAnswered(scored)) return undefined
  const groups = select(scored, (unit) => said.includes(unit.text.replace(/[.!?:]+$/, '')))
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
  const question = understand(reading.asked)
  const passages = [...reading.context, ...reading.found]
  const said = reading.answers.at(-1) ?? ''
  const isRepeat = reading.asked.length > 1 && question.queries[0] === understand(reading.asked.slice(0, -1)).queries[0]
  const quoted = quote(question, passages, isRepeat ? said : '')
  if (quoted !== undefined) return quoted
  if (reading.found.length === 0 && reading.toolAnswers.length > 0) return ofTools(reading) ?? ''
  if (isRepeat) return 'I found nothing more about this in the documents.'
  if (passages.length === 0)
    return 'I found nothing about this in the documents. Other words may help, or the documents do not cover it.'
  return `I could not find an answer to this in the documents.${nearest(scorePassages(question, passages).candidates)}`
}

/** Answers from the conversation alone: text that came with the message, then earlier answers. */
export function answerFromConversation(reading: Reading): string | undefined {
  const question = understand(reading.asked)
  const earlier = reading.answers.map((content): SourcePassage => ({ number: undefined, title: '', content }))
  return quote(question, reading.context, '') ?? quote(question, earlier.toReversed(), '')
}
