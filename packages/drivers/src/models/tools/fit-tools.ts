import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { readJson, withDeclaredNames, type JsonObject } from '@inlay/protocol'
import { fitSchema } from './fit-schema.ts'
import { rulesOf, type ToolRules } from './tool-rules.ts'

type Tool = NonNullable<LanguageModelV4CallOptions['tools']>[number]

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

export const declaredName = (called: string, tools: readonly Tool[] = []): string =>
  tools.some(({ name }) => name === called)
    ? called
    : (tools.find(({ name }) => nameByLetter(name) === called)?.name ?? called)

/** Arguments of a call; where its tool was sent in another form, texts stood for what may be anything. */
export function declaredInput(name: string, input: string, tools: readonly Tool[] = [], sent = tools): string {
  const tool = tools.find((each) => each.name === name)
  if (tool?.type !== 'function') return input
  if (sent.some((each) => each.type === 'function' && each.inputSchema === tool.inputSchema)) return input
  const args = readJson(input)
  return args === undefined ? input : JSON.stringify(withDeclaredNames(args, tool.inputSchema as JsonObject, true))
}

/** A call with its tools as the provider takes them; the same call if nothing changes. */
export function fitCall(call: LanguageModelV4CallOptions, refused: ReadonlySet<string>): LanguageModelV4CallOptions {
  const { tools = [], prompt, toolChoice } = call
  if (tools.length === 0) return call
  const { maxTools, isNamedByLetters } = rulesOf(refused)
  const chosen = tools.length > maxTools ? chooseTools(call, maxTools) : tools
  const fitted = { ...call, tools: chosen.map((tool) => fitTool(tool, rulesOf(refused, tool.name))) }
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

/** Those of Inlay, those called, then those with most words of the question, also by their servers; in their order. */
function chooseTools({ tools = [], prompt, toolChoice }: LanguageModelV4CallOptions, limit: number): Tool[] {
  const called = new Set(
    prompt.flatMap(({ role, content }) =>
      role === 'assistant' ? content.flatMap((part) => (part.type === 'tool-call' ? part.toolName : [])) : [],
    ),
  )
  if (toolChoice?.type === 'tool') called.add(toolChoice.toolName)
  const wanted = wordsOf(questionIn(prompt).slice(-20_000))
  const scoreOf = (tool: Tool): number => {
    const words = tool.type === 'function' ? wordsOf(`${tool.name} ${tool.description?.slice(0, 2_000)}`) : wanted
    return [...words].filter((word) => wanted.has(word)).length
  }
  const ranks = new Map<Tool, number>()
  for (const [, group] of Map.groupBy(tools, (tool) =>
    isForeign(tool) ? tool.providerOptions?.['inlay']?.['server'] : 0,
  )) {
    const scores = group.map(scoreOf)
    const best = Math.max(...scores)
    for (const [at, tool] of group.entries()) {
      const isNeeded = !isForeign(tool) || called.has(tool.name)
      // Of servers that have nothing to do with the question, each keeps its first ones.
      ranks.set(tool, isNeeded ? Number.POSITIVE_INFINITY : (scores[at] ?? 0) * 1e6 + best * 1e4 - at)
    }
  }
  const ranked = tools.toSorted((a, b) => {
    const [mine, others] = [ranks.get(a) ?? 0, ranks.get(b) ?? 0]
    return Number(mine < others) - Number(mine > others)
  })
  const kept = new Set(ranked.slice(0, limit))
  return tools.filter((tool) => kept.has(tool))
}

/** What the user said last, without what was said to the model since: the tools stay the same through an answer. */
function questionIn(prompt: LanguageModelV4CallOptions['prompt']): string {
  const end = prompt.findLastIndex(({ role, providerOptions }) => role === 'user' && !providerOptions?.['inlay'])
  const start = prompt.slice(0, end + 1).findLastIndex(({ role }) => role === 'assistant')
  const said = prompt.slice(start + 1, end + 1).flatMap((each) => (each.role === 'user' ? each.content : []))
  return said.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

function wordsOf(text: string): Set<string> {
  const words = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return new Set(words.match(/[\p{L}\p{N}]{3,}/gu)?.map((word) => word.replace(/s$/, '')))
}
