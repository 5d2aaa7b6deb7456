import type { Passage, PassageSearch } from '@inlay/agent'
import { callHook, type BaseFilters, type Principal } from '@inlay/protocol'

/** A search of documents, for an answer or for a caller of the search. */
export interface ComingSearch {
  readonly query: string
  /** Filters of the request and of the model. */
  readonly filters: BaseFilters | null
  readonly caller: Principal
}

/** Callbacks of the host around searches of documents, for each query of an answer; files of a chat are not among them. */
export interface SearchHooks {
  /** Called before a search. It may return another query. An error ends the search and goes to `onError`. */
  readonly beforeSearch?: (search: ComingSearch) => Promise<{ query: string } | void> | { query: string } | void
  /** Called with what was found, best first. It may return other passages, such as fewer. Errors as before a search. */
  readonly afterSearch?: (
    search: ComingSearch & { readonly passages: readonly Passage[] },
  ) => Promise<{ passages: readonly Passage[] } | void> | { passages: readonly Passage[] } | void
}

export function searchWithHooks(
  search: PassageSearch,
  hooks: SearchHooks,
  onError: (error: unknown) => void,
): PassageSearch {
  return async (given) => {
    const { filters = null, caller } = given
    const coming = { query: given.text, filters, caller }
    const { query } = (await callHook(() => hooks.beforeSearch?.(coming), onError)) ?? coming
    const passages = await search({ ...given, text: query })
    const after = await callHook(() => hooks.afterSearch?.({ ...coming, query, passages }), onError)
    return after?.passages ?? passages
  }
}
