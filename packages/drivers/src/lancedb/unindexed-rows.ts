import type { Table } from '@lancedb/lancedb'
import type { Memtable } from './memtable.ts'
import type { WriterPresence } from './writer-presence.ts'

/** Name of the full-text index in the table. */
export const textIndex = 'search_text_idx'

/** Where the rows are that the full-text index lacks: there are none, all are in the memtable, or only the table has them. */
export type UnindexedPlace = 'none' | 'memtable' | 'table'

/**
 * Tells whether the memtable holds all unindexed rows. It does when this handle was the sole writer ever since no other
 * row was unindexed. Rows of another process must be found as well, and only the table has them.
 */
export interface UnindexedRows {
  /** Runs a fold: rows present at its start are in the full-text index after it. */
  fold(work: () => Promise<void>): Promise<void>
  place(): Promise<UnindexedPlace>
  /** Says that rows become unindexed which the memtable does not hold: until the next fold only the table has them. */
  expectOthers(): void
}

/** Watches a table and drops rows from the memtable once they are indexed. Call `place` once before the first write. */
export function createUnindexedRows(table: Table, memtable: Memtable, presence: WriterPresence): UnindexedRows {
  /** The period as sole writer in which every unindexed row was appended here; undefined when others may have some. */
  let ownPeriod: string | undefined
  let isMemtableShort = false

  return {
    expectOthers() {
      isMemtableShort = true
    },
    async fold(work) {
      const mark = memtable.mark()
      const period = await presence.soleWriter()
      await work()
      memtable.release(mark)
      ownPeriod = period
      isMemtableShort = false
    },
    async place() {
      if (isMemtableShort) return 'table'
      const mark = memtable.mark()
      const period = await presence.soleWriter()
      if (period === undefined || period !== ownPeriod) {
        const index = await table.indexStats(textIndex)
        if ((index?.numUnindexedRows ?? 0) > 0) return 'table'
        memtable.release(mark)
        ownPeriod = period
      }
      if (memtable.overflown) return 'table'
      return memtable.size > 0 ? 'memtable' : 'none'
    },
  }
}
