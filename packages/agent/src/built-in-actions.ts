import type { BuiltIn } from './actions.ts'
import { createAddMemory } from './actions/add-memory.ts'
import { createInternalSearch } from './actions/internal-search.ts'
import { createReadFile } from './actions/read-file.ts'
import type { ImageGenerator } from './actions/generate-image-contract.ts'
import type { PageReader } from './actions/open-url-contract.ts'
import type { WebSearch } from './actions/web-search-contract.ts'
import type { Action, ActionSource, PassageSearch } from './contracts.ts'
import type { MemoryStore } from './memories/memories.ts'

/** What switches actions on; each is there only with its part. */
export interface ActionParts {
  /** Makes `web_search`. */
  readonly webSearch?: WebSearch
  /** Makes `open_url`. */
  readonly readPage?: PageReader
  /** Makes `generate_image`. */
  readonly imageGenerator?: ImageGenerator
  /** Whether anything is remembered about people: `add_memory`, and memories in prompts. Default: it is. */
  readonly memories?: boolean
  /** Stored and remote actions, asked for with each message. Default: none. */
  readonly actionSources?: readonly ActionSource[]
}

/** What the built-in actions are made of. */
export interface BuiltInOptions extends Omit<ActionParts, 'memories'> {
  /** Absent where the host switched memories off. */
  readonly memories: MemoryStore | undefined
  readonly search: PassageSearch | undefined
  /** Whether files can be stored; `read_file` is offered where there are some. */
  readonly storesFiles: boolean
  /** Whether there is anything to search. */
  readonly hasDocuments: () => Promise<boolean>
  /** Makes the search action over some passages. */
  readonly searchAction: (search: PassageSearch) => Action
}

/** Makes the search action of an agent, over its documents or over files. */
export function toSearchAction(search: PassageSearch): Action {
  return asAction(createInternalSearch({ search }))
}

/** Makes the built-in actions whose parts there are. */
export function createBuiltIns(options: BuiltInOptions): BuiltIn[] {
  const { search, searchAction, hasDocuments, storesFiles, memories } = options
  return [
    ...(search ? [{ action: searchAction(search), isAvailable: hasDocuments }] : []),
    ...(storesFiles ? [{ action: asAction(createReadFile()) }] : []),
    ...(memories ? [{ action: asAction(createAddMemory(memories)), isAvailable: memories.mayKeep }] : []),
  ]
}

/** An action with its own input type as one of many: its input is checked by its own schema before it runs. */
function asAction<Input>(action: Action<Input>): Action {
  // The schema is what makes the input fit, so every caller may see it as unknown.
  return action as unknown as Action
}
