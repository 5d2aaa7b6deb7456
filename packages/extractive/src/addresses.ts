import type { Move } from './move.ts'
import type { Reading } from './prompt.ts'

/** Whole addresses, without the marks that end their sentence. */
const addresses = /\bhttps?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]}]/gi

const tool = 'open_url'
/** A longer message is a page that somebody pasted, and nobody asked for what it links to. */
const longestQuestion = 600
const mostAddresses = 5

const addressesIn = (question: string): string[] => [...new Set(question.match(addresses))]

/** Whether pages were opened since the present question, or tried to. */
export const wasOpened = ({ toolNames }: Reading): boolean => toolNames.has(tool)

/** Opens the addresses that the present question holds, once. */
export function openAddresses(reading: Reading): Move | undefined {
  const question = reading.questions.at(-1) ?? ''
  const urls = question.length > longestQuestion ? [] : addressesIn(question)
  const isDue = urls.length > 0 && urls.length <= mostAddresses && reading.tools.has(tool) && !wasOpened(reading)
  return isDue ? { calls: [{ name: tool, input: { urls } }] } : undefined
}

/**
 * The conversation as it is about the pages that were opened: an address is no word of a question, what its page is
 * called is. An address alone asks for what the page says.
 */
export function aboutPages(reading: Reading): Reading {
  const question = reading.questions.at(-1)
  if (!wasOpened(reading) || question === undefined) return reading
  const named = question.replaceAll(addresses, reading.passages[0]?.title ?? '')
  const isBare = question.replaceAll(addresses, '').trim() === ''
  return { ...reading, questions: [...reading.questions.slice(0, -1), isBare ? `Summarise ${named}` : named] }
}
