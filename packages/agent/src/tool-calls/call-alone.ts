import type { PacketBody } from '@inlay/protocol'
import { createCitableDocuments } from '../citations/citable-documents.ts'
import type { Action, ActionTurn } from '../contracts/action.ts'
import { CallWriter } from '../packet-writer.ts'
import { adoptActions, type HostAction } from './host-actions.ts'
import { runCall } from './run-tool-calls.ts'

export interface EndedCall {
  /** All packets for clients, including the start packet and the end. */
  readonly packets: readonly PacketBody[]
  /** The result that the model reads. */
  readonly text: string
  readonly failed: boolean
  /** Citation numbers that documents were given. */
  readonly cited: ReadonlySet<number>
}

export interface CallAloneOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  readonly resultTokens?: number
}

/** The action as a run uses it: Mastra tools become actions, and a missing id is derived from the name. */
export function adoptAction(action: HostAction): Action {
  // adoptActions returns one action for each given one.
  return adoptActions([action])[0] as Action
}

/** Makes one call of an action outside of a run, with the same checks, packets and limits. */
export async function callAlone(
  action: Action,
  input: unknown,
  turn: ActionTurn,
  options: CallAloneOptions = {},
): Promise<EndedCall> {
  const packets: PacketBody[] = []
  const cited = new Set<number>()
  const place = { step: 0, turnIndex: 0, tabIndex: 0, reasoning: null }
  const writer = new CallWriter(place, (packet) => void packets.push(packet))
  const start = action.start?.()
  if (start) writer.emitNested(start, null)
  const range = createCitableDocuments().openStep()(0)
  const record = await runCall(
    {
      id: 'call-1',
      // Whoever calls it alone has approved it.
      action: { ...action, needsApproval: false },
      position: 0,
      input,
      writer,
      range: {
        ...range,
        cite: (documents) => {
          const numbers = range.cite(documents)
          for (const number of numbers) cited.add(number)
          return numbers
        },
      },
      resultTokens: options.resultTokens ?? 4_000,
    },
    {
      turn,
      signal: options.signal ?? new AbortController().signal,
      timeoutMs: options.timeoutMs ?? 60_000,
      approval: 'never',
      onError: () => {},
      onEnd: () => {},
    },
  )
  return { packets, text: record.result, failed: record.failed, cited }
}

/** A turn for calls outside of a run; packets and documents are dropped unless `given` has a place for them. */
export function turnAlone(given: Partial<ActionTurn> = {}): ActionTurn {
  const range = createCitableDocuments().openStep()(0)
  return {
    caller: { id: 'somebody', scopes: ['chat'] },
    sessionId: '00000000-0000-4000-8000-000000000000',
    messageId: 2,
    userMessage: 'What is there to know?',
    toolCallId: 'call-1',
    resultTokens: 4_000,
    signal: new AbortController().signal,
    emit: () => {},
    cite: (documents) => range.cite(documents),
    ...given,
  }
}
