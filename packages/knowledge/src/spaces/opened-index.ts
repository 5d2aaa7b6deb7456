import { InlayError, isInlayError } from '@inlay/protocol'
import type { VectorIndex } from '../contracts/vector-index.ts'
import type { IndexSpace } from './index-space.ts'

/** An index that is opened by its first use, since that loads megabytes which not every process needs. */
export interface OpenedIndex extends VectorIndex {
  /** Whether something has asked for it. */
  readonly isOpened: boolean
}

/**
 * Wraps an index so that it opens when first used, and is marked as that of its space. A failed opening is tried again
 * by the next use.
 * @param onOpen called once it is open
 */
export function openOnUse(
  index: VectorIndex,
  { space, identity }: Pick<IndexSpace, 'space' | 'identity'> = { space: undefined, identity: null },
  onOpen: () => void = () => {},
): OpenedIndex {
  let opening: Promise<void> | undefined
  let isClosed = false
  async function open(): Promise<void> {
    await index.open(space)
    // Before the first row: from then on a place without the mark is another one.
    if (identity !== null && index.inspect && (await index.inspect()).identity === undefined)
      await index.mark?.(identity)
    onOpen()
  }
  async function ready(): Promise<VectorIndex> {
    if (isClosed) throw new InlayError('CLOSED')
    opening ??= open()
    try {
      await opening
    } catch (error) {
      opening = undefined
      // No document is to blame, whatever the code says.
      const code = isInlayError(error) ? error.code : 'SERVICE_UNAVAILABLE'
      const message = isInlayError(error) ? error.message : 'The index could not be opened.'
      throw new InlayError(code, { message, cause: error, retryable: true })
    }
    return index
  }
  return {
    get isOpened() {
      return opening !== undefined
    },
    keepVersionsMs: index.keepVersionsMs,
    open: async () => void (await ready()),
    append: async (rows) => (await ready()).append(rows),
    remove: async (generations) => (await ready()).remove(generations),
    search: async (query) => (await ready()).search(query),
    read: async (generation, from, to, options) => (await ready()).read(generation, from, to, options),
    maintain: async (options) => (await ready()).maintain(options),
    figures: async () => (await ready()).figures(),
    ...(index.inspect ? { inspect: index.inspect.bind(index) } : {}),
    ...(index.mark ? { mark: index.mark.bind(index) } : {}),
    close: async () => {
      isClosed = true
      await opening?.catch(() => {})
      await index.close()
    },
  }
}
