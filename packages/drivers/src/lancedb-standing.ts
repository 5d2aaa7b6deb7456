import type { Table } from '@lancedb/lancedb'
import type { Waiting } from './lancedb-waiting.ts'

/** Name of the full-text index in the table. */
export const textIndex = 'search_text_idx'

/** Where rows are that the full-text index does not hold: nowhere, all in memory here, or only in the table. */
export type Tail = 'none' | 'waiting' | 'table'

/**
 * Tells whether the rows in memory are all that wait. They are as long as every version of the table since the last
 * fold was written here; another process may append at any time, and its rows must be found as well.
 */
export interface Standing {
  /** Runs a write of our own that answers with the version it made. */
  write(work: () => Promise<{ readonly version: number }>): Promise<void>
  /** Runs work that makes versions nobody can name, such as building another index. */
  alter(work: () => Promise<void>): Promise<void>
  /** The same for a fold: rows present at its start are in the full-text index after it. */
  fold(work: () => Promise<void>): Promise<void>
  tail(): Promise<Tail>
}

/** Watches a table that was just opened; `waiting` is told which of its rows a fold took in. */
export function createStanding(table: Table, waiting: Waiting): Standing {
  /** Every version up to this one is accounted for; -1 when one is not. */
  let seen = -1
  let writing = 0
  let altering = 0
  /** Versions are not told from a stranger's yet: the table was just opened, or a fold made some. */
  let isUnsettled = true
  const own = new Set<number>()

  function settle(version: number): void {
    seen = version
    isUnsettled = false
    for (const made of own) if (made <= version) own.delete(made)
  }

  function advance(): void {
    while (seen >= 0 && own.delete(seen + 1)) seen++
  }

  async function alter(work: () => Promise<void>): Promise<void> {
    altering++
    try {
      await work()
    } finally {
      altering--
      isUnsettled = true
    }
  }

  async function unindexedRows(): Promise<number> {
    return (await table.indexStats(textIndex))?.numUnindexedRows ?? 0
  }

  return {
    async write(work) {
      writing++
      try {
        const { version } = await work()
        if (version > seen) own.add(version)
        advance()
      } finally {
        writing--
      }
    },
    alter,
    fold: (work) => {
      const mark = waiting.mark()
      return alter(async () => {
        await work()
        waiting.release(mark)
      })
    },
    async tail() {
      const mark = waiting.mark()
      const version = await table.version()
      if (version === seen) return waiting.overflown ? 'table' : waiting.size > 0 ? 'waiting' : 'none'
      const unindexed = await unindexedRows()
      if (unindexed === 0) {
        waiting.release(mark)
        settle(version)
        return waiting.size > 0 ? 'waiting' : 'none'
      }
      if (waiting.overflown || unindexed !== waiting.size) return 'table'
      if (isUnsettled && writing === 0 && altering === 0) settle(version)
      return isUnsettled || writing > 0 || altering > 0 || version === seen ? 'waiting' : 'table'
    },
  }
}
