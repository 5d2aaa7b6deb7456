import type { Action, ActionTurn, HostAction } from '@inlay/agent'
import { adoptAction, callAlone, turnAlone, type CallAloneOptions, type EndedCall } from '@inlay/agent/call-alone'

/** An action to test, with arguments for test calls. */
export interface ActionFixture {
  /** The action, or a Mastra tool. */
  readonly action: HostAction
  /**
   * Arguments that work. The first two must have results that differ; if they differ in more than numbers, the tests
   * check that calls are independent.
   */
  readonly works: readonly [unknown, ...unknown[]]
  /** Arguments of the right types that the schema must refuse. Default: none. */
  readonly misfits?: readonly unknown[]
  /** Arguments that match the schema but make the call fail. Absent: no call fails. */
  readonly fails?: unknown
  /** Arguments with which a call runs until it is aborted. Absent: all calls are short. */
  readonly lasts?: unknown
  /** Arguments with a result larger than a model can accept. Absent: results are short. */
  readonly long?: unknown
  /** Additional context of turns: caller, files, filters, a model to ask. */
  readonly turn?: Partial<ActionTurn>
  /** Called at the end of each test. */
  readonly close?: () => Promise<void> | void
}

/** Creates an action and its fixture; called for each test. */
export type MakeAction = () => ActionFixture | Promise<ActionFixture>

export const actionOf = ({ action }: ActionFixture): Action => adoptAction(action)

export const makeCall = (fixture: ActionFixture, input: unknown, options?: CallAloneOptions): Promise<EndedCall> =>
  callAlone(actionOf(fixture), input, newTurn(fixture), options)

/** A turn for calls outside of a run; packets and documents are discarded unless the fixture or `more` handles them. */
export const newTurn = ({ turn }: ActionFixture, more: Partial<ActionTurn> = {}): ActionTurn =>
  turnAlone({ ...turn, ...more })
