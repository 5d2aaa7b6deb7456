import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { isJsonObject, readJson, type ToolApproval } from '@inlay/protocol'
import type { Action } from '../contracts/action.ts'
import type { RequestedCall } from '../prompt/model-steps.ts'

export interface PlannedCall extends Pick<RequestedCall, 'id' | 'providerOptions'> {
  readonly action: Action
  /** Index among the step's requested calls, from 0; a merged call has that of its first. */
  readonly position: number
  /** Arguments as requested, not yet validated; undefined when they are invalid JSON. */
  readonly input: unknown
  /** What a person decided about it. Default: nobody was asked. */
  readonly decision?: Required<ToolApproval> | undefined
}

export interface CallPlan {
  /** In the order of their announcements: grouped by action, actions in order of first appearance. */
  readonly calls: readonly PlannedCall[]
  /** Calls of actions that were not offered: they do not run, and clients do not see them. */
  readonly unknown: readonly RequestedCall[]
}

/**
 * Decides which calls of a step run. Calls of an action with a `mergeArgument` are merged into the first by joining
 * that argument. Calls that differ in other arguments stay separate, as one must not narrow the other.
 * @param requested calls with unique ids
 */
export function planCalls(requested: readonly RequestedCall[], offered: ReadonlyMap<string, Action>): CallPlan {
  const byAction = new Map<string, PlannedCall[]>()
  const unknown: RequestedCall[] = []
  for (const [position, call] of requested.entries()) {
    const action = offered.get(call.name)
    if (!action) {
      unknown.push(call)
      continue
    }
    const { id, providerOptions } = call
    const planned: PlannedCall = { id, providerOptions, action, position, input: parse(call.input) }
    const calls = byAction.get(call.name) ?? []
    const { mergeArgument: argument } = action
    const alike = argument === undefined ? -1 : calls.findIndex((earlier) => isAlike(earlier, planned, argument))
    const first = calls[alike]
    if (first && argument !== undefined) calls[alike] = merge(first, planned, argument)
    else calls.push(planned)
    byAction.set(call.name, calls)
  }
  return { calls: [...byAction.values()].flat(), unknown }
}

/** The value of JSON text; undefined when it is invalid. An empty text means no arguments. */
function parse(text: string): unknown {
  return text.trim() === '' ? {} : readJson(text)
}

/** Whether two calls differ only in one argument; null and empty values count as absent. */
function isAlike(a: PlannedCall, b: PlannedCall, argument: string): boolean {
  const [mine, theirs] = [a, b].map(({ input }) => (isJsonObject(input) ? othersOf(input, argument) : undefined))
  // An input that is not an object adds nothing to a merge.
  return mine === undefined || theirs === undefined || mine === theirs
}

function othersOf(input: Record<string, unknown>, argument: string): string {
  const given = Object.entries(input).filter(
    ([name, value]) =>
      name !== argument && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
  )
  return JSON.stringify(given.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function merge(first: PlannedCall, b: PlannedCall, argument: string): PlannedCall {
  if (!isJsonObject(b.input)) return first
  if (!isJsonObject(first.input)) return { ...first, input: b.input }
  const values = [...toList(first.input[argument]), ...toList(b.input[argument])]
  return { ...first, input: { ...first.input, [argument]: values } }
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
}

/** Cached per action: writing a schema costs more than the rest of a step. */
const toolsByAction = new WeakMap<Action, LanguageModelV4FunctionTool>()

export function toFunctionTools(actions: readonly Action[]): LanguageModelV4FunctionTool[] {
  return actions.map((action) => {
    const known = toolsByAction.get(action)
    if (known) return known
    const { id, name, description, builtIn, mcpServerId: server = id } = action
    const tool: LanguageModelV4FunctionTool = {
      type: 'function',
      name,
      description,
      inputSchema: toInputSchema(action),
      // Where a server does not take all tools, those that are no part of Inlay go first.
      ...(builtIn === null && { providerOptions: { inlay: { isForeign: true, server } } }),
    }
    toolsByAction.set(action, tool)
    return tool
  })
}

/** JSON Schema of the arguments for models; for built-in actions without keywords that servers reject. */
function toInputSchema({ input, builtIn }: Action): Record<string, unknown> {
  const { $schema: _, ...schema } = input['~standard'].jsonSchema.input({ target: 'draft-07' })
  // llama.cpp rejects patterns without anchors and unknown formats; only as a keyword do they have a text as value.
  const isRefused = (name: string, value: unknown): boolean =>
    /^(?:pattern|format)$/.test(name) && typeof value === 'string'
  const text = JSON.stringify(schema, (name, value: unknown) => (isRefused(name, value) ? undefined : value))
  // Arguments are validated in any case.
  return builtIn === null ? schema : (JSON.parse(text) as Record<string, unknown>)
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
