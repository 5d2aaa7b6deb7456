import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Table } from '@lancedb/lancedb'
import { persistently, type Engine } from './engine.ts'
import { createIndexes, tableFolder } from './table.ts'

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

/** What a purge works on. */
export interface PurgeParts {
  readonly engine: Engine
  readonly table: Table
  readonly folder: string
  /** Longest time that deleted rows stay, in milliseconds. */
  readonly purgeMs: number
}

/** Its time of writing tells since when there may be deleted rows; it outlives the process. */
const markFile = 'deleted-since'

/** Makes the purge of a table. */
export function createPurge({ engine, table, folder, purgeMs }: PurgeParts): Purge {
  const mark = join(resolve(folder), markFile)
  return {
    async dueMs() {
      if ((await fragmentsWithDeletions(folder)).length === 0) return undefined
      const since = await stat(mark).then(
        ({ mtimeMs }) => mtimeMs,
        () => undefined,
      )
      if (since === undefined) await writeFile(mark, '')
      return Math.max(0, (since ?? Date.now()) + purgeMs - Date.now())
    },
    async run() {
      for (const fragment of await fragmentsWithDeletions(folder)) {
        // A row's address has its fragment in the upper half. An update moves rows to a new file.
        const [from, to] = [BigInt(fragment) << 32n, BigInt(fragment + 1) << 32n]
        const where = `_rowid >= ${from} AND _rowid < ${to}`
        await persistently(() => table.update({ where, valuesSql: { position: 'position' } }))
      }
      await createIndexes(engine, table, { replace: true })
      await rm(mark, { force: true })
    },
  }
}

/** The engine names a file of deletions by the fragment they are in. */
async function fragmentsWithDeletions(folder: string): Promise<number[]> {
  const names = await readdir(join(tableFolder(folder), '_deletions')).catch(() => [])
  const fragments = names.map((name) => /^(\d+)-/.exec(name)?.[1]).filter((id) => id !== undefined)
  return [...new Set(fragments.map(Number))]
}
