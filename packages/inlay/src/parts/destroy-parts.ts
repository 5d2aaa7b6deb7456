import type { Conversations } from '@inlay/conversations'
import type { AnyDatabase } from '@inlay/records'
import type { ConnectionPool } from '@inlay/telemetry'
import { defaultDataFolder, removeFromFolder } from '../data-folder.ts'
import type { OpenOptions } from '../options/inlay-options.ts'

export interface Closable {
  close(): Promise<void>
  /** The connections it holds. */
  readonly measured?: ConnectionPool
}

/** Closes one after the other, even if one fails; then throws the first failure. */
export async function closeAll(parts: readonly Closable[]): Promise<void> {
  const failures: unknown[] = []
  for (const part of parts) await part.close().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** An opened assistant: its components and the connections they use, in the order in which they were opened. */
export interface OpenedParts {
  readonly db: AnyDatabase
  readonly agent: Pick<Conversations, 'eraseOutsideRecords'>
  readonly opened: Closable[]
  readonly connections: Closable[]
}

/** Closes all components, and deletes their data in the data folder and in engines of the host. */
export async function destroyParts(
  { db, agent, opened, connections }: OpenedParts,
  options: OpenOptions,
): Promise<void> {
  const [{ dropIndexes }, { dropTables }] = await Promise.all([import('@inlay/knowledge'), import('@inlay/records')])
  try {
    await agent.eraseOutsideRecords()
    await closeAll(opened.splice(0).toReversed())
    // The index first, since the database knows which indexes exist.
    if (options.index) await dropIndexes(db, options.index)
    if (options.database) await dropTables(db)
  } finally {
    await closeAll([...connections.splice(0), ...opened.splice(0)].toReversed())
  }
  await removeFromFolder(options.dataFolder ?? defaultDataFolder)
}
