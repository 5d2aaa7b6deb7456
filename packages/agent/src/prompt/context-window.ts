import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { InlayError, isJsonObject, readJson } from '@inlay/protocol'
import type { Action } from '../contracts/action.ts'

/**
 * Estimates the tokens of a text: a quarter of its ASCII letters, half of other alphabetic ones, one for each ideograph,
 * kana, Hangul syllable or half of an emoji. Within some 15 % of common tokenizers for prose, high for code.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(quarterTokens(text) / 4)
}

function quarterTokens(text: string): number {
  let quarters = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    quarters += code < 0x80 ? 1 : code < 0x2e80 ? 2 : 4
  }
  return quarters
}

/**
 * The beginning of a text that takes at most this many tokens inside JSON, which writes some characters as two or more.
 * Well-formed; the text itself when it fits.
 */
export function cutToTokens(text: string, maxTokens: number): string {
  // No character takes less than a quarter of a token.
  let cut = text.slice(0, Math.max(0, maxTokens * 4))
  for (;;) {
    const tokens = estimateTokens(JSON.stringify(cut))
    if (tokens <= maxTokens || cut === '') return cut.toWellFormed()
    cut = cut.slice(0, Math.floor((cut.length * maxTokens * 0.95) / tokens))
  }
}

// Token overhead of a message, and tokens of an image or file as providers commonly count them.
const messageTokens = 4
const maxFileTokens = 1_000

/** Tokens left for the prompt after the answer and the descriptions of the actions. */
export function maxPromptTokens(contextTokens: number, actions: readonly Action[]): number {
  const answerTokens = Math.min(4_096, Math.floor(contextTokens / 4))
  const quarters = actions.reduce((sum, action) => sum + descriptionSize(action), 0)
  return contextTokens - answerTokens - Math.ceil(quarters / 4)
}

/** Quarters of tokens of what a model is told of an action: counted once, since a run needs those of all actions thrice. */
const descriptionSizes = new WeakMap<Action, number>()

function descriptionSize(action: Action): number {
  const known = descriptionSizes.get(action)
  if (known !== undefined) return known
  const { name, description, input } = action
  const schema = JSON.stringify(input['~standard'].jsonSchema.input({ target: 'draft-07' }))
  const size = quarterTokens(`${name}${description}${schema}\n`)
  descriptionSizes.set(action, size)
  return size
}

/**
 * Rejects a message that would leave no space for an answer, however much of the prompt is cut: a quarter of the
 * window, 2000 tokens at most, is reserved for results of actions.
 * @throws CONTEXT_TOO_LONG
 */
export function checkMessageFits(text: string, contextTokens: number, actions: readonly Action[]): void {
  const limit = maxPromptTokens(contextTokens, actions)
  const most = limit - Math.min(2_000, limit / 4)
  // A character takes at least a quarter of a token, so counting characters first is enough for most texts.
  if (text.length < most || (text.length <= 4 * most && estimateTokens(text) <= most)) return
  throw new InlayError('CONTEXT_TOO_LONG', {
    message: 'The message is longer than the model can read: send a shorter one, or attach the text as a file.',
  })
}

export function promptTokens(prompt: readonly LanguageModelV4Message[]): number {
  return prompt.reduce((sum, message) => sum + tokensOf(message), 0)
}

function tokensOf(message: LanguageModelV4Message): number {
  if (typeof message.content === 'string') return messageTokens + estimateTokens(message.content)
  let sum = messageTokens
  for (const part of message.content) {
    if (part.type === 'text' || part.type === 'reasoning') sum += estimateTokens(part.text)
    else if (part.type === 'tool-call') sum += estimateTokens(JSON.stringify(part.input) ?? '') + messageTokens
    else if (part.type === 'tool-result') sum += estimateTokens(outputText(part)) + messageTokens
    else if (part.type === 'file') sum += maxFileTokens
  }
  return sum
}

function outputText({ output }: LanguageModelV4ToolResultPart): string {
  return output.type === 'text' || output.type === 'error-text' ? output.value : JSON.stringify(output)
}

const leftOut = '[This result was left out to save space.]'
export const cutOff = '\n[The rest was left out to save space.]'

