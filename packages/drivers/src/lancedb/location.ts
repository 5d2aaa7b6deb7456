import type { IndexCondition } from '@inlay/knowledge'
import type { Connection, Session, Table } from '@lancedb/lancedb'
import type { Engine } from './engine.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import type { WorkNote, WriterPresence } from './writer-presence.ts'

export interface IndexLocation {
  /** Every query of the connection sees the commits of other processes. */
  connect(engine: Engine, session?: Session): Promise<Connection>
  openPresence(table: Table): Promise<WriterPresence>
  deletionsOf(table: Table): Deletions
  bytesOf(table: Table): Promise<number>
  /** @param options.space the space of the table; only compared in a thorough inspection */
  inspect(options: { readonly thorough: boolean; readonly space: Space | undefined }): Promise<IndexCondition>
  /** Tells `inspect` of a later process whether this one works on the index; absent if there are no files. */
  readonly workNote?: WorkNote
  /** Atomic: a reader sees the previous or the new mark. */
  mark(identity: string): Promise<void>
  /** Removes the table and its notes; not an error if there is nothing. */
  drop(): Promise<void>
}

/** Rows that the engine only marked as deleted: it keeps them until their file is rewritten. */
export interface Deletions {
  any(): Promise<boolean>
  /** Files with deleted rows. */
  fragments(): Promise<number[]>
  /** Time of the oldest deletion, in milliseconds since 1970; the time of the first call if it was not recorded. */
  since(): Promise<number>
  /** Records that all deleted rows were removed. */
  forget(): Promise<void>
}
