import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { createCallIds, toExchange, type AnsweredCall, type RequestedCall, type WrittenPart } from './exchange.ts'

/** What the loop reads from a step of a model. */
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
   * Runs the calls of a step; each has an id of its own.
   * @returns the calls with their results, as the model reads them in the next step; undefined to end the loop
   */
  run(
    calls: readonly RequestedCall[],
    step: Step,
    exchanges: readonly LanguageModelV4Message[],
  ): Promise<readonly AnsweredCall[] | undefined>
}

/** Lets a model call tools step by step, until either half ends the loop. What either throws ends it too. */
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
