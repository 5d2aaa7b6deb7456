import type { BuiltIn } from './registry.ts'
import { createAddMemory } from '../actions/add-memory.ts'
import { createInternalSearch, type SearchHelp } from '../actions/internal-search/search-action.ts'
import { createReadFile } from '../actions/read-file.ts'
import { createRunPython } from '../actions/run-python.ts'
import type { FileStore } from '../contracts/file-store.ts'
import type { MemoryStore } from '../contracts/memory-store.ts'
import type { CodeRunner } from '../contracts/code-runner.ts'
import { createGenerateImage } from '../actions/generate-image.ts'
import type { ImageGenerator } from '../contracts/image-generator.ts'
import { createOpenUrl } from '../actions/open-url.ts'
import type { DocumentByLink, PageReader } from '../contracts/page-reader.ts'
import { createWebSearch } from '../actions/web-search.ts'
import type { WebSearch } from '../contracts/web-search.ts'
import type { Action, ActionSource } from '../contracts/action.ts'
import type { ExcerptReader, PassageSearch } from '../contracts/search.ts'
import type { Services } from '../contracts/services.ts'

/** Components behind the built-in actions. Each action is available only if its component is given. */
export interface ActionParts {
  /** Enables `web_search`. */
  readonly webSearch?: WebSearch
  /** Enables `open_url`. */
  readonly readPage?: PageReader
  /** Lets `open_url` answer from the index. Default: every address is fetched. */
  readonly documentByLink?: DocumentByLink
  /** Enables `generate_image`, if files are stored. */
  readonly imageGenerator?: ImageGenerator
  /** Enables `run_python`. */
  readonly codeRunner?: CodeRunner
  /** Path or address at which clients fetch a stored file. Default `/api/chat/file/{id}`. */
  readonly fileUrl?: (fileId: string) => string
  /** Stored and remote actions, read with each message. Default: none. */
  readonly actionSources?: readonly ActionSource[]
}

export interface SearchParts {
  /** Finds passages; without it there is no search action. */
  readonly search?: PassageSearch
  /** Whether there are documents to search; without any, the search action is not offered. Default: always. */
  readonly hasDocuments?: () => Promise<boolean>
  /** Whether the model of the run is asked for more queries. Default: it is, if it can answer questions. */
  readonly searchHelp?: SearchHelp
  /** Reads the text around passages. Default: passages are used as found. */
  readonly readExcerpt?: ExcerptReader
}

/** Creates the search action of an agent, over its documents or over files. */
export function toSearchAction(
  search: PassageSearch,
  { searchHelp, readExcerpt, onError }: SearchParts & Pick<Services, 'onError'>,
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
  return createInternalSearch({ search, help: searchHelp, readExcerpt: reader })
}

export function createBuiltIns(
  options: ActionParts &
    SearchParts &
    Pick<Services, 'onError'> & { readonly fileStore?: FileStore; readonly memoryStore?: MemoryStore },
): BuiltIn[] {
  const { search, hasDocuments, fileStore, memoryStore: memories, onError } = options
  const storesFiles = fileStore?.canKeep === true
  const { webSearch, readPage, imageGenerator, codeRunner } = options
  return [
    ...(search ? [{ action: toSearchAction(search, options), isAvailable: hasDocuments }] : []),
    ...(webSearch ? [{ action: createWebSearch({ search: webSearch, onError }) }] : []),
    ...(readPage ? [{ action: createOpenUrl({ ...options, readPage }) }] : []),
    ...(imageGenerator && storesFiles
      ? [{ action: createGenerateImage({ ...options, generate: imageGenerator }) }]
      : []),
    ...(codeRunner ? [{ action: createRunPython({ ...options, runner: codeRunner }) }] : []),
    ...(storesFiles ? [{ action: createReadFile() }] : []),
    ...(memories?.canKeep ? [{ action: createAddMemory(memories), isAvailable: memories.mayKeep }] : []),
  ]
}
