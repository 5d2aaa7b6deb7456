import { storable } from '@inlay/protocol'
import { untilAborted } from '@inlay/scheduling'
import type { ResolvedModel } from '@inlay/agent'

const tool = 'name_conversation'
const instructions = `Name the conversation: at most six words in its own language, without quotation marks or a full stop at the end. Call ${tool} with the name.`
const maxTitleLength = 80
const questionLimit = 40

export interface SpokenMessage {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

/**
 * Finds a name for a conversation: asks the model, unless it only quotes; falls back to the first question.
 * @param messages oldest first; the first question makes the name, its answer helps
 * @returns never blank; `New Chat` when nothing was said
 */
export async function findTitle(
  messages: readonly SpokenMessage[],
  model: ResolvedModel | undefined,
  signal: AbortSignal,
): Promise<string> {
  const question = inOneLine(messages.find(({ role }) => role === 'user')?.text ?? '')
  if (question === '') return 'New Chat'
  // Whatever goes wrong with a model, a name is found without it.
  const answer = messages.find(({ role }) => role === 'assistant')?.text ?? ''
  const title = model && !model.quotesOnly ? await askModel(question, answer, model, signal).catch(() => '') : ''
  return title === '' ? questionTitle(question) : title
}

/** A name made of a question alone: its beginning; "" for a blank one. */
export function questionTitle(text: string): string {
  const question = inOneLine(text)
  return question.length > questionLimit ? `${cutBetweenWords(question, questionLimit)}...` : question
}

/** The beginning of a text, which may be megabytes. */
const inOneLine = (text: string): string => text.slice(0, 10_000).replace(/\s+/g, ' ').trim()

/** The beginning of a text, to the end of a word where there is one. */
function cutBetweenWords(text: string, limit: number): string {
  const cut = text.slice(0, limit + 1)
  const end = cut.lastIndexOf(' ')
  return (end > limit / 2 ? cut.slice(0, end) : cut.slice(0, limit)).toWellFormed()
}

const excerpt = (question: string, answer: string): string =>
  `Question:\n${question.slice(0, 2_000)}${answer === '' ? '' : `\n\nBeginning of the answer:\n${answer.slice(0, 500)}`}`

/** What models put before a name, in Markdown and in words. */
const markup = /^[\s*_#]*(?:(?:title|titel|titre|título|titolo|标题|タイトル|제목)[*_]*\s?[:：])?/i

async function askModel(
  question: string,
  answer: string,
  { model, contextTokens }: ResolvedModel,
  signal: AbortSignal,
): Promise<string> {
  const asking = model.doGenerate({
    prompt: [
      { role: 'system', content: instructions },
      // The answer may quote documents, so it is no part of the instructions.
      { role: 'user', content: [{ type: 'text', text: excerpt(question, answer) }] },
    ],
    tools: [
      {
        type: 'function',
        name: tool,
        description: 'Stores the name of the conversation.',
        inputSchema: {
          type: 'object',
          properties: { title: { type: 'string', description: 'At most six words' } },
          required: ['title'],
          additionalProperties: false,
        },
      },
    ],
    toolChoice: { type: 'tool', toolName: tool },
    // A model that thinks first needs room for it.
    maxOutputTokens: Math.min(2_000, Math.floor(contextTokens / 4)),
    abortSignal: signal,
  })
  const { content } = await untilAborted(Promise.resolve(asking), signal)
  const call = content.find((part) => part.type === 'tool-call')
  const given = call
    ? titleOf(call.input)
    : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  const title = storable(given)
    .replace(/\s+/g, ' ')
    .replace(markup, '')
    .replace(/^["'“«*_`\s]+|(?<!["'”».*_`\s])["'”».*_`\s]+$/g, '')
  if (title.length <= maxTitleLength) return title
  return `${cutBetweenWords(title, maxTitleLength)}…`
}

function titleOf(input: string): string {
  const value: unknown = JSON.parse(input)
  return typeof value === 'object' && value !== null && 'title' in value && typeof value.title === 'string'
    ? value.title
    : ''
}
