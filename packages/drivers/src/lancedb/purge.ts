import type { Table } from '@lancedb/lancedb'
import { persistently, type Engine } from './engine.ts'
import type { Deletions } from './location.ts'
import { createIndexes } from './table.ts'

/** The engine only marks deleted rows, and keeps them in files that are not rewritten for another reason. */
export interface Purge {
  /** Milliseconds until deleted rows have to be removed; undefined if there are none. */
  dueMs(): Promise<number | undefined>
  /** Rewrites all files with deleted rows, and the indexes. The old files are removed with their version. */
  run(): Promise<void>
}

export interface PurgeParts {
  readonly engine: Engine
  readonly table: Table
  readonly deletions: Deletions
  /** Maximum time that deleted rows stay, in milliseconds. */
  readonly purgeMs: number
}

export function createPurge({ engine, table, deletions, purgeMs }: PurgeParts): Purge {
  return {
    async dueMs() {
      if (!(await deletions.any())) return undefined
      return Math.max(0, (await deletions.since()) + purgeMs - Date.now())
    },
    async run() {
      for (const fragment of await deletions.fragments()) {
        // The upper half of a row id is its fragment. An update moves rows to a new file.
        const [from, to] = [BigInt(fragment) << 32n, BigInt(fragment + 1) << 32n]
        const where = `_rowid >= ${from} AND _rowid < ${to}`
        await persistently(() => table.update({ where, valuesSql: { position: 'position' } }))
      }
      await createIndexes(engine, table, { replace: true })
      await deletions.forget()
    },
  }
}