/**
 * Shortens a prompt until its estimate fits. First results of calls before the newest user message are left out, oldest
 * first; then whole turns, oldest first; then results of the present turn are cut, longest first. System messages, the
 * newest user message, what comes right before it (its files and context) and what follows it otherwise stay, even when
 * they do not fit.
 * @param maxTokens most tokens; 0 or less leaves only what must stay
 * @returns a new prompt; the given one when it fits
 */
export function fitPrompt(prompt: LanguageModelV4Prompt, maxTokens: number): LanguageModelV4Prompt {
  let excess = promptTokens(prompt) - maxTokens
  if (excess <= 0) return prompt
  const newest = newestQuestion(prompt)
  const fitted = prompt.map((message, index) => {
    if (excess <= 0 || index >= newest || message.role !== 'tool') return message
    const short = withResults(message, () => leftOut)
    excess -= tokensOf(message) - tokensOf(short)
    return short
  })
  const kept = excess > 0 ? withoutOldTurns(fitted, excess) : fitted
  excess = promptTokens(kept) - maxTokens
  return excess > 0 ? withShortResults(kept, excess) : kept
}

/** Start of the newest user message, including the user messages directly before it, which hold its attachments. */
function newestQuestion(prompt: LanguageModelV4Prompt): number {
  // One after a tool shows what that returned.
  let newest = prompt.findLastIndex(({ role }, at) => role === 'user' && prompt[at - 1]?.role !== 'tool')
  while (prompt[newest - 1]?.role === 'user') newest--
  return newest
}

/** Drops the oldest messages. A cut is always before a user message, so that calls and results stay together. */
function withoutOldTurns(prompt: LanguageModelV4Prompt, excess: number): LanguageModelV4Prompt {
  const newest = newestQuestion(prompt)
  let freed = 0
  let cut = 0
  for (let index = 0; index < newest; index++) {
    const message = prompt[index]
    if (message && message.role !== 'system') freed += tokensOf(message)
    const next = prompt[index + 1]?.role
    if (next === 'user') cut = index + 1
    if (freed >= excess && cut === index + 1) break
  }
  return prompt.filter(({ role }, index) => index >= cut || role === 'system')
}

/** Cuts the longest results of the current turn to a common length. */
function withShortResults(prompt: LanguageModelV4Prompt, excess: number): LanguageModelV4Prompt {
  const lengths = prompt.flatMap((message) =>
    message.role === 'tool'
      ? message.content.flatMap((part) => (part.type === 'tool-result' ? [outputText(part).length] : []))
      : [],
  )
  // Four characters per token; below zero, even empty results would not be enough.
  const wanted = lengths.reduce((sum, length) => sum + length, 0) - excess * 4
  let level = Math.max(0, ...lengths)
  while (level > 200 && lengths.reduce((sum, length) => sum + Math.min(length, level), 0) > wanted) level *= 0.8
  const limit = Math.floor(level)
  return prompt.map((message) =>
    message.role === 'tool' ? withResults(message, (text) => cutResult(text, limit)) : message,
  )
}

/** The beginning. Search results stay valid JSON: the last ones are dropped, then the text of the first is cut. */
function cutResult(text: string, limit: number): string {
  if (text.length <= limit) return text
  const value = readJson(text)
  if (!isJsonObject(value) || !Array.isArray(value['results']) || !isJsonObject(value['results'][0]))
    return text.slice(0, limit) + cutOff
  const results: unknown[] = [...value['results']]
  const written = (): string => JSON.stringify({ ...value, results })
  while (results.length > 1 && written().length > limit) results.pop()
  const first = value['results'][0]
  const { content } = first
  if (typeof content !== 'string') return written()
  for (let length = content.length; length > 0 && written().length > limit;) {
    length = Math.floor(Math.min(length * 0.9, length - (written().length - limit)))
    results[0] = { ...first, content: content.slice(0, Math.max(0, length)).toWellFormed() + cutOff }
  }
  return written()
}

function withResults<Message extends Extract<LanguageModelV4Message, { role: 'tool' }>>(
  message: Message,
  change: (text: string) => string,
): Message {
  const content = message.content.map((part) => {
    if (part.type !== 'tool-result') return part
    const text = outputText(part)
    const changed = change(text)
    return changed === text || changed.length >= text.length
      ? part
      : { ...part, output: { type: 'text' as const, value: changed } }
  })
  return { ...message, content }
}
