import { isJsonObject } from '@inlay/protocol'
import type { Action } from '../contracts/action.ts'
import type { RequestedCall } from '../model/text-tool-calls.ts'

/** A call that will run. */
export interface PlannedCall {
  readonly id: string
  readonly action: Action
  /** Which of the step's requested calls it is, from 0; a merged call has the place of its first. */
  readonly position: number
  /** Arguments as asked for, not yet checked; undefined when they are no JSON. */
  readonly input: unknown
}

/** What becomes of the calls a step asked for. */
export interface CallPlan {
  /** In the order in which they are announced: by action, actions in order of first appearance. */
  readonly calls: readonly PlannedCall[]
  /** Calls of actions that were not offered; they do not run and clients are not told. */
  readonly unknown: readonly RequestedCall[]
}

/**
 * Decides which calls of a step run. Calls of an action with a `mergeArgument` become one: the first, with the values
 * of that argument joined; those with other arguments of their own stay apart, as one must not narrow the other. Ids that are missing or were used before in the answer are replaced.
 * @param usedIds ids of the answer so far; the ids given out here are added
 */
export function planCalls(
  requested: readonly RequestedCall[],
  offered: ReadonlyMap<string, Action>,
  usedIds: Set<string>,
): CallPlan {
  const byAction = new Map<string, PlannedCall[]>()
  const unknown: RequestedCall[] = []
  for (const [position, call] of requested.entries()) {
    const id = freshId(call.id, usedIds)
    const action = offered.get(call.name)
    if (!action) {
      unknown.push({ ...call, id })
      continue
    }
    const planned: PlannedCall = { id, action, position, input: parse(call.input) }
    const calls = byAction.get(call.name) ?? []
    const { mergeArgument: argument } = action
    const alike = argument === undefined ? -1 : calls.findIndex((one) => isAlike(one, planned, argument))
    const first = calls[alike]
    if (first && argument !== undefined) calls[alike] = merge(first, planned, argument)
    else calls.push(planned)
    byAction.set(call.name, calls)
  }
  return { calls: [...byAction.values()].flat(), unknown }
}

function freshId(wanted: string, used: Set<string>): string {
  let id = wanted === '' ? `call-${used.size + 1}` : wanted
  for (let count = 2; used.has(id); count++) id = `${wanted || 'call'}-${count}`
  used.add(id)
  return id
}

/** The value of JSON text; undefined when it is none. No text at all stands for no arguments. */
function parse(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether two calls ask for the same but for one argument; what is null or empty counts as absent. */
function isAlike(one: PlannedCall, other: PlannedCall, argument: string): boolean {
  const [mine, theirs] = [one, other].map(({ input }) => (isJsonObject(input) ? othersOf(input, argument) : undefined))
  // What is no arguments at all adds nothing, wherever it is merged.
  return mine === undefined || theirs === undefined || mine === theirs
}

function othersOf(input: Record<string, unknown>, argument: string): string {
  const given = Object.entries(input).filter(
    ([name, value]) =>
      name !== argument && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
  )
  return JSON.stringify(given.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function merge(first: PlannedCall, other: PlannedCall, argument: string): PlannedCall {
  if (!isJsonObject(other.input)) return first
  if (!isJsonObject(first.input)) return { ...first, input: other.input }
  const values = [...toList(first.input[argument]), ...toList(other.input[argument])]
  return { ...first, input: { ...first.input, [argument]: values } }
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
}
