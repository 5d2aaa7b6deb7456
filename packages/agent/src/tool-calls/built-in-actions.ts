import type { BuiltIn } from './registry.ts'
import { createAddMemory } from '../actions/add-memory.ts'
import { createInternalSearch, type SearchHelp } from '../actions/internal-search/search-action.ts'
import { createReadFile } from '../actions/read-file.ts'
import { createRunPython } from '../actions/run-python.ts'
import type { CodeRunner } from '../actions/run-python-contract.ts'
import { createGenerateImage } from '../actions/generate-image.ts'
import type { ImageGenerator } from '../actions/generate-image-contract.ts'
import { createOpenUrl } from '../actions/open-url.ts'
import type { DocumentByLink, PageReader } from '../actions/open-url-contract.ts'
import { createWebSearch } from '../actions/web-search.ts'
import type { WebSearch } from '../actions/web-search-contract.ts'
import type { Action, ActionSource } from '../contracts/action.ts'
import type { ExcerptReader, PassageSearch } from '../contracts/search.ts'
import type { MemoryStore } from '../contracts/memory-store.ts'

/** Components behind the built-in actions. Each action is available only if its component is given. */
export interface ActionParts {
  /** Makes `web_search`. */
  readonly webSearch?: WebSearch
  /** Makes `open_url`. */
  readonly readPage?: PageReader
  /** Lets `open_url` answer from the index. Default: every address is fetched. */
  readonly documentByLink?: DocumentByLink
  /** Makes `generate_image`, where files are stored. */
  readonly imageGenerator?: ImageGenerator
  /** Makes `run_python`. */
  readonly codeRunner?: CodeRunner
  /** Path or address by which clients fetch a kept file. Default `/api/chat/file/{id}`. */
  readonly fileUrl?: (fileId: string) => string
  /** Stored and remote actions, asked for with each message. Default: none. */
  readonly actionSources?: readonly ActionSource[]
}

/** Optional helpers for searching documents. */
export interface SearchParts {
  /** Steps of a search that may use the model of the run. Default: all, if the model can answer questions. */
  readonly searchHelp?: SearchHelp
  /** Reads what stands around passages. Default: the model reads them as they were found. */
  readonly readExcerpt?: ExcerptReader
}

export interface BuiltInOptions extends ActionParts {
  /** Absent where nothing is remembered. */
  readonly memories: MemoryStore | undefined
  readonly search: PassageSearch | undefined
  /** Whether files can be stored; `read_file` is offered where there are some. */
  readonly storesFiles: boolean
  /** Whether there is anything to search. */
  readonly hasDocuments: () => Promise<boolean>
  /** Makes the search action over some passages. */
  readonly searchAction: (search: PassageSearch) => Action
  readonly onError?: (error: unknown) => void
}

/** Makes the search action of an agent, over its documents or over files. */
export function toSearchAction(
  search: PassageSearch,
  { searchHelp, readExcerpt, onError = () => {} }: SearchParts & { readonly onError?: (error: unknown) => void } = {},
): Action {
  const reader: ExcerptReader | undefined =
    readExcerpt &&
    (async (query) => {
      try {
        return await readExcerpt(query)
      } catch (error) {
        // Surrounding text is optional; without it the passage alone is used.
        if (!query.signal?.aborted) onError(error)
        return undefined
      }
    })
  return asAction(createInternalSearch({ search, help: searchHelp, readExcerpt: reader }))
}

/** Makes the built-in actions whose parts there are. */
export function createBuiltIns(options: BuiltInOptions): BuiltIn[] {
  const { search, searchAction, hasDocuments, storesFiles, memories } = options
  const { webSearch, readPage, imageGenerator, codeRunner } = options
  return [
    ...(search ? [{ action: searchAction(search), isAvailable: hasDocuments }] : []),
    ...(webSearch ? [{ action: asAction(createWebSearch({ search: webSearch, onError: options.onError })) }] : []),
    ...(readPage ? [{ action: asAction(createOpenUrl({ ...options, readPage })) }] : []),
    ...(imageGenerator && storesFiles
      ? [{ action: asAction(createGenerateImage({ ...options, generate: imageGenerator })) }]
      : []),
    ...(codeRunner ? [{ action: asAction(createRunPython({ ...options, runner: codeRunner })) }] : []),
    ...(storesFiles ? [{ action: asAction(createReadFile()) }] : []),
    ...(memories ? [{ action: asAction(createAddMemory(memories)), isAvailable: memories.mayKeep }] : []),
  ]
}

/** An action with its own input type as one of many: its input is checked by its own schema before it runs. */
function asAction<Input>(action: Action<Input>): Action {
  // The schema is what makes the input fit, so every caller may see it as unknown.
  return action as unknown as Action
}
