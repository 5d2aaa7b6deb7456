import { createCitableDocuments } from '@inlay/agent/internal/citations/numbers'
import type { Action, ActionResult, ActionTurn } from '@inlay/agent'
import type { PacketBody } from '@inlay/protocol'
import { ana } from '../setting.ts'

/** What a call of an action did. */
export interface Called {
  readonly packets: readonly PacketBody[]
  readonly result: ActionResult
  /** The result text as JSON. */
  readonly read: Readonly<Record<string, unknown>>
}

/** A turn for an action that is called alone; numbers of documents begin at 1. */
export function newTurn(packets: PacketBody[], more: Partial<ActionTurn> = {}): ActionTurn {
  const range = createCitableDocuments().openStep()(0)
  return {
    caller: ana,
    sessionId: 's',
    messageId: 3,
    userMessage: 'the question',
    toolCallId: 'c',
    signal: new AbortController().signal,
    emit: (packet) => void packets.push(packet),
    cite: (documents) => range.cite(documents),
    ...more,
  }
}

/** Calls an action alone, with all its packets from its start on. */
export async function call<Input>(
  action: Action<Input>,
  input: Input,
  more: Partial<ActionTurn> = {},
): Promise<Called> {
  const start = action.start?.()
  const packets: PacketBody[] = start ? [start] : []
  const result = await action.run(input, newTurn(packets, more))
  return { packets, result, read: JSON.parse(result.text) }
}
