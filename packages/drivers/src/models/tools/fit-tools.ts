import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { JsonObject } from '@inlay/protocol'
import { fitSchema } from './fit-schema.ts'
import { rulesOf, strictRules, type ToolRules } from './tool-rules.ts'

type Tool = NonNullable<LanguageModelV4CallOptions['tools']>[number]

/** Name of a refused schema; the tool then gets the least that any provider takes. */
export const schemaOf = (tool: string): string => `the schema of the tool ${tool}`

/** The rules for one tool by what is refused. */
export function rulesFor(tool: string, refused: ReadonlySet<string>): ToolRules {
  const rules = rulesOf(refused)
  const { isNamedByLetters, maxDescription, maxTools } = rules
  if (!refused.has(schemaOf(tool))) return rules
  return {
    ...strictRules,
    isNamedByLetters,
    maxTools,
    maxDescription: Math.min(maxDescription, strictRules.maxDescription),
  }
}

/** A tool as a provider takes it. */
export function fitTool(tool: Tool, rules: ToolRules): Tool {
  if (tool.type !== 'function') return tool
  const { description = '', name } = tool
  const isLong = description.length > rules.maxDescription
  const short = isLong ? `${description.slice(0, rules.maxDescription - 1).toWellFormed()}…` : description
  // Bedrock takes no empty description.
  return {
    ...tool,
    name: rules.isNamedByLetters ? nameByLetter(name) : name,
    description: short || name,
    inputSchema: cachedSchema(tool.inputSchema as JsonObject, rules),
  }
}

/** Schemas that were fitted, with the rules: those of a chat are the same in each step. */
const fittedSchemas = new WeakMap<JsonObject, { readonly rules: string; readonly schema: JsonObject }>()

function cachedSchema(declared: JsonObject, rules: ToolRules): JsonObject {
  const known = fittedSchemas.get(declared)
  if (known?.rules === rules.key) return known.schema
  const schema = fitSchema(declared, rules)
  fittedSchemas.set(declared, { rules: rules.key, schema })
  return schema
}

const nameByLetter = (name: string): string => (/^[a-z_]/i.test(name) ? name : `_${name}`.slice(0, 64))

/** Name of a tool as it was declared, by the name that a model called. */
export const declaredName = (called: string, tools: readonly Tool[] = []): string =>
  tools.some(({ name }) => name === called)
    ? called
    : (tools.find(({ name }) => nameByLetter(name) === called)?.name ?? called)

/** A call with its tools as the provider takes them; the same call if nothing changes. */
export function fitCall(call: LanguageModelV4CallOptions, refused: ReadonlySet<string>): LanguageModelV4CallOptions {
  const { tools = [], prompt, toolChoice } = call
  if (tools.length === 0) return call
  const { maxTools, isNamedByLetters } = rulesOf(refused)
  const chosen = tools.length > maxTools ? chooseTools(call, maxTools) : tools
  const fitted = { ...call, tools: chosen.map((tool) => fitTool(tool, rulesFor(tool.name, refused))) }
  const left = tools.length - chosen.length
  if (left > 0) {
    const names = tools.filter((tool) => !chosen.includes(tool)).map(({ name }) => name)
    const line = `This model takes ${maxTools} tools at most. ${left} are not offered with this question: ${names.join(', ').slice(0, 1_000)}.`
    const at = prompt.findLastIndex(({ role }) => role === 'system')
    fitted.prompt = prompt.map((message, index) =>
      index === at && message.role === 'system' ? { ...message, content: `${message.content}\n\n${line}` } : message,
    )
  }
  if (!isNamedByLetters || tools.every(({ name }) => nameByLetter(name) === name)) return fitted
  if (toolChoice?.type === 'tool') fitted.toolChoice = { ...toolChoice, toolName: nameByLetter(toolChoice.toolName) }
  fitted.prompt = fitted.prompt.map((message) => {
    if (message.role !== 'assistant' && message.role !== 'tool') return message
    const content = message.content.map((part) =>
      'toolName' in part ? { ...part, toolName: nameByLetter(part.toolName) } : part,
    )
    // Each part keeps its type.
    return { ...message, content } as typeof message
  })
  return fitted
}

export const isForeign = (tool: Tool): tool is LanguageModelV4FunctionTool =>
  tool.type === 'function' && tool.providerOptions?.['inlay']?.['isForeign'] === true

/**
 * Chooses the tools of a question: those of Inlay and those that were called, then those with most words in common with
 * the question, also by their servers; in the order that they had.
 */
function chooseTools({ tools = [], prompt, toolChoice }: LanguageModelV4CallOptions, limit: number): Tool[] {
  const called = new Set(
    prompt.flatMap(({ role, content }) =>
      role === 'assistant' ? content.flatMap((part) => (part.type === 'tool-call' ? part.toolName : [])) : [],
    ),
  )
  if (toolChoice?.type === 'tool') called.add(toolChoice.toolName)
  const question = prompt.findLast(({ role }) => role === 'user')
  const wanted = wordsOf(JSON.stringify(question?.content ?? '').slice(0, 20_000))
  const scores = new Map(
    tools.map((tool) => {
      const words = tool.type === 'function' ? wordsOf(`${tool.name} ${tool.description?.slice(0, 2_000)}`) : wanted
      return [tool, [...words].filter((word) => wanted.has(word)).length] as const
    }),
  )
  const serverOf = (tool: Tool): unknown => (isForeign(tool) ? tool.providerOptions?.['inlay']?.['server'] : undefined)
  const servers = Map.groupBy(tools, serverOf)
  const rankOf = (tool: Tool): number[] => {
    if (!isForeign(tool) || called.has(tool.name)) return [1]
    const own = servers.get(serverOf(tool)) ?? []
    const best = Math.max(...own.map((other) => scores.get(other) ?? 0))
    // Of servers that have nothing to do with the question, each keeps its first ones.
    return [0, scores.get(tool) ?? 0, best, -own.indexOf(tool)]
  }
  const ranks = new Map(tools.map((tool) => [tool, rankOf(tool)]))
  const ranked = tools.toSorted((a, b) => compare(ranks.get(b) ?? [], ranks.get(a) ?? []))
  const kept = new Set(ranked.slice(0, limit))
  return tools.filter((tool) => kept.has(tool))
}

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((value, at) => value - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [
      ...text
        .replace(/([a-z])([A-Z])/g, '$1 $2')
        .toLowerCase()
        .matchAll(/[\p{L}\p{N}]{3,}/gu),
    ].map(([word]) => word.replace(/s$/, '')),
  )
