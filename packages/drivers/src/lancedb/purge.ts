import type { Table } from '@lancedb/lancedb'
import { persistently, type Engine } from './engine.ts'
import type { Deletions } from './location.ts'
import { createIndexes } from './table.ts'

/**
 * Takes what was deleted off the disk. The engine only marks deleted rows, and keeps them for good in files and indexes
 * that it has no other reason to write anew.
 */
export interface Purge {
  /** Milliseconds until deleted rows have to go; undefined when there are none. */
  dueMs(): Promise<number | undefined>
  /** Writes all files with deleted rows anew, and the indexes. The old ones go with the version they belong to. */
  run(): Promise<void>
}

/** Dependencies of a purge. */
export interface PurgeParts {
  readonly engine: Engine
  readonly table: Table
  readonly deletions: Deletions
  /** Longest time that deleted rows stay, in milliseconds. */
  readonly purgeMs: number
}

/** Makes the purge of a table. */
export function createPurge({ engine, table, deletions, purgeMs }: PurgeParts): Purge {
  return {
    async dueMs() {
      if (!(await deletions.any())) return undefined
      return Math.max(0, (await deletions.since()) + purgeMs - Date.now())
    },
    async run() {
      for (const fragment of await deletions.fragments()) {
        // A row's address has its fragment in the upper half. An update moves rows to a new file.
        const [from, to] = [BigInt(fragment) << 32n, BigInt(fragment + 1) << 32n]
        const where = `_rowid >= ${from} AND _rowid < ${to}`
        await persistently(() => table.update({ where, valuesSql: { position: 'position' } }))
      }
      await createIndexes(engine, table, { replace: true })
      await deletions.forget()
    },
  }
}
