import type { Action, ActionResult, ActionTurn } from '@inlay/agent'
import type { PacketBody } from '@inlay/protocol'
import { newTurn } from '../action-turn.ts'

/** The result of a call of an action. */
export interface Called {
  readonly packets: readonly PacketBody[]
  readonly result: ActionResult
  /** The result text as JSON. */
  readonly read: Readonly<Record<string, unknown>>
}

/** Calls an action alone, with all its packets from its start on. */
export async function call<Input>(
  action: Action<Input>,
  input: Input,
  more: Partial<ActionTurn> = {},
): Promise<Called> {
  const start = action.start?.()
  const { turn, packets } = newTurn(more)
  if (start) packets.push(start)
  const result = await action.run(input, turn)
  return { packets, result, read: JSON.parse(result.text) }
}
