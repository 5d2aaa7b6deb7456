import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { Action } from '../contracts/action.ts'

/** Actions as a model is told of them. */
export function toFunctionTools(actions: readonly Action[]): LanguageModelV4FunctionTool[] {
  return actions.map(({ name, description, input }) => ({
    type: 'function',
    name,
    description,
    inputSchema: input['~standard'].jsonSchema.input({ target: 'draft-07' }),
  }))
}

/** Offers actions to a model. With `forced` only those are offered, and the model has to call one of them. */
export function offerTools(
  actions: readonly Action[],
  forced: readonly Action[] = [],
): Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'> {
  const [only, ...others] = forced
  const tools = toFunctionTools(only ? forced : actions)
  if (tools.length === 0) return {}
  if (!only) return { tools, toolChoice: { type: 'auto' } }
  return { tools, toolChoice: others.length === 0 ? { type: 'tool', toolName: only.name } : { type: 'required' } }
}
