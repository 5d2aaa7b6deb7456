import { stripCitations } from '@inlay/protocol'
import type { PastText } from '../contracts/action.ts'
import type { HistoryLimits, PastMessage } from '../contracts/conversation-store.ts'

/** The name under which calls of research agents are stored. */
export const researchAgentName = 'research_agent' as const

/** How much history a window of some tokens can hold: four characters a token, what is too much is cut by tokens later. */
export function historyLimits(contextTokens: number): HistoryLimits {
  // What research agents did and reported is in the answer; all of it would fill the prompts that follow.
  return { chars: contextTokens * 4, withoutCallsOf: [researchAgentName] }
}

const mostTextChars = 2_000
const mostPastTexts = 10

/** The newest messages as text for actions, oldest first: ten at most, each cut to 2000 characters. */
export function toPastTexts(messages: readonly PastMessage[]): PastText[] {
  return messages.slice(-mostPastTexts).map(({ role, text }) => ({
    role,
    text: (role === 'assistant' ? stripCitations(text) : text).slice(0, mostTextChars).toWellFormed(),
  }))
}
