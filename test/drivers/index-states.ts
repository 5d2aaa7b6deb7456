import { isInlayError } from '@inlay/protocol'
import type { VectorIndex } from '@inlay/knowledge'

/** The same index, with every row folded into its indexes as soon as it is appended. */
export function folded(index: VectorIndex): VectorIndex {
  return {
    ...index,
    append: async (rows) => {
      await index.append(rows)
      // Closed meanwhile: the append was waited for, the fold was not.
      if (rows.length > 0) await index.maintain({ idle: true }).catch(unlessClosed)
    },
  }
}

function unlessClosed(error: unknown): void {
  if (!isInlayError(error) || error.code !== 'CLOSED') throw error
}

/** The same index, with a fold running whenever it is written, searched or read. */
export function midFold(index: VectorIndex): VectorIndex {
  const beside = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const fold = index.maintain({ idle: true }).catch(unlessClosed)
    try {
      return await work()
    } finally {
      await fold
    }
  }
  return {
    ...index,
    append: (rows) => beside(() => index.append(rows)),
    remove: (generations) => beside(() => index.remove(generations)),
    search: (query) => beside(() => index.search(query)),
    read: (...range) => beside(() => index.read(...range)),
  }
}
