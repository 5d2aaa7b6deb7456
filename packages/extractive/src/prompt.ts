import { isJsonObject, readJson } from '@inlay/protocol'
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { SourcePassage } from './page.ts'

export interface Reading {
  /** Questions of the conversation, oldest first; the last is the current one. [] if there is none. */
  readonly questions: readonly string[]
  /** Earlier answers, oldest first. */
  readonly answers: readonly string[]
  /** Texts sent with the questions. Files of a project or agent have citation numbers, others do not. */
  readonly context: readonly SourcePassage[]
  /** Passages found since the current question, best first. */
  readonly passages: readonly SourcePassage[]
  /** Other tool results since the current question. */
  readonly toolAnswers: readonly { readonly toolName: string; readonly text: string; readonly isError: boolean }[]
  /** Available tools by name; empty if the tool choice is `none`. */
  readonly tools: ReadonlyMap<string, LanguageModelV4FunctionTool>
  /** The tool that must be called, `any` tool, or none. */
  readonly mustCall: string | 'any' | undefined
  /** Ids of all calls of the conversation. */
  readonly callIds: ReadonlySet<string>
  /** Names of the tools called since the current question. */
  readonly toolNames: ReadonlySet<string>
}

const contextMark = /^\s*(?:context|additional context|attached|file|document)\b[^\n]{0,120}:\s*\n/i

/** Marks the instructions of an agent or project, which are neither a question nor a source. */
const instructionMark = /^\s*instructions\b[^\n]{0,120}:\s*\n/i

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The text of a message, without files and calls. */
function textOf(message: LanguageModelV4Message): string {
  if (typeof message.content === 'string') return message.content
  return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** Only this much of a longer message is read at each end, and a paragraph there that asks is preferred. */
const maxQuestionLength = 800

/** Finds the question in a message: people who paste a page ask before or after it. */
function questionIn(message: string): string {
  if (message.length <= 2 * maxQuestionLength) return message
  const [start, end] = [message.slice(0, maxQuestionLength), message.slice(-maxQuestionLength)]
  const paragraphs = [end.split(/\n\s*\n/).at(-1)!, start.split(/\n\s*\n/)[0]!]
  return paragraphs.find((text) => /^.{1,400}[?？]\s*$/s.test(text)) ?? `${start}\n${end}`
}

function outputOf({ output }: LanguageModelV4ToolResultPart): { value: unknown; isError: boolean } {
  if (output.type === 'execution-denied') return { value: output.reason ?? 'denied', isError: true }
  if (output.type !== 'content') return { value: output.value, isError: output.type.startsWith('error') }
  return { value: output.value.map((part) => (part.type === 'text' ? part.text : '')).join('\n'), isError: false }
}

/** Passages of a search result, as JSON or parsed; undefined for anything else. */
function passagesOf(value: unknown): SourcePassage[] | undefined {
  const parsed = typeof value === 'string' ? readJson(value) : value
  const results = isJsonObject(parsed) ? parsed['results'] : undefined
  if (!Array.isArray(results)) return undefined
  return results.filter(isJsonObject).map((result) => ({
    number: typeof result['document'] === 'number' ? result['document'] : undefined,
    title: text(result['title']) || text(result['file_name']),
    section: text(result['section']),
    content: text(result['content']) || text(result['snippet']) || text(result['text']),
    updatedAt: text(result['updated_at']),
    replacedBy: text(result['replaced_by']),
  }))
}

function readResults(messages: readonly LanguageModelV4Message[]) {
  const passages: SourcePassage[] = []
  const toolAnswers: Reading['toolAnswers'][number][] = []
  const toolNames = new Set<string>()
  for (const part of messages.flatMap(({ role, content }) => (role === 'tool' ? content : []))) {
    if (part.type !== 'tool-result') continue
    const { toolName } = part
    const { value, isError } = outputOf(part)
    const read = isError ? undefined : passagesOf(value)
    toolNames.add(toolName)
    if (read) passages.push(...read.filter(({ content }) => content !== ''))
    else toolAnswers.push({ toolName, text: typeof value === 'string' ? value : JSON.stringify(value), isError })
  }
  return { passages, toolAnswers, toolNames }
}

/** A text in the conversation: files and context have the format of a search result if they have citation numbers. */
function readContext(message: LanguageModelV4Message): SourcePassage[] {
  const whole = textOf(message)
  const content = whole.replace(contextMark, '')
  const title = /^\s*(?:attached )?file "([^"\n]*)"/i.exec(whole)?.[1] ?? ''
  // Text in brackets is a note that explains why there is no text.
  if (/^\[[^\]]*\]$/.test(content.trim())) return []
  return passagesOf(content) ?? [{ number: undefined, title, content }]
}

export function readCall({ prompt: whole, tools = [], toolChoice }: LanguageModelV4CallOptions): Reading {
  const prompt = whole.filter((message) => message.role !== 'user' || !instructionMark.test(textOf(message)))
  const last = prompt.findLastIndex(({ role }) => role === 'user')
  const before = prompt.slice(0, Math.max(0, last))
  const [context, earlier] = [true, false].map((isContext) =>
    before.filter((message) => message.role === 'user' && contextMark.test(textOf(message)) === isContext),
  )
  const answers = before.filter(({ role }) => role === 'assistant').map(textOf)
  const calls = prompt.flatMap(({ role, content }) => (role === 'assistant' ? content : []))
  const offered = toolChoice?.type === 'none' ? [] : tools.filter((tool) => tool.type === 'function')
  return {
    ...readResults(prompt.slice(last + 1)),
    questions: [...earlier!, ...prompt.slice(Math.max(0, last), last + 1)].map((message) =>
      questionIn(textOf(message)),
    ),
    answers: answers.filter((answer) => answer !== ''),
    context: context!.flatMap(readContext),
    tools: new Map(offered.map((tool) => [tool.name, tool])),
    mustCall: toolChoice?.type === 'tool' ? toolChoice.toolName : toolChoice?.type === 'required' ? 'any' : undefined,
    callIds: new Set(calls.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))),
  }
}

/** Complete URLs, without the punctuation that follows. */
const addresses = /\bhttps?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]}]/gi

export const openTool = 'open_url'
/** A longer message is a pasted page, and its links are not part of the question. */
const maxWithAddressesLength = 600
const maxAddresses = 5

/** Opens the URLs in the current question, once. */
export function openAddresses(reading: Reading): Move | undefined {
  const question = reading.questions.at(-1) ?? ''
  const urls =
    question.length > maxWithAddressesLength ? [] : [...new Set(question.match(addresses))].slice(0, maxAddresses)
  const isDue = urls.length > 0 && reading.tools.has(openTool) && !reading.toolNames.has(openTool)
  return isDue ? { calls: [{ name: openTool, input: { urls } }] } : undefined
}

/** The question with the title of the opened page for each URL: a URL alone asks for what its page is called. */
export function aboutPages(reading: Reading): Reading {
  const title = reading.passages[0]?.title ?? ''
  const question = (reading.questions.at(-1) ?? '').replaceAll(addresses, () => title)
  return { ...reading, questions: [...reading.questions.slice(0, -1), question] }
}

export type Move =
  | { readonly say: string }
  | { readonly calls: readonly { readonly name: string; readonly input: unknown }[] }
