import type { Table } from '@lancedb/lancedb'
import type { Company } from './writer-presence.ts'
import type { Waiting } from './memtable.ts'

/** Name of the full-text index in the table. */
export const textIndex = 'search_text_idx'

/** Where rows are that the full-text index does not hold: nowhere, all in memory here, or only in the table. */
export type Tail = 'none' | 'waiting' | 'table'

/**
 * Tells whether the rows in memory are all that wait. They are when this handle was alone ever since no other row
 * waited; rows of another process must be found as well, and only the table has them.
 */
export interface Standing {
  /** Runs a fold: rows present at its start are in the full-text index after it. */
  fold(work: () => Promise<void>): Promise<void>
  tail(): Promise<Tail>
}

/** Watches a table; `waiting` is told which of its rows were folded in. Ask for the tail once before the first write. */
export function createStanding(table: Table, waiting: Waiting, company: Company): Standing {
  /** The solitude in which every row that waits was appended here; undefined when others may wait too. */
  let ours: string | undefined

  return {
    async fold(work) {
      const mark = waiting.mark()
      const solitude = await company.solitude()
      await work()
      waiting.release(mark)
      ours = solitude
    },
    async tail() {
      const mark = waiting.mark()
      const solitude = await company.solitude()
      if (solitude === undefined || solitude !== ours) {
        const index = await table.indexStats(textIndex)
        if ((index?.numUnindexedRows ?? 0) > 0) return 'table'
        waiting.release(mark)
        ours = solitude
      }
      if (waiting.overflown) return 'table'
      return waiting.size > 0 ? 'waiting' : 'none'
    },
  }
}
