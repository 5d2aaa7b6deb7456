import type { LanguageModelV4Message } from '@ai-sdk/provider'

/** State that determines the reminders before the next step. */
export interface ReminderState {
  /** Whether no tool can be called any more. */
  readonly isOver: boolean
  readonly includeCitations: boolean
  /** Tokens of the newest results that can be cited. */
  readonly resultTokens: number
}

const lastStep =
  'Answer now: no tool can be called any more. Take facts from the results above, and say plainly what they do not tell.'
const cite =
  'Cite the results: behind each statement, put the number of its result (the field "document") in square brackets.'
// Behind so much text the instructions to cite are easily forgotten.
const longResultTokens = 3_000

/** Instructions that follow the conversation; [] when there is nothing to say. */
export function toStepReminder(state: ReminderState): LanguageModelV4Message[] {
  const { isOver, includeCitations, resultTokens } = state
  const texts = [...(isOver ? [lastStep] : []), ...(includeCitations && resultTokens > longResultTokens ? [cite] : [])]
  if (texts.length === 0) return []
  return [{ role: 'user', content: [{ type: 'text', text: `Instructions for this step:\n${texts.join('\n')}` }] }]
}
