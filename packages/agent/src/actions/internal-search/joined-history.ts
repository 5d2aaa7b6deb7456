import { commonWordsOf, keysOf, smallTalkOf, stopWords, wordPattern } from '@inlay/text'
import type { PastText } from '../../contracts/action.ts'

/** A query with more words is understood without its conversation. */
const maxOwnWords = 4
/** The same for one that begins as a follow-up. */
const maxFollowUpWords = 10
const followsUp =
  /^\s*(?:and|but|or|what about|how about|what if|und|aber|oder|was ist mit|wie ist es|et|mais|ou|y|pero|o|e|ma|mas|en|maar|och|men|og|i|a|и|а|но|ve|peki|و)(?=[\s,]\S)|^\s*(?:那|而|じゃあ|では|그럼|그러면)/iu
const maxHistoryWords = 8

/** For when no model can rewrite it; undefined when the query stands alone, or nothing was asked before. */
export function joinHistory(query: string, messages: readonly PastText[]): string | undefined {
  const own = contentWords(query)
  if (own.length > (followsUp.test(query) ? maxFollowUpWords : maxOwnWords)) return undefined
  const known = new Set(own.flatMap(keysOf))
  const words: string[] = []
  const questions = messages.filter(({ role, text }) => role === 'user' && smallTalkOf(text) === undefined).slice(-3)
  // Newest question first: a follow-up depends on it most.
  for (const word of questions.toReversed().flatMap(({ text }) => contentWords(text))) {
    if (words.length === maxHistoryWords) break
    const keys = keysOf(word)
    if (keys.some((key) => known.has(key))) continue
    for (const key of keys) known.add(key)
    words.push(word)
  }
  return words.length === 0 ? undefined : `${query} ${words.join(' ')}`
}

function contentWords(text: string): string[] {
  const own = text.slice(0, 2_000)
  const common = commonWordsOf(own)?.words
  return [...own.matchAll(wordPattern)]
    .map(([word]) => word)
    .filter((word) => !stopWords.has(word.toLowerCase()) && common?.has(word.toLowerCase()) !== true)
}
