import type { LanguageModelV4Usage, LanguageModelV4Message } from '@ai-sdk/provider'
import { isJsonObject, readJson, type Usage } from '@inlay/protocol'

/** A call requested by a model; `input` is the JSON text of its arguments. */
export interface RequestedCall {
  readonly id: string
  readonly name: string
  readonly input: string
  /** Data that the provider expects back with the call, such as a signature. */
  readonly providerOptions?: AssistantPart['providerOptions']
}

/** A call with its result for the model. */
export interface AnsweredCall extends RequestedCall {
  readonly result: string
  /** Whether the result only says that the call could not run. */
  readonly isError?: boolean
}

/** A part of a message of the assistant. */
export type AssistantPart = Exclude<Extract<LanguageModelV4Message, { role: 'assistant' }>['content'], string>[number]

/** Text or reasoning of a model step. */
export type WrittenPart = Extract<AssistantPart, { type: 'text' | 'reasoning' }>

/** Makes the ids of an answer's calls unique, also when the model gave none or repeated one. */
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

/** A step and the results of its calls as messages for the next prompt. */
export function toExchange(content: readonly WrittenPart[], calls: readonly AnsweredCall[]): LanguageModelV4Message[] {
  if (calls.length === 0) return content.length === 0 ? [] : [{ role: 'assistant', content: [...content] }]
  return [
    {
      role: 'assistant',
      content: [
        ...content,
        ...calls.map(({ id, name, input, providerOptions }) => ({
          type: 'tool-call' as const,
          toolCallId: id,
          toolName: name,
          input: toArguments(input),
          ...(providerOptions && { providerOptions }),
        })),
      ],
    },
    {
      role: 'tool',
      content: calls.map(({ id, name, result, isError }) => ({
        type: 'tool-result' as const,
        toolCallId: id,
        toolName: name,
        output: { type: isError ? ('error-text' as const) : ('text' as const), value: result },
      })),
    },
  ]
}

/** The arguments in a JSON text; none unless it is an object. */
export function toArguments(json: string): Record<string, unknown> {
  const value = readJson(json)
  return isJsonObject(value) ? { ...value } : {}
}

/** Fields of a model step that the loop uses. */
export interface LoopStep {
  readonly content: readonly WrittenPart[]
  readonly calls: readonly RequestedCall[]
}

/** The two halves of a tool loop. */
export interface ToolLoop<Step extends LoopStep> {
  /**
   * Plays the next step.
   * @param exchanges earlier steps of this loop with the results of their calls
   * @returns undefined to end the loop
   */
  play(exchanges: readonly LanguageModelV4Message[]): Promise<Step | undefined>
  /**
   * Runs the calls of a step, which have unique ids.
   * @returns the calls with their results for the model; undefined to end the loop
   */
  run(
    calls: readonly RequestedCall[],
    step: Step,
    exchanges: readonly LanguageModelV4Message[],
  ): Promise<readonly AnsweredCall[] | undefined>
}

/** Lets a model call tools step by step, until either half ends the loop or throws. */
export async function runToolLoop<Step extends LoopStep>({ play, run }: ToolLoop<Step>): Promise<void> {
  const withIds = createCallIds()
  const exchanges: LanguageModelV4Message[] = []
  for (;;) {
    const step = await play(exchanges)
    if (!step) return
    const answered = await run(withIds(step.calls), step, exchanges)
    if (!answered) return
    exchanges.push(...toExchange(step.content, answered))
  }
}

/** Usage before any call. */
export const noUsage: Usage = {
  input_tokens: null,
  output_tokens: null,
  reasoning_tokens: null,
  cached_input_tokens: null,
}

/** Adds the usage of one call; unreported values stay null. */
export function addUsage(sum: Usage, { inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    input_tokens: add(sum.input_tokens, inputTokens.total),
    output_tokens: add(sum.output_tokens, outputTokens.total),
    reasoning_tokens: add(sum.reasoning_tokens, outputTokens.reasoning),
    cached_input_tokens: add(sum.cached_input_tokens, inputTokens.cacheRead),
  }
}

function add(sum: number | null, more: number | undefined): number | null {
  return more === undefined || !Number.isFinite(more) ? sum : (sum ?? 0) + more
}
