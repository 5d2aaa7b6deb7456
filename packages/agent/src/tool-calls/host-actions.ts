import { InlayError, isJsonObject, readJson, type PacketBody } from '@inlay/protocol'
import { faultsOfAction, hasJsonSchema } from './action-faults.ts'
import type { Action, ActionTurn, InputSchema } from '../contracts/action.ts'
import { toActionResult } from './action-result.ts'

/** An action as a host registers it; a missing id is derived from the name. */
export type HostAction = Omit<Action, 'id'> & { readonly id?: number }

export interface ActionDefinition<Input> {
  /** A stable number above 0. Default: derived from the name. */
  readonly id?: number
  /** The name the model sees: letters, digits, `_` and `-`. */
  readonly name: string
  /** Default: the name. */
  readonly displayName?: string
  /** For the model: what the action does and when to use it. */
  readonly description: string
  /** Any Standard Schema that also gives JSON Schema; arguments are validated before `run`. */
  readonly input: InputSchema<Input>
  /** Whether a person has to approve a call before it runs, also by its arguments. Default: as `toolApproval` says. */
  readonly needsApproval?: Action<Input>['needsApproval']
  /**
   * Returns the result for the model: text, any JSON value, or an `ActionResult`, which is any object with a `text`. A
   * thrown error also goes to the model, and the run continues.
   */
  run(input: Input, turn: ActionTurn): unknown
}

/**
 * Creates an action. Clients see its calls as those of a custom tool.
 * @throws INVALID_INPUT for an action that a model could not call
 * @example
 * defineAction({
 *   name: 'order_state',
 *   description: 'Returns the state of an order. Needs its number.',
 *   input: z.object({ number: z.string() }),
 *   run: async ({ number }) => orders.stateOf(number),
 * })
 */
export function defineAction<Input>(definition: ActionDefinition<Input>): Action<Input> {
  // Hosts may be untyped. The action below always has a `run`, so its absence would show only with the first call.
  const faults = faultsOfAction(definition)
  if (faults.length > 0)
    throw new InlayError('INVALID_INPUT', {
      message: ['defineAction() cannot work with these options:', ...faults.map((fault) => `- ${fault}`)].join('\n'),
    })
  const { name, displayName = name, id = idOfName(name), description, input, needsApproval } = definition
  return {
    id,
    name,
    displayName,
    description,
    builtIn: null,
    input,
    ...(needsApproval !== undefined && { needsApproval }),
    run: async (args, turn) => toActionResult(await definition.run(args, turn), name),
  }
}

/** Adds ids and the packets of custom tools to the actions of a host. */
export function adoptActions(actions: readonly HostAction[]): Action[] {
  return actions.map((action) => withPackets({ ...action, id: action.id ?? idOfName(action.name) }))
}

/**
 * Lists the faults of a host's actions by index, including names and ids that are not unique.
 * @param builtInNames names that are taken
 */
export function faultsOfActions(
  actions: readonly unknown[],
  builtInNames: readonly string[] = [],
): { readonly index: number; readonly fault: string }[] {
  const names = new Set(builtInNames)
  const ids = new Set<unknown>()
  return actions.flatMap((action, index) => {
    const faults = faultsOfAction(action)
    const { name, id } = isJsonObject(action) ? action : {}
    if (typeof name === 'string' && names.has(name)) {
      const owner = builtInNames.includes(name) ? 'a built-in action' : 'another action'
      faults.push(`its name "${name.slice(0, 100)}" is taken by ${owner}`)
    } else if (id !== undefined && ids.has(id)) faults.push(`its id ${String(id)} is taken by another action`)
    if (typeof name === 'string') names.add(name)
    if (id !== undefined) ids.add(id)
    return faults.map((fault) => ({ index, fault }))
  })
}

/** A stable number from 1,000,000 derived from the name (FNV-1a, 32 bits), so that clients can store it. */
export function idOfName(name: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < name.length; at++) value = Math.imul(value ^ name.charCodeAt(at), 0x01000193)
  return 1_000_000 + ((value >>> 0) % 1_000_000_000)
}

/** Sends the packets of a custom tool for an action that sends none itself. */
function withPackets(action: Action): Action {
  const { id, name, builtIn } = action
  // Hosts may be untyped, and a schema without JSON Schema would fail late and obscurely.
  if (!hasJsonSchema(action.input))
    throw new InlayError('VALIDATION_ERROR', {
      message: `The input schema of the action ${name} has to be a Standard Schema that also gives JSON Schema.`,
    })
  // Hosts may be untyped and return any value.
  const run: Action['run'] = async (input, turn) => toActionResult(await action.run(input, turn), name)
  if (builtIn !== null || action.start) return { ...action, run }
  return {
    ...action,
    start: () => ({ type: 'custom_tool_start', tool_name: name, tool_id: id }),
    run: async (input, turn) => {
      let hasSent = false
      const emit = (packet: PacketBody): void => {
        hasSent ||= packet.type === 'custom_tool_delta'
        turn.emit(packet)
      }
      // A schema may produce values that are not JSON, such as a date.
      const args = turn.arguments ?? input
      if (isJsonObject(args) && Object.keys(args).length > 0)
        emit({ type: 'custom_tool_args', tool_name: name, tool_args: args })
      const result = await run(input, { ...turn, emit })
      if (!hasSent) emit({ type: 'custom_tool_delta', tool_name: name, tool_id: id, ...toData(result.text) })
      return result
    },
  }
}

type CustomData = Omit<Extract<PacketBody, { type: 'custom_tool_delta' }>, 'type' | 'tool_name' | 'tool_id'>

/** The result of a custom tool for clients: JSON if possible, else text. */
export function toData(text: string): CustomData {
  const more = { file_ids: null, error: null }
  const json = /^\s*[[{]/.test(text) ? readJson(text) : undefined
  if (json !== undefined) return { response_type: 'json', data: json as CustomData['data'], ...more }
  return { response_type: 'text', data: text, ...more }
}
