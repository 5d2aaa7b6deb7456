import type { PacketBody } from '@inlay/protocol'
import { createCallWriter } from '../packets/packet-writer.ts'
import { runCall } from '../tool-calls/run-tool-calls.ts'
import { createCitableDocuments } from '../citations/citable-documents.ts'
import type { Action, ActionTurn } from '../contracts/action.ts'
import { adoptActions, type HostAction } from '../tool-calls/host-actions.ts'

/** An action with what it works on, and calls that show what it does. */
export interface ActionFixture {
  /** An action, or a tool of Mastra. */
  readonly action: HostAction
  /** Arguments that work. Two whose results differ in more than numbers show that calls keep apart. */
  readonly works: readonly [unknown, ...unknown[]]
  /** Arguments of the right kinds that the schema has to refuse. Default: none. */
  readonly misfits?: readonly unknown[]
  /** Arguments that fit the schema and fail when they are carried out. Absent: nothing fails. */
  readonly fails?: unknown
  /** Arguments with which a call goes on until it is aborted. Absent: no call waits for anything. */
  readonly lasts?: unknown
  /** Arguments with which more is found than a model can take. Absent: results are short by themselves. */
  readonly long?: unknown
  /** What turns bring besides: who calls, files, filters, somebody to ask. */
  readonly turn?: Partial<ActionTurn>
  /** Called at the end of each test. */
  readonly close?: () => Promise<void> | void
}

/** Makes an action and its fixture anew; each test has its own. */
export type MakeAction = () => ActionFixture | Promise<ActionFixture>

/** What became of a call. */
export interface ToldCall {
  /** Everything clients were told, with the start packet and the end. */
  readonly packets: readonly PacketBody[]
  /** What the model reads. */
  readonly text: string
  readonly failed: boolean
  /** Numbers that documents were given. */
  readonly cited: ReadonlySet<number>
}

/** How a call is made. */
export interface CallOptions {
  readonly signal?: AbortSignal
  readonly limitMs?: number
  readonly resultTokens?: number
}

/** The action of a fixture as a run uses it. */
export function actionOf({ action }: ActionFixture): Action {
  // adoptActions gives one for each it is given.
  return adoptActions([action])[0] as Action
}

/** Makes a call as a run does. */
export async function makeCall(fixture: ActionFixture, input: unknown, options: CallOptions = {}): Promise<ToldCall> {
  const action = actionOf(fixture)
  const packets: PacketBody[] = []
  const cited = new Set<number>()
  const place = { step: 0, turnIndex: 0, tabIndex: 0, reasoning: null }
  const writer = createCallWriter(place, (packet) => void packets.push(packet))
  const start = action.start?.()
  if (start) writer.emitNested(start, null)
  const range = createCitableDocuments().openStep()(0)
  const { caller, sessionId, messageId, userMessage, filters, messages, ask, files, headers } = newTurn(fixture)
  const record = await runCall(
    {
      id: 'call-1',
      action,
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
      caller,
      sessionId,
      messageId,
      userMessage,
      filters: filters ?? null,
      given: {
        ...(messages && { messages }),
        ...(ask && { ask }),
        ...(files && { files }),
        ...(headers && { headers }),
      },
      signal: options.signal ?? new AbortController().signal,
      limitMs: options.limitMs ?? 60_000,
      onError: () => {},
      onEnd: () => {},
    },
  )
  return { packets, text: record.result, failed: record.failed, cited }
}

/** A turn for calls that bypass the run; packets and documents go nowhere unless the fixture or `more` say where. */
export function newTurn({ turn }: ActionFixture, more: Partial<ActionTurn> = {}): ActionTurn {
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
    ...turn,
    ...more,
  }
}

/** Makes a fixture for one test and closes it, even when the test fails. */
export async function withFixture(make: MakeAction, work: (fixture: ActionFixture) => Promise<void>): Promise<void> {
  const fixture = await make()
  try {
    await work(fixture)
  } finally {
    await fixture.close?.()
  }
}
