import { isJsonObject, readJson } from '@inlay/protocol'
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { estimateTokens } from '../prompt/context-window.ts'
import type { RequestedCall } from '../model/text-tool-calls.ts'
import type { PlayedStep } from './step.ts'

/** A message of the user's side. */
export function userText(text: string): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}

const questionLimit = 5

/** The conversation of a prompt for another role: without its instructions. */
export function withInstructions(instructions: string, prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return [{ role: 'system', content: instructions }, ...prompt.filter(({ role }) => role !== 'system')]
}

/** The newest part of a conversation: from the fifth last message of the user on, with the files that came with it. */
export function newestMessages(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  // What comes with a message stands before it as messages of the user, too.
  const questions = prompt.flatMap(({ role }, index) =>
    role === 'user' && prompt[index - 1]?.role !== 'user' ? [index] : [],
  )
  return prompt.slice(questions.at(-questionLimit) ?? 0)
}

/** A call with what came of it. */
export interface AnsweredCall extends RequestedCall {
  readonly result: string
}

/** A step and the results of its calls as the model reads them afterwards. */
export function toExchange({ said }: PlayedStep, calls: readonly AnsweredCall[]): LanguageModelV4Message[] {
  if (calls.length === 0) return said.length === 0 ? [] : [{ role: 'assistant', content: [...said] }]
  return [
    {
      role: 'assistant',
      content: [
        ...said,
        ...calls.map(({ id, name, input }) => ({
          type: 'tool-call' as const,
          toolCallId: id,
          toolName: name,
          input: toObject(input),
        })),
      ],
    },
    {
      role: 'tool',
      content: calls.map(({ id, name, result }) => ({
        type: 'tool-result' as const,
        toolCallId: id,
        toolName: name,
        output: { type: 'text' as const, value: result },
      })),
    },
  ]
}

/** The arguments of a call; none when they are no JSON object. */
export function toObject(json: string): Record<string, unknown> {
  const value = readJson(json)
  return isJsonObject(value) ? { ...value } : {}
}

/** Gives every call an id of its own, also where the model gave none or the same twice. */
export function createCallIds(): (calls: readonly RequestedCall[]) => RequestedCall[] {
  const used = new Set<string>()
  return (calls) =>
    calls.map((call) => {
      let id = call.id === '' ? `call-${used.size + 1}` : call.id
      for (let count = 2; used.has(id); count++) id = `${call.id || 'call'}-${count}`
      used.add(id)
      return { ...call, id }
    })
}

const cutOff = '\n[The rest was left out to save space.]'

/** Cuts the longest texts down to a common length until all fit together. */
export function shortenTexts(texts: readonly string[], limitTokens: number): string[] {
  const sum = (level: number): number => texts.reduce((all, text) => all + Math.min(estimateTokens(text), level), 0)
  let level = Math.max(0, ...texts.map(estimateTokens))
  if (sum(level) <= limitTokens) return [...texts]
  while (level > 50 && sum(level) > limitTokens) level *= 0.85
  return texts.map((text) => {
    const cost = estimateTokens(text)
    if (cost <= level) return text
    return text.slice(0, Math.floor((text.length * level) / cost)) + cutOff
  })
}
