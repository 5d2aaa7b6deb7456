import type { IndexCondition } from '@inlay/knowledge'
import type { Connection, Session, Table } from '@lancedb/lancedb'
import type { Engine } from './engine.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import type { WorkNote, WriterPresence } from './writer-presence.ts'

/** Location of a table: a local folder or a bucket. */
export interface IndexLocation {
  /** Every query of the connection sees commits of other processes. */
  connect(engine: Engine, session?: Session): Promise<Connection>
  openPresence(table: Table): Promise<WriterPresence>
  deletionsOf(table: Table): Deletions
  /** Bytes that the index occupies. */
  bytesOf(table: Table): Promise<number>
  /** @param options.space what the table should have been made for; only a thorough look compares it */
  inspect(options: { readonly thorough: boolean; readonly space: Space | undefined }): Promise<IndexCondition>
  /** Says whether this process is in the middle of work, for `inspect` of a later one; absent where no file can. */
  readonly workNote?: WorkNote
  /** A reader sees the mark before or the one after, never a part. */
  mark(identity: string): Promise<void>
  /** Removes the table and what lies beside it; no error when nothing is there. */
  drop(): Promise<void>
}

/** Rows that the engine only marked as deleted: it keeps them until their file is written anew. */
export interface Deletions {
  any(): Promise<boolean>
  /** Files that hold some. */
  fragments(): Promise<number[]>
  /** When the first was deleted, in milliseconds since 1970; the time of the first call when nobody noted it. */
  since(): Promise<number>
  /** Says that all are gone. */
  forget(): Promise<void>
}
