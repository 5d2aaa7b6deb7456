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

/** A table that is opened anew under its users. */
export interface RenewableTable {
  readonly table: Table
  /** Counts a fold; every tenth time the table is opened anew. */
  folded(): Promise<void>
  close(): void
}

/**
 * Most memory for parts of indexes and for file metadata, in bytes. The engine's own limits are 6 GB and 1 GB. It keeps
 * parts of indexes that a fold has replaced until the limit is reached, so a small table gets no more than it can use.
 */
const cacheBytes = {
  small: { index: 64n << 20n, metadata: 32n << 20n },
  large: { index: 256n << 20n, metadata: 64n << 20n },
}
/** Rows of a table without vectors that is no longer small. */
const largeRows = 500_000

/**
 * Opens the table of a place, making what is missing. Safe beside another process that does the same, and after a
 * crash at any step of it.
 * @throws INDEX_MISMATCH when it holds rows of another space
 */
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
  // Made only when missing: the engine refuses to "make" a table that is there with other columns.
  const make = (): Promise<Table> => connection.createEmptyTable(tableName, schemaOf(engine, space))
  const openOrMake = (): Promise<Table> =>
    repeated(async () => {
      if (!(await connection.tableNames()).includes(tableName)) return make()
      return connection.openTable(tableName).catch((error: unknown) => {
        // A process that is killed while it makes the table leaves a folder without a version.
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
        ? 'The index holds vectors of another embedding model: set that model again, or fill a new index.'
        : 'The index was made by another version of Inlay: run that one, or begin with an empty data folder.',
    })
  table.close()
  await connection.dropTable(tableName)
  return openOrMake()
}

/** Makes the indexes that are missing, or with `replace` all of them anew. */
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

/** Tries again what another process may just have done. */
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
