import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { stripCitations, isJsonObject, readJson } from '@inlay/protocol'
import type { FileDescriptor } from '@inlay/protocol'
import type { PastText } from '../contracts/action.ts'
import type { HistoryLimits, PastMessage } from '../contracts/conversation-store.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import { cutOff } from './context-window.ts'
import { createCallIds, decodeSteps, notMade, toExchange, type ModelStep } from './model-steps.ts'

/** Stored with calls: another name would not be found in old ones. */
export const researchAgentName = 'research_agent' as const

/** How much history to read for a context window: four characters per token; the rest is cut by tokens later. */
export function historyLimits(contextTokens: number): HistoryLimits {
  // Answers already contain the results of research agents, whose calls would fill later prompts.
  return { chars: contextTokens * 4, withoutCallsOf: [researchAgentName], shorten: toStub }
}

const maxTextChars = 2_000
const maxPastTexts = 10

/** The newest messages as text for actions, oldest first: at most ten, each cut to 2000 characters. */
export function toPastTexts(messages: readonly PastMessage[]): PastText[] {
  return messages.slice(-maxPastTexts).map(({ role, text }) => ({
    role,
    text: (role === 'assistant' ? stripCitations(text) : text).slice(0, maxTextChars).toWellFormed(),
  }))
}

export type Attachments = (files: readonly FileDescriptor[]) => {
  /** Messages before the one with the files. */
  readonly before: readonly LanguageModelV4Message[]
  readonly parts: readonly LanguageModelV4FilePart[]
}

export interface PromptOptions {
  readonly instructions: string
  readonly history: readonly PastMessage[]
  /** Summary of messages before the history. Default: none. */
  readonly summary?: string | null
  readonly summaryFiles?: readonly FileDescriptor[]
  /** Added to the newest message only, never stored. */
  readonly additionalContext: string | null
  readonly userText: string
  /** Files of the newest message. */
  readonly userFiles?: readonly FileDescriptor[]
  /** Content of attached files. Default: none. */
  readonly attachments?: Attachments
  /** Messages right before the newest one. */
  readonly before?: readonly LanguageModelV4Message[]
  /** Pictures that go with the newest message besides its own. */
  readonly contextImages?: readonly LanguageModelV4FilePart[]
  /** Whether the model has actions: without any, some providers reject earlier calls in the prompt. */
  readonly hasActions: boolean
  /** The model that reads it. Default: none that made an earlier step. */
  readonly model?: ResolvedModel
}

const summaryNote = 'What was said in this conversation before its messages below, as you wrote it down:'

/**
 * Creates the prompt of a run: instructions, earlier messages, the newest one. Citations in earlier answers are removed
 * and only names are kept of their results, as a number refers to a document of one answer only. An earlier message
 * reads the same in all later prompts, so that provider caches find it.
 */
export function toPrompt(options: PromptOptions): LanguageModelV4Prompt {
  const { instructions, history, summary = null, additionalContext, userText } = options
  const { attachments, userFiles = [], summaryFiles = [], before = [], contextImages = [] } = options
  const withIds = createCallIds()
  const attached = attachments?.(userFiles) ?? nothingAttached
  return [
    { role: 'system', content: summary === null ? instructions : `${instructions}\n\n${summaryNote}\n${summary}` },
    ...(attachments && summaryFiles.length > 0 ? summedUpFiles(summaryFiles, attachments) : []),
    ...history.flatMap((message) => toMessages(message, options, withIds)),
    ...before,
    ...attached.before,
    ...(additionalContext ? [userMessage(`Context that comes with the next message:\n${additionalContext}`)] : []),
    userMessage(userText, [...contextImages, ...attached.parts]),
  ]
}

const nothingAttached: ReturnType<Attachments> = { before: [], parts: [] }

/** A message of the user: files first, then the text. */
export function userMessage(text: string, files: readonly LanguageModelV4FilePart[] = []): LanguageModelV4Message {
  return { role: 'user', content: [...files, { type: 'text', text }] }
}

