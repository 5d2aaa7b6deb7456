import type { LanguageModelV4Message } from '@ai-sdk/provider'

/** What an answer is reminded of before its next step. */
export interface ReminderState {
  /** Whether no tool can be called any more. */
  readonly isOver: boolean
  /** Whether results of a search stand in the prompt. */
  readonly isGiven: boolean
  readonly includeCitations: boolean
  /** Tokens of the newest results that can be cited. */
  readonly resultTokens: number
}

const lastStep =
  'Answer now: no tool can be called any more. Take facts from the results above, and say plainly what they do not tell.'
const cite =
  'Cite the results: behind each statement, put the number of its result (the field "document") in square brackets.'
const given = 'Answer this message briefly, in its language, with what the results say. When they do not tell, say so.'
const citeGiven = 'End each sentence with the number of the result it comes from, in square brackets.'
// Behind so much text the instructions to cite are easily forgotten.
const longResultTokens = 3_000

/** Instructions that follow the conversation; [] when there is nothing to say. */
export function toStepReminder(state: ReminderState): LanguageModelV4Message[] {
  const { isOver, isGiven, includeCitations, resultTokens } = state
  const texts = isGiven
    ? [given, ...(includeCitations ? [citeGiven] : [])]
    : [...(isOver ? [lastStep] : []), ...(includeCitations && resultTokens > longResultTokens ? [cite] : [])]
  if (texts.length === 0) return []
  const text = isGiven ? texts.join(' ') : `Instructions for this step:\n${texts.join('\n')}`
  return [{ role: 'user', content: [{ type: 'text', text }] }]
}
