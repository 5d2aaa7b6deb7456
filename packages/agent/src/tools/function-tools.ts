import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { isJsonObject } from '@inlay/protocol'
import type { Action } from '../contracts/action.ts'

/** Actions as a model is told of them. */
export function toFunctionTools(actions: readonly Action[]): LanguageModelV4FunctionTool[] {
  return actions.map((action) => ({
    type: 'function',
    name: action.name,
    description: action.description,
    inputSchema: toInputSchema(action),
  }))
}

// llama.cpp refuses patterns without anchors, others formats they do not know. Arguments are checked all the same.
const refusedKeywords = new Set(['pattern', 'format'])

/** JSON Schema of arguments as models are sent it; of a built-in action without keywords that servers refuse. */
function toInputSchema({ input, builtIn }: Action): Record<string, unknown> {
  const { $schema: _, ...schema } = input['~standard'].jsonSchema.input({ target: 'draft-07' })
  return builtIn === null ? schema : withoutRefused(schema)
}

function withoutRefused(schema: Record<string, unknown>): Record<string, unknown> {
  const clean = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(clean) : isJsonObject(value) ? withoutRefused(value) : value
  return Object.fromEntries(
    Object.entries(schema)
      // An argument may have such a name; a keyword has a text.
      .filter(([name, value]) => !(refusedKeywords.has(name) && typeof value === 'string'))
      .map(([name, value]) => [name, clean(value)]),
  )
}

/**
 * Offers actions to a model.
 * @param forced only these are offered, and the model has to call one of them; `none`: it may call none
 */
export function offerTools(
  actions: readonly Action[],
  forced: readonly Action[] | 'none',
): Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'> {
  if (forced === 'none') {
    return actions.length === 0 ? {} : { tools: toFunctionTools(actions), toolChoice: { type: 'none' } }
  }
  const [only, ...others] = forced
  const tools = toFunctionTools(only ? forced : actions)
  if (tools.length === 0) return {}
  if (!only) return { tools, toolChoice: { type: 'auto' } }
  return { tools, toolChoice: others.length === 0 ? { type: 'tool', toolName: only.name } : { type: 'required' } }
}
