import { AssertionError } from 'node:assert'
import type { ChatFullResponse } from '@inlay/protocol'

/** What the checks read of an answer: of `ask`, or parsed from a response of `POST /chat/send-chat-message`. */
export type CheckedAnswer = Pick<ChatFullResponse, 'answer_citationless' | 'citation_info' | 'top_documents'> & {
  readonly error_msg?: string | null
}

interface Outcome {
  readonly pass: boolean
  readonly message: () => string
}

/** Matchers for `expect.extend`. */
export interface AnswerMatchers<Result = void> {
  toCite(document: string): Result
  toSay(text: string | RegExp): Result
}

/** Throws unless the answer cites a document, named by its title or id. */
export function assertCites(answer: CheckedAnswer, document: string): void {
  const { pass, message } = answerMatchers.toCite(answer, document)
  if (!pass) throw new AssertionError({ message: message(), stackStartFn: assertCites })
}

/** Throws unless the text of the answer, without the links of citations, contains a text or matches a pattern. */
export function assertSays(answer: CheckedAnswer, text: string | RegExp): void {
  const { pass, message } = answerMatchers.toSay(answer, text)
  if (!pass) throw new AssertionError({ message: message(), stackStartFn: assertSays })
}

/** The same checks as matchers of Vitest and Jest: `expect.extend(answerMatchers)`. */
export const answerMatchers = {
  toCite(answer: CheckedAnswer, document: string): Outcome {
    const titles = new Map(answer.top_documents.map((doc) => [doc.document_id, doc.semantic_identifier]))
    const named = (ids: readonly string[]): string =>
      ids.map((id) => (titles.has(id) ? `"${titles.get(id)}" (${id})` : `"${id}"`)).join(', ') || 'nothing'
    const cited = answer.citation_info.map(({ document_id }) => document_id)
    const pass = cited.some((id) => id === document || titles.get(id) === document)
    const uncited = [...titles.keys()].filter((id) => !cited.includes(id))
    const lines = [`Cited: ${named(cited)}`, `Found but not cited: ${named(uncited)}`]
    return outcome(pass, `cite "${document}"`, answer, lines)
  },
  toSay(answer: CheckedAnswer, text: string | RegExp): Outcome {
    const { answer_citationless: said } = answer
    const pass = typeof text === 'string' ? said.includes(text) : said.search(text) >= 0
    return outcome(pass, `say ${typeof text === 'string' ? JSON.stringify(text) : String(text)}`, answer)
  },
}

function outcome(pass: boolean, what: string, answer: CheckedAnswer, lines: readonly string[] = []): Outcome {
  const { answer_citationless: said, error_msg: error } = answer
  const expected = `The answer ${pass ? 'should not' : 'should'} ${what}.`
  const all = [expected, `Answer: ${said}`, ...lines, ...(error ? [`Error: ${error}`] : [])]
  return { pass, message: () => all.join('\n') }
}
