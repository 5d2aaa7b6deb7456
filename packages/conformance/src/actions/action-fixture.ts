import type { Action, ActionTurn, HostAction } from '@inlay/agent'
import { adoptAction, callAlone, turnAlone, type CallAloneOptions, type EndedCall } from '@inlay/agent/call-alone'

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
  /** Additional context of turns: caller, files, filters, a model to ask. */
  readonly turn?: Partial<ActionTurn>
  /** Called at the end of each test. */
  readonly close?: () => Promise<void> | void
}

/** Makes an action and its fixture anew; each test has its own. */
export type MakeAction = () => ActionFixture | Promise<ActionFixture>

/** The action of a fixture as a run uses it. */
export const actionOf = ({ action }: ActionFixture): Action => adoptAction(action)

/** Makes a call as a run does. */
export const makeCall = (fixture: ActionFixture, input: unknown, options?: CallAloneOptions): Promise<EndedCall> =>
  callAlone(actionOf(fixture), input, newTurn(fixture), options)

/** A turn for calls that bypass the run; packets and documents go nowhere unless the fixture or `more` say where. */
export const newTurn = ({ turn }: ActionFixture, more: Partial<ActionTurn> = {}): ActionTurn =>
  turnAlone({ ...turn, ...more })

/** Makes a fixture for one test and closes it, even when the test fails. */
export async function withFixture(make: MakeAction, work: (fixture: ActionFixture) => Promise<void>): Promise<void> {
  const fixture = await make()
  try {
    await work(fixture)
  } finally {
    await fixture.close?.()
  }
}
