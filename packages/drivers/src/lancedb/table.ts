import { InlayError } from '@inlay/protocol'
import type { Connection, Index, Table } from '@lancedb/lancedb'
import { isMiss, type Engine } from './engine.ts'
import type { IndexLocation } from './location.ts'
import { isOfFormat, isOfSpace, schemaOf, searchColumn } from './rows.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import { wordOptions } from './text/words-and-spelling.ts'

export const tableName = 'chunks'

/** An open table with its connection; both have to be closed. */
export interface OpenTable {
  readonly connection: Connection
  readonly table: Table
}

/** A table that can be reopened while it is in use. */
export interface RenewableTable {
  readonly table: Table
  /** Counts a fold; every tenth time the table is reopened. */
  folded(): Promise<void>
  close(): Promise<void>
}

/** In bytes. Parts of replaced indexes would fill the defaults, 6 GB and 1 GB: a small table gets what it can use. */
const cacheBytes = {
  small: { index: 64n << 20n, metadata: 32n << 20n },
  large: { index: 256n << 20n, metadata: 64n << 20n },
}
/** Number of rows from which a table without vectors is large. */
const largeRows = 500_000

/** Safe beside other processes and after a crash at any step. @throws INDEX_MISMATCH if it has rows of another space */
export async function openTable(engine: Engine, location: IndexLocation, space: Space | undefined): Promise<OpenTable> {
  if (space) return openWith(cacheBytes.large)
  const small = await openWith(cacheBytes.small)
  if ((await small.table.countRows()) < largeRows) return small
  small.table.close()
  small.connection.close()
  return openWith(cacheBytes.large)

  async function openWith(bytes: { readonly index: bigint; readonly metadata: bigint }): Promise<OpenTable> {
    const connection = await location.connect(engine, new engine.lancedb.Session(bytes.index, bytes.metadata))
    try {
      const table = await tableOfSpace(engine, connection, space)
      await createIndexes(engine, table)
      return { connection, table }
    } catch (error) {
      connection.close()
      throw error
    }
  }
}

async function tableOfSpace(engine: Engine, connection: Connection, space: Space | undefined): Promise<Table> {
  // Only if missing: the engine refuses to create a table that exists with other columns.
  const make = (): Promise<Table> => connection.createEmptyTable(tableName, schemaOf(engine, space))
  const openOrMake = (): Promise<Table> =>
    repeated(async () => {
      if (!(await connection.tableNames()).includes(tableName)) return make()
      return connection.openTable(tableName).catch((error: unknown) => {
        // A process killed while creating the table leaves a folder without a version.
        if (isMiss(error)) return make()
        throw error
      })
    })
  const table = await openOrMake()
  const schema = await table.schema()
  if (isOfSpace(schema, space) && isOfFormat(schema)) return table
  if ((await table.countRows()) > 0)
    throw new InlayError('INDEX_MISMATCH', {
      message: isOfFormat(schema)
        ? 'The index contains vectors of another embedding model: configure that model again, or use a new index.'
        : 'The index was created by another version of Inlay: use that version, or start with an empty data folder.',
    })
  table.close()
  await connection.dropTable(tableName)
  return openOrMake()
}

/** Creates missing indexes, or with `replace` all of them. */
export async function createIndexes(
  { lancedb }: Engine,
  table: Table,
  { replace = false }: { readonly replace?: boolean } = {},
): Promise<void> {
  const { Index: Kind } = lancedb
  const wanted: Readonly<Record<string, () => Index>> = {
    [searchColumn]: () => Kind.fts({ ...wordOptions, withPosition: false }),
    document_id: () => Kind.btree(),
    generation: () => Kind.btree(),
    source: () => Kind.bitmap(),
    tags: () => Kind.labelList(),
    pairs: () => Kind.labelList(),
  }
  for (const [column, kind] of Object.entries(wanted))
    await repeated(async () => {
      const present = (await table.listIndices()).some(({ columns }) => columns[0] === column)
      if (replace || !present) await table.createIndex(column, { config: kind(), replace })
    })
}

/** Retries after conflicts with another process. */
async function repeated<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 5) throw error
      await new Promise<void>((done) => setTimeout(done, 20 * attempt * attempt * Math.random()))
    }
  }
}
