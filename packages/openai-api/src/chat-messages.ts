import type { ClientFile, ClientMessage, ClientStep } from '@inlay/agent'
import * as v from 'valibot'
import { contentSchema, readContent, type ReadContent } from './content.ts'
import { invalid } from './errors.ts'

export const messageSchema = v.object({
  role: v.picklist(['system', 'developer', 'user', 'assistant', 'tool']),
  content: contentSchema,
  tool_call_id: v.nullish(v.string()),
  tool_calls: v.nullish(
    v.array(v.object({ id: v.string(), function: v.object({ name: v.string(), arguments: v.nullish(v.string()) }) })),
  ),
})

type Message = v.InferOutput<typeof messageSchema>

/** @throws INVALID_INPUT for messages that cannot be answered */
export function readMessages(messages: readonly Message[]): {
  readonly instructions: string
  readonly history: readonly ClientMessage[]
  /** The last message of the user, with those directly before it. */
  readonly message: ReadContent
  /** Calls of the client's tools behind that message, with their results. */
  readonly steps: readonly ClientStep[]
  readonly files: readonly ClientFile[]
} {
  const files: ClientFile[] = []
  const results = resultsOf(messages, files)
  const [instructions, history]: [string[], ClientMessage[]] = [[], []]
  let question: { readonly texts: string[]; readonly fileIds: string[] } | undefined
  /** Text of its end, and the steps before. */
  let answer: { readonly texts: string[]; readonly steps: ClientStep[] } = { texts: [], steps: [] }
  const endAnswer = (): void => {
    if (question) history.push({ role: 'user', text: joined(question.texts), fileIds: question.fileIds })
    history.push({ role: 'assistant', text: joined(answer.texts), steps: answer.steps })
    question = undefined
    answer = { texts: [], steps: [] }
  }
  for (const [at, { role, content, tool_calls: calls }] of messages.entries()) {
    if (role === 'tool') continue
    const { text, fileIds } = readContent(content, files, `messages.${at}.content`)
    if (role === 'user') {
      if (answer.texts.length + answer.steps.length > 0) endAnswer()
      question ??= { texts: [], fileIds: [] }
      question.texts.push(text)
      question.fileIds.push(...fileIds)
    } else if (role !== 'assistant') instructions.push(text)
    else if (calls && calls.length > 0) {
      const complete = calls.map(({ id, function: { name, arguments: input } }) => {
        const result = results.get(id)
        if (result === undefined)
          throw invalid(
            `messages.${at}.tool_calls`,
            `The call "${id.slice(0, 80)}" has no result: send a message of role "tool" with its tool_call_id behind it.`,
          )
        return { id, name, arguments: input || '{}', result }
      })
      answer.steps.push({ text: joined([...answer.texts.splice(0), text]), calls: complete })
    } else if (text !== '') answer.texts.push(text)
  }
  if (question === undefined)
    throw invalid(
      'messages',
      'There is no message of role "user" to answer: the last message must be one, or the result of a tool.',
    )
  if (answer.texts.length > 0)
    throw invalid(
      'messages',
      'The last message is of the assistant, and answers that were begun are not continued: end with a message of role "user".',
    )
  const message = { text: joined(question.texts), fileIds: question.fileIds }
  if (message.text.trim() === '' && message.fileIds.length === 0)
    throw invalid('messages', 'The last message of role "user" is empty: send text or a file.')
  return { instructions: joined(instructions), history, message, steps: answer.steps, files }
}

const joined = (texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n\n')

/** Results of tools by the ids of their calls. */
function resultsOf(messages: readonly Message[], files: ClientFile[]): Map<string, string> {
  const results = new Map<string, string>()
  for (const [at, { role, content, tool_call_id: id }] of messages.entries()) {
    if (role !== 'tool') continue
    if (!id)
      throw invalid(`messages.${at}.tool_call_id`, 'A message of role "tool" needs the tool_call_id of its call.')
    results.set(id, readContent(content, files, `messages.${at}.content`).text)
  }
  return results
}
