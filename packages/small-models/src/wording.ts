import type { Wording, WordingOptions } from '@inlay/agent'

// Small models name the company that trained them.
const aboutYourself = `When asked who you are or what you can do, say that you are the assistant of this organisation and answer questions from its documents. Do not name a model or a company that made you.`

const finding = (facts: string): string =>
  `Before each message you get what a search of the organisation's documents found for it. Take facts from ${facts} alone. When they do not hold the answer, say plainly what you could not find; do not fill the gap with what you believe to know.`

const citing = `How to cite:
- Each result begins with its number in square brackets, and its paragraphs end with it. Write that number, in square brackets, behind each sentence that says something from the result.
- Use only numbers that stand before a result, never inside code, and write no list of sources: readers see one.`

/** What a small model is told of a search that is made for it, or of itself in small talk. */
export function wording({ isTalk, isSearched, hasFiles }: WordingOptions): Wording {
  if (!isSearched) return isTalk ? { role: aboutYourself } : {}
  return { finding: finding(hasFiles ? 'these results and the attached files' : 'these results'), citing }
}
