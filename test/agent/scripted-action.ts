import type { Action, ActionResult, ActionTurn, InputSchema } from '@inlay/agent'
import type { PacketBody, SearchDoc } from '@inlay/protocol'

export interface ScriptedActionOptions {
  /** Id on the wire. */
  readonly id: number
  /** The name the model sees. */
  readonly name: string
  /** Built-in kind (`SearchTool`, …). Default null: an action of a host. */
  readonly builtIn?: string | null
  /** The name people see. Default: its name. */
  readonly displayName?: string
  /** Description for the model. */
  readonly description?: string
  /** JSON Schema of the arguments shown to the model; values are not checked. Default: any object. */
  readonly inputSchema?: Record<string, unknown>
  /** List argument whose values are joined when one step calls it several times. */
  readonly mergeArgument?: string
  /** Text arguments that clients see while the model writes them. Default: none. */
  readonly streamedArguments?: readonly string[]
  /** Packet sent before the call runs. */
  readonly start?: PacketBody
  /** Packets sent while it runs, in order. */
  readonly packets?: readonly PacketBody[]
  /** Documents it makes citable, in rank order; also its found documents. */
  readonly documents?: readonly SearchDoc[]
  /** Awaited before the packets are sent. */
  readonly pause?: (turn: ActionTurn) => Promise<unknown>
  /** Thrown after the packets. */
  readonly fails?: unknown
  /** The result, or a function that returns it. Default: the text `done`. */
  readonly result?:
    | ActionResult
    | ((input: Record<string, unknown>, turn: ActionTurn) => ActionResult | Promise<ActionResult>)
}

/** An action that follows a script and remembers its calls. */
export interface ScriptedAction extends Action<Record<string, unknown>> {
  /** Arguments and turn of each call so far, in order of arrival. */
  readonly calls: readonly { readonly input: Record<string, unknown>; readonly turn: ActionTurn }[]
}

const anyObject = (schema: Record<string, unknown>): InputSchema<Record<string, unknown>> => ({
  '~standard': {
    version: 1,
    vendor: 'inlay-testing',
    validate: (value) =>
      typeof value === 'object' && value !== null
        ? { value: Object.fromEntries(Object.entries(value)) }
        : { issues: [{ message: 'Expected an object.' }] },
    jsonSchema: { input: () => schema },
  },
})

/** Creates an action for tests that sends, finds and fails as configured and records its calls. */
export function scriptedAction(options: ScriptedActionOptions): ScriptedAction {
  const calls: { input: Record<string, unknown>; turn: ActionTurn }[] = []
  const { start, mergeArgument, streamedArguments, result } = options
  return {
    id: options.id,
    name: options.name,
    displayName: options.displayName ?? options.name,
    description: options.description ?? `Scripted action ${options.name}.`,
    builtIn: options.builtIn ?? null,
    input: anyObject(options.inputSchema ?? { type: 'object', properties: {}, additionalProperties: true }),
    ...(start && { start: () => start }),
    ...(mergeArgument !== undefined && { mergeArgument }),
    ...(streamedArguments && { streamedArguments }),
    calls,
    async run(input, turn) {
      calls.push({ input, turn })
      await options.pause?.(turn)
      for (const packet of options.packets ?? []) turn.emit(packet)
      if (options.documents) turn.cite(options.documents)
      if (options.fails !== undefined) throw options.fails
      const outcome = typeof result === 'function' ? await result(input, turn) : result
      return { text: 'done', ...(options.documents && { foundDocuments: options.documents }), ...outcome }
    },
  }
}
