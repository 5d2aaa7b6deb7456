import { InlayError, isJsonObject } from '@inlay/protocol'
import type { PacketBody } from '@inlay/protocol'
import type { Action, ActionResult, ActionTurn, InputSchema } from '../contracts/action.ts'
import { isMastraTool, toAction, type MastraTool } from './mastra-tools.ts'

/** What a host may register: an action, or a tool made by Mastra's `createTool`. */
export type HostAction = Action | MastraTool

/** An action as a host writes it. */
export interface ActionDefinition<Input> {
  /** A stable number above 0. Default: made from the name. */
  readonly id?: number
  /** The name the model sees: letters, digits, `_` and `-`. */
  readonly name: string
  /** Default: the name. */
  readonly displayName?: string
  /** What it does and when to use it, for the model. */
  readonly description: string
  /** Any Standard Schema that also gives JSON Schema; its arguments are checked before `run`. */
  readonly input: InputSchema<Input>
  /** Gives what the model reads; a thrown error is told to the model, and the run goes on. */
  run(input: Input, turn: ActionTurn): Promise<ActionResult | string>
}

/**
 * Makes an action. Clients see its calls as those of a custom tool.
 * @example
 * defineAction({
 *   name: 'order_state',
 *   description: 'Tells how far an order is. Needs its number.',
 *   input: z.object({ number: z.string() }),
 *   run: async ({ number }) => orders.stateOf(number),
 * })
 */
export function defineAction<Input>(definition: ActionDefinition<Input>): Action<Input> {
  const { name, displayName = name, id = idOf(name), description, input } = definition
  return {
    id,
    name,
    displayName,
    description,
    builtIn: null,
    input,
    run: async (given, turn) => {
      const result = await definition.run(given, turn)
      return typeof result === 'string' ? { text: result } : result
    },
  }
}

/** Takes what a host registers as actions. UNSUPPORTED for a tool that asks people before it runs. */
export function adoptActions(given: readonly HostAction[]): Action[] {
  return given.map((one) => toldAsCustom(isMastraTool(one) ? toAction(one, idOf(one.id)) : one))
}

/** A number from 1,000,000 that follows from the name alone (FNV-1a, 32 bits), so that clients can keep it. */
function idOf(name: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < name.length; at++) value = Math.imul(value ^ name.charCodeAt(at), 0x01000193)
  return 1_000_000 + ((value >>> 0) % 1_000_000_000)
}

/** Tells calls of an action that tells nothing itself as those of a custom tool. */
function toldAsCustom(action: Action): Action {
  checkSchema(action)
  if (action.builtIn !== null || action.start) return action
  const { id, name } = action
  return {
    ...action,
    start: () => ({ type: 'custom_tool_start', tool_name: name, tool_id: id }),
    run: async (input, turn) => {
      let hasTold = false
      const emit = (packet: PacketBody): void => {
        hasTold ||= packet.type === 'custom_tool_delta'
        turn.emit(packet)
      }
      if (isJsonObject(input) && Object.keys(input).length > 0)
        emit({ type: 'custom_tool_args', tool_name: name, tool_args: input })
      const result = await action.run(input, { ...turn, emit })
      if (!hasTold) emit({ type: 'custom_tool_delta', tool_name: name, tool_id: id, ...toData(result.text) })
      return result
    },
  }
}

function checkSchema({ name, input }: Action): void {
  // Checked because hosts may be written without types, and a schema that tells models nothing fails late and oddly.
  const standard: unknown = input?.['~standard']
  if (isJsonObject(standard) && isJsonObject(standard['jsonSchema'])) return
  throw new InlayError('VALIDATION_ERROR', {
    message: `The input schema of the action ${name} has to be a Standard Schema that also gives JSON Schema.`,
  })
}

type CustomData = Omit<Extract<PacketBody, { type: 'custom_tool_delta' }>, 'type' | 'tool_name' | 'tool_id'>

function toData(text: string): CustomData {
  const more = { file_ids: null, error: null }
  if (/^\s*[[{]/.test(text)) {
    try {
      return { response_type: 'json', data: JSON.parse(text) as CustomData['data'], ...more }
    } catch {
      // Text that only begins like JSON.
    }
  }
  return { response_type: 'text', data: text, ...more }
}
