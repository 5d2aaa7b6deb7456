import { InlayError } from '@inlay/protocol'
import type { PacketBody, Principal } from '@inlay/protocol'
import type { Action, ActionAsker, ActionSource } from '../contracts/action.ts'
import { isActionId, isActionName } from './action-faults.ts'
import { adoptActions, type HostAction } from './host-actions.ts'

export interface BuiltIn {
  readonly action: Action
  /** Whether a caller may use it now. Default: always. */
  readonly isAvailable?: (caller: Principal) => Promise<boolean>
}

export interface ActionsOptions {
  readonly builtIns: readonly BuiltIn[]
  readonly actions: readonly HostAction[]
  /** Sources of additional actions, queried for each run. Default: none. */
  readonly sources?: readonly ActionSource[]
  /** Ids of disabled actions. Default: none. */
  readonly off?: () => Promise<ReadonlySet<number>>
  /** Called for sources that fail and for actions that cannot be offered. */
  readonly onError?: (error: unknown) => void
}

export interface ChosenActions {
  readonly actions: readonly Action[]
  /** Actions of which the first step has to use one: all with the forced id. Empty when nothing is forced. */
  readonly forced: readonly Action[]
}

export interface Actions {
  /** Actions a caller may use now, by id; with `evenOff` also disabled ones. Names are unique. */
  available(asker: ActionAsker, options?: { readonly evenOff?: boolean }): Promise<readonly Action[]>
  /**
   * Actions of one run. VALIDATION_ERROR when the forced one is not among them.
   * @param allowedIds null for all; a list is exact. Unknown ids are ignored
   * @param forcedId the action that the first step has to use; 0 or null for none
   * @param offer selects from the available actions
   */
  choose(
    asker: ActionAsker,
    choice: { readonly allowedIds: readonly number[] | null; readonly forcedId: number | null },
    offer?: (available: readonly Action[]) => readonly Action[],
  ): Promise<ChosenActions>
  /** Whether there is an action with this id, including one that cannot be used right now. */
  holds(id: number): Promise<boolean>
}

/**
 * @throws DUPLICATE_RESOURCE when two fixed actions share an id or a name, VALIDATION_ERROR for a name or a schema that
 * a model could not use
 */
export function createActions(options: ActionsOptions): Actions {
  const { builtIns, sources = [], off = async () => new Set<number>(), onError = () => {} } = options
  const fixed = [...builtIns.map(({ action }) => action), ...adoptActions(options.actions)]
  checkNames(fixed)
  const conditions = new Map(builtIns.map(({ action, isAvailable }) => [action, isAvailable]))
  const readAll = async (asker: ActionAsker): Promise<readonly [readonly Action[], ReadonlySet<number>]> => {
    const [usable, listed, isOff] = await Promise.all([
      Promise.all(fixed.map(async (action) => (await conditions.get(action)?.(asker.caller)) ?? true)),
      listSources(sources, asker, onError),
      off(),
    ])
    const all = [
      ...fixed.filter((_, index) => usable[index]),
      ...(listed.length === 0 ? [] : adoptListed(fixed, listed, onError)),
    ]
    return [all.toSorted((a, b) => a.id - b.id), isOff]
  }
  return {
    available: async (asker, { evenOff = false } = {}) => {
      const [all, isOff] = await readAll(asker)
      return evenOff ? all : all.filter(({ id }) => !isOff.has(id))
    },
    holds: async (id) => {
      if (fixed.some((action) => action.id === id)) return true
      return (await Promise.all(sources.map((source) => source.holds(id)))).includes(true)
    },
    choose: async (asker, { allowedIds, forcedId }, offer = (actions) => actions) => {
      const [all, isOff] = await readAll(asker)
      // `offer` may add actions, such as the search of a project's files.
      const usable = offer(all.filter(({ id }) => !isOff.has(id))).filter(({ id }) => !isOff.has(id))
      const actions = allowedIds === null ? usable : usable.filter(({ id }) => allowedIds.includes(id))
      if (forcedId === null || forcedId === 0) return { actions, forced: [] }
      const forced = actions.filter(({ id }) => id === forcedId)
      if (forced.length > 0) return { actions, forced }
      throw new InlayError('VALIDATION_ERROR', {
        message: 'forced_tool_id names no action that this request may use: see GET /tool, and allowed_tool_ids.',
      })
    },
  }
}

/** Actions of all sources for a caller; a failing source does not affect the others. */
async function listSources(
  sources: readonly ActionSource[],
  asker: ActionAsker,
  onError: (error: unknown) => void,
): Promise<Action[]> {
  const lists = await Promise.all(
    sources.map(async (source) => {
      try {
        return await source.list(asker)
      } catch (error) {
        onError(error)
        return []
      }
    }),
  )
  return lists.flat()
}

/** Makes names of source actions unique: a name that is taken gets the id appended. */
function adoptListed(
  fixed: readonly Action[],
  listed: readonly Action[],
  onError: (error: unknown) => void,
): readonly Action[] {
  const names = new Set(fixed.map(({ name }) => name))
  const ids = new Set(fixed.map(({ id }) => id))
  return listed.flatMap((action) => {
    try {
      const [adopted = action] = adoptActions([action])
      const fitted = names.has(adopted.name) ? renamed(adopted) : adopted
      checkName(fitted)
      if (ids.has(fitted.id) || names.has(fitted.name)) throw taken(fitted)
      names.add(fitted.name)
      return [fitted]
    } catch (error) {
      onError(error)
      return []
    }
  })
}

function renamed(action: Action): Action {
  const name = `${action.name.slice(0, 50)}_${action.id}`
  const withName = (packet: PacketBody): PacketBody =>
    'tool_name' in packet && packet.tool_name === action.name ? { ...packet, tool_name: name } : packet
  return {
    ...action,
    name,
    start: () => {
      const packet = action.start?.()
      return packet && withName(packet)
    },
    run: (input, turn) => action.run(input, { ...turn, emit: (packet) => turn.emit(withName(packet)) }),
  }
}

function checkNames(actions: readonly Action[]): void {
  for (const [index, action] of actions.entries()) {
    checkName(action)
    const isTaken = actions.slice(0, index).some(({ id, name }) => id === action.id || name === action.name)
    if (isTaken) throw taken(action)
  }
}

function checkName({ id, name }: Action): void {
  if (isActionName(name) && isActionId(id)) return
  throw new InlayError('VALIDATION_ERROR', {
    message: `The action ${name} needs a name of letters, digits, _ and - (64 at most) and a whole id above 0.`,
  })
}

function taken({ id, name }: Action): InlayError {
  return new InlayError('DUPLICATE_RESOURCE', { message: `Two actions share the id ${id} or the name ${name}.` })
}
