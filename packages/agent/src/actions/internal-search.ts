import { InlayError } from '@inlay/protocol'
import type { Action, PassageSearch } from '../contracts.ts'

/** What the search action is made of. */
export interface InternalSearchOptions {
  readonly search: PassageSearch
}

/** The action `internal_search` (id 1): searches the organisation's documents for several queries at once. */
export function createInternalSearch(options: InternalSearchOptions): Action<{ queries: string[] }> {
  void options
  throw new InlayError('NOT_IMPLEMENTED')
}
