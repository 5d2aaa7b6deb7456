import type { Action } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import type { StepResult } from '../model/step-output.ts'

/** Whether the search is made for a model instead of left to it. */
export function searchesFirst({ grounding = 'auto', observed }: ResolvedModel): boolean {
  return grounding === 'search-first' || (grounding === 'auto' && observed?.refusesTools === true)
}

const noTokens = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
}

/** A step that calls the search with the person's question; undefined where documents are not searched. */
export function searchStep(actions: readonly Action[], question: string): StepResult | undefined {
  const search = actions.find(({ builtIn }) => builtIn === 'SearchTool')
  if (!search || question.trim() === '') return undefined
  return {
    content: [],
    calls: [{ id: 'search-first', name: search.name, input: JSON.stringify({ queries: [question] }) }],
    wasRecovered: false,
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage: noTokens,
  }
}
