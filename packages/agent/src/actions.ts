import { InlayError } from '@inlay/protocol'
import type { Principal } from '@inlay/protocol'
import { createInternalSearch } from './actions/internal-search.ts'
import type { Action, PassageSearch } from './contracts.ts'
import { adoptActions, type HostAction } from './host-actions.ts'

/** What the registry of actions is made of. */
export interface ActionsOptions {
  readonly search?: PassageSearch
  /** Whether there is anything to search. */
  readonly hasDocuments: () => Promise<boolean>
  /** A host's own actions. */
  readonly actions: readonly HostAction[]
}

/** What a request says about actions. */
export interface ActionChoice {
  /** Null: all; a list binds without exception. Ids that name no action are ignored. */
  readonly allowedIds: readonly number[] | null
  /** The action the first step has to use; 0 and null: none. */
  readonly forcedId: number | null
}

/** The actions there are. */
export interface Actions {
  /** Those a caller may use now, by id. */
  available(caller: Principal): Promise<readonly Action[]>
  /**
   * Those of one run. VALIDATION_ERROR when the forced one is not among them.
   * @param offer what the place of the run makes of the available ones
   */
  choose(
    caller: Principal,
    choice: ActionChoice,
    offer?: (available: readonly Action[]) => readonly Action[],
  ): Promise<{ actions: readonly Action[]; forced?: Action }>
  /** Ids of all there are, also of those that cannot be used right now. */
  readonly ids: readonly number[]
}

/**
 * Makes the registry of actions.
 * @throws DUPLICATE_RESOURCE when two actions share an id or a name, VALIDATION_ERROR for a name or a schema that a
 * model could not use, UNSUPPORTED for a tool that asks people before it runs
 */
export function createActions(options: ActionsOptions): Actions {
  const search = options.search && createInternalSearch({ search: options.search })
  const all = [...(search ? [search] : []), ...adoptActions(options.actions)].toSorted(
    (one, other) => one.id - other.id,
  )
  checkNames(all)
  const available = async (): Promise<readonly Action[]> => {
    if (!search || (await options.hasDocuments())) return all
    return all.filter((action) => action !== search)
  }
  return {
    available,
    ids: all.map(({ id }) => id),
    choose: async (_caller, { allowedIds, forcedId }, offer = (actions) => actions) => {
      const usable = offer(await available())
      const actions = allowedIds === null ? usable : usable.filter(({ id }) => allowedIds.includes(id))
      if (forcedId === null || forcedId === 0) return { actions }
      const forced = actions.find(({ id }) => id === forcedId)
      if (forced) return { actions, forced }
      throw new InlayError('VALIDATION_ERROR', {
        message: 'forced_tool_id names no action that this request may use: see GET /tool, and allowed_tool_ids.',
      })
    },
  }
}

function checkNames(actions: readonly Action[]): void {
  for (const [index, { id, name }] of actions.entries()) {
    if (!/^[\w-]{1,64}$/.test(name) || !Number.isInteger(id) || id < 1) {
      const message = `The action ${name} needs a name of letters, digits, _ and - (64 at most) and a whole id above 0.`
      throw new InlayError('VALIDATION_ERROR', { message })
    }
    if (actions.slice(0, index).some((other) => other.id === id || other.name === name)) {
      throw new InlayError('DUPLICATE_RESOURCE', { message: `Two actions share the id ${id} or the name ${name}.` })
    }
  }
}
