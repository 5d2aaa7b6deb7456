import { keysOf, stopWords, wordPattern } from '@inlay/text'
import type { PastText } from '../../contracts/action.ts'

/** A query with more words of its own stands alone. */
const maxOwnWords = 4
/** Most words that are taken from the conversation. */
const maxHistoryWords = 8

/**
 * A query that leans on its conversation, joined by the words of the last questions that matter. Without a model to
 * rewrite it, they are what it leaves out.
 * @returns undefined when it stands alone, or nothing was asked before
 */
export function joinHistory(query: string, messages: readonly PastText[]): string | undefined {
  const own = wordsOf(query)
  if (own.length > maxOwnWords) return undefined
  const known = new Set(own.flatMap(keysOf))
  const words: string[] = []
  const questions = messages.filter(({ role }) => role === 'user').slice(-3)
  // The newest question first, since a follow-up leans on it most.
  for (const word of questions.toReversed().flatMap(({ text }) => wordsOf(text))) {
    if (words.length === maxHistoryWords) break
    const keys = keysOf(word)
    if (keys.some((key) => known.has(key))) continue
    for (const key of keys) known.add(key)
    words.push(word)
  }
  return words.length === 0 ? undefined : `${query} ${words.join(' ')}`
}

const wordsOf = (text: string): string[] =>
  [...text.slice(0, 2_000).matchAll(wordPattern)]
    .map(([word]) => word)
    .filter((word) => !stopWords.has(word.toLowerCase()))
