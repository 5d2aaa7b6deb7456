import type { LanguageModelV4Message, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from '@inlay/protocol'
import {
  createCallIds,
  toExchange,
  type AnsweredCall,
  type RequestedCall,
  type WrittenPart,
} from '../prompt/model-steps.ts'

export interface LoopStep {
  readonly content: readonly WrittenPart[]
  readonly calls: readonly RequestedCall[]
}

export interface ToolLoop<Step extends LoopStep> {
  /** What stands before the steps. Default: nothing that has calls. */
  readonly prompt?: readonly LanguageModelV4Message[]
  /**
   * @param exchanges earlier steps of this loop with the results of their calls
   * @returns undefined to end the loop
   */
  play(exchanges: readonly LanguageModelV4Message[]): Promise<Step | undefined>
  /** The calls have unique ids. @returns them with their results for the model; undefined to end the loop */
  run(
    calls: readonly RequestedCall[],
    step: Step,
    exchanges: readonly LanguageModelV4Message[],
  ): Promise<readonly AnsweredCall[] | undefined>
}

/** Lets a model call tools step by step, until either half ends the loop or throws. */
export async function runToolLoop<Step extends LoopStep>({ prompt, play, run }: ToolLoop<Step>): Promise<void> {
  const withIds = createCallIds(prompt)
  const exchanges: LanguageModelV4Message[] = []
  for (;;) {
    const step = await play(exchanges)
    if (!step) return
    const answered = await run(withIds(step.calls), step, exchanges)
    if (!answered) return
    exchanges.push(...toExchange(step.content, answered))
  }
}

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