function summedUpFiles(files: readonly FileDescriptor[], attachments: Attachments): LanguageModelV4Message[] {
  const { before, parts } = attachments(files)
  return parts.length === 0
    ? [...before]
    : [...before, userMessage('Pictures from earlier in this conversation.', parts)]
}

function toMessages(
  message: PastMessage,
  { hasActions, attachments, model }: PromptOptions,
  withIds: ReturnType<typeof createCallIds>,
): LanguageModelV4Message[] {
  if (message.role === 'user') {
    const { before, parts } = attachments?.(message.files) ?? nothingAttached
    return [...before, userMessage(message.text, parts)]
  }
  const text = stripCitations(message.text)
  const steps = hasActions ? decodeSteps(model, message.modelSteps) : []
  const calls = hasActions ? callMessages(message, steps, withIds) : []
  // An answer that failed before its first output leaves nothing to show.
  if (text.trim() === '' && calls.length === 0) return []
  const last = steps.at(-1)
  const thoughts = last?.calls.length === 0 ? last.content : []
  return [...calls, { role: 'assistant', content: [...thoughts, { type: 'text', text: text.trim() || endedHere }] }]
}

/** Mistral refuses a message of the user right behind results, as those of an answer that was stopped, or that waits. */
const endedHere = '(The answer ended here.)'

// Mistral takes nine letters and digits alone, Anthropic letters, digits, `_` and `-`, OpenAI at most 40 of them. Searches
// of earlier versions are known by their ids.
const isSafe = (id: string): boolean => /^(?:[a-zA-Z\d]{9}|search-first-\w{8})$/.test(id)

const base36 = (value: number, length: number): string => value.toString(36).padStart(length, '0')

/**
 * Calls of an earlier answer with their results. The model that made them gets them back with its ids and thoughts. Any
 * other one gets ids that all providers take, since its provider may refuse those, and cannot read the thoughts.
 */
function callMessages(
  { id: messageId, toolCalls }: PastMessage,
  modelSteps: readonly ModelStep[],
  withIds: ReturnType<typeof createCallIds>,
): LanguageModelV4Message[] {
  let count = 0
  // The same in all later prompts, and in no other chat.
  const newId = (): string => `c${base36(messageId, 6)}${base36(count++, 2)}`
  const steps = [...new Set(toolCalls.map(({ step }) => step))].toSorted((a, b) => a - b)
  return steps.flatMap((step): LanguageModelV4Message[] => {
    const ofStep = toolCalls.filter((call) => call.step === step)
    // Calls that waited are sent once more with what a person decided, and the thoughts go with those.
    const hasWaited = ofStep.some(({ result }) => result === notMade)
    const modelStep = hasWaited ? undefined : modelSteps.find((other) => other.step === step)
    const calls = ofStep.map(({ callId, name, arguments: input, result }) => ({
      ...modelStep?.calls.find(({ id }) => id === callId),
      id: modelStep || isSafe(callId) ? callId : '',
      name,
      input: JSON.stringify(input),
      result: toStub(result),
    }))
    return toExchange(modelStep?.content ?? [], withIds(calls, newId))
  })
}

const maxNames = 10
const maxResultChars = 2_000

/** Shortens an earlier result: the document names of a search, otherwise the beginning. */
function toStub(result: string): string {
  const value = readJson(result)
  if (!isJsonObject(value) || !Array.isArray(value['results'])) {
    const isLong = result.length > maxResultChars + (result.endsWith(cutOff) ? cutOff.length : 0)
    return isLong ? `${result.slice(0, maxResultChars).toWellFormed()}${cutOff}` : result
  }
  const names = value['results'].filter(isJsonObject).flatMap(({ title }) => (typeof title === 'string' ? [title] : []))
  const results = [...new Set(names)].slice(0, maxNames).map((title) => ({ title }))
  return JSON.stringify({ results, note: 'Found for an earlier answer; search again to read or cite it.' })
}
