import type { Hit, IndexFigures, IndexQuery, IndexRow, VectorIndex } from '@inlay/knowledge'
import { InlayError, isInlayError, checkRequired, isObject } from '@inlay/protocol'
import { fuse } from '../hybrid-search/fusion.ts'
import { checkVector, createOpenState, noSpace, spaceName, type Space } from '../hybrid-search/open-state.ts'
import { conditionsOf, vectorText, type Parameters as PgParameters } from './filter.ts'
import { toPostgresFailure } from '../sql/postgres-refusals.ts'
import { identification, type Run } from './identification.ts'
import { relationsOf, schemaOf, tablesOf, type PgTables } from './schema.ts'
import { hnswSettingsOf, operandOf, textHits, vectorHits, withoutSigns, type PgHit } from './search.ts'

/** The part of a PostgreSQL client that is used, as in a `pg` pool or PGlite. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Pools emit an error when an idle connection breaks; without a listener it would end the process. */
  on?(event: 'error', listener: () => void): unknown
}

export interface PgvectorOptions {
  /** A pool of `pg`, or any object with the same `query`. The host closes it. */
  readonly client: PgClient
  /** Prefix of the table names: letters, digits and `_`. Default `inlay_index`. */
  readonly prefix?: string
  /** Text search configuration, for stemming and stop words. Default `english`. */
  readonly language?: string
  /** Weight of the vectors in searches that also have text, 0 to 1. Default: estimated for each query. */
  readonly vectorShare?: number
  /** Number of rows from which `maintain` builds an HNSW index. Default 50,000; below, all vectors are compared. */
  readonly vectorIndexRows?: number
}

const defaultPrefix = 'inlay_index'

interface Open {
  readonly space: Space | undefined
  readonly hnswSettings: (limit: number) => string
}

interface Place {
  readonly run: Run
  readonly tables: PgTables
  readonly language: string
}

/**
 * An index in PostgreSQL: full-text search of PostgreSQL (words weighted by how rare they are, unknown words matched by
 * spelling), and vectors with the extension `vector`, which is only needed if a space is given. Any number of processes
 * may share it. Run `vectorIndexConformance`.
 */
export function pgvectorIndex(options: PgvectorOptions): VectorIndex {
  checkRequired('pgvectorIndex', options, 'prefix language vectorShare vectorIndexRows', {
    client: [
      'a client or pool of pg, with query()',
      (client) => isObject(client) && typeof Reflect.get(Object(client), 'query') === 'function',
    ],
  })
  const { client, prefix = defaultPrefix, language = 'english', vectorShare: share } = options
  const tables = tablesOf(prefix)
  const run = runnerOf(client)
  const place = { run, tables, language }
  const state = createOpenState<Open>()
  client.on?.('error', () => {})
  return {
    async open(space) {
      state.refuseClosed()
      state.set(await openTables(place, space))
    },
    async append(rows) {
      const { space } = state.get()
      if (rows.length === 0) return
      for (const { vector } of rows) checkVector(vector, space)
      await run(insertStatement(tables, language, space !== undefined), [JSON.stringify(rows.map(toJson))])
    },
    search: async (query) => find({ ...place, ...state.get(), share }, query),
    async remove(generations) {
      state.get()
      if (generations.length > 0) await run(`delete from ${tables.rows} where generation = any($1)`, [generations])
    },
    async read(generation, from, to, wanted) {
      const { space } = state.get()
      const vectors = wanted?.vectors && space ? ', vector::text as vector' : ''
      const rows = await run<PgHit>(
        `select document_id, generation, position, text, card as metadata, source, updated_at, 0 as score${vectors}
         from ${tables.rows} where generation = $1 and position between $2 and $3 order by position`,
        [generation, from, to],
      )
      return rows.map(toHit)
    },
    maintain: async (how) => maintain({ ...place, ...state.get() }, options.vectorIndexRows ?? 50_000, how),
    async figures() {
      state.get()
      return figuresOf(run, tables)
    },
    eachGeneration: async (listener, signal) => {
      state.get()
      await eachGeneration(run, tables, listener, signal)
    },
    close: async () => state.close(),
    ...identification(run, tables, () => (state.peek() ? spaceName(state.peek()!.space) : undefined)),
    staging: (number) => pgvectorIndex({ ...options, prefix: `${prefix}_${Math.trunc(number)}` }),
    async drop() {
      state.close()
      await run(`drop table if exists ${Object.values(tables).join(', ')}`)
    },
  }
}

const listedAtOnce = 5000

async function eachGeneration(
  run: Run,
  tables: PgTables,
  ...[listener, signal]: Parameters<Required<VectorIndex>['eachGeneration']>
): Promise<void> {
  for (let after = ''; ;) {
    signal?.throwIfAborted()
    const rows = await run<{ generation: string }>(
      `select distinct generation from ${tables.rows} where generation > $1 order by generation limit ${listedAtOnce}`,
      [after],
    )
    listener(rows.map(({ generation }) => generation))
    if (rows.length < listedAtOnce) return
    after = rows.at(-1)!.generation
  }
}

function runnerOf(client: PgClient): Run {
  return async <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
    try {
      // `Row` must describe the selected columns.
      return (await client.query(sql, [...values])).rows as Row[]
    } catch (error) {
      if (isInlayError(error)) throw error
      const failure = toPostgresFailure(error, 'INLAY_INDEX_URL')
      if (failure) throw failure
      throw new InlayError('SERVICE_UNAVAILABLE', { message: 'The database of the index failed.', cause: error })
    }
  }
}

async function openTables({ run, tables, language }: Place, space: Space | undefined): Promise<Open> {
  // A role without the right to create must still be able to use existing tables: "if not exists" checks the right
  // first.
  if (!(await isMade(run, tables)))
    for (const statement of schemaOf(tables, language, space?.dimensions))
      // If two processes create the same table concurrently, "if not exists" can fail in one of them; then the table
      // exists.
      await run(statement).catch(() => run(statement))
  const id = spaceName(space)
  await run(`insert into ${tables.meta} (singleton, space) values (true, $1) on conflict do nothing`, [id])
  const [meta] = await run<{ space: string }>(`select space from ${tables.meta}`)
  if (meta?.space !== id) throw new InlayError('INDEX_MISMATCH')
  const [extension] = await run<{ version: string }>(
    `select extversion as version from pg_extension where extname = 'vector'`,
  )
  return { space, hnswSettings: hnswSettingsOf(extension?.version) }
}

async function isMade(run: Run, tables: PgTables): Promise<boolean> {
  const names = relationsOf(tables)
  const [row] = await run<{ count: unknown }>(
    `select count(to_regclass(name)) as count from unnest($1::text[]) as name`,
    [names],
  )
  return Number(row?.count) === names.length
}

/** A role that only reads and writes rows leaves the vector index to the owner. */
async function ownsTables(run: Run, tables: PgTables): Promise<boolean> {
  const [row] = await run<{ may: boolean }>(
    `select pg_has_role(relowner, 'usage') as may from pg_class where oid = to_regclass($1)`,
    [tables.rows],
  )
  return row?.may === true
}

async function find(
  { run, tables, language, space, hnswSettings, share }: Place & Open & { readonly share: number | undefined },
  query: IndexQuery,
): Promise<Hit[]> {
  query.signal?.throwIfAborted()
  if (query.vector) checkVector(query.vector, space ?? noSpace)
  const wanted = { run, tables, language, limit: query.limit, hnswSettings }
  const conditions = (parameters: PgParameters): string => conditionsOf(query.filter, parameters)
  const text = query.text?.trim() ? await textHits(wanted, query.text, conditions, query.vector !== undefined) : []
  query.signal?.throwIfAborted()
  if (!query.vector) return text.map(toHit)
  const near = await vectorHits(wanted, query.vector, conditions, query.text !== undefined)
  query.signal?.throwIfAborted()
  if (query.text === undefined) return near.map(toHit)
  const nearest = near.map((row) => ({ hit: toHit(row), nearness: 2 * Number(row.score) - 1 }))
  const words = text.map((row) => ({ hit: toHit(row), score: Number(row.score) }))
  return fuse(words, nearest, { share, text: query.text, limit: query.limit })
}

async function maintain(
  { run, tables, space }: Place & Open,
  vectorIndexRows: number,
  { idle = false, signal }: Parameters<VectorIndex['maintain']>[0] = {},
): Promise<IndexFigures> {
  const figures = await figuresOf(run, tables)
  signal?.throwIfAborted()
  if (space && figures.rows >= vectorIndexRows && (await ownsTables(run, tables)))
    await run(
      `create index if not exists ${tables.rows}_vector on ${tables.rows} using hnsw (vector vector_cosine_ops)`,
    )
  // Words that no row contains any more only slow down spelling a little, so they are removed when idle.
  if (idle)
    await run(
      `delete from ${tables.words} w where not exists
       (select from ${tables.rows} r where r.words @@ ${operandOf('w.word')})`,
    )
  return figures
}

async function figuresOf(run: Run, tables: PgTables): Promise<IndexFigures> {
  const [row] = await run<{ rows: unknown; bytes: unknown }>(
    `select count(*) as rows, pg_total_relation_size('${tables.rows}') as bytes from ${tables.rows}`,
  )
  return { rows: Number(row?.rows ?? 0), unindexedRows: 0, bytes: Number(row?.bytes ?? 0) }
}

function toJson(row: IndexRow): Record<string, unknown> {
  return {
    document_id: row.documentId,
    generation: row.generation,
    position: row.position,
    text: row.text,
    search_text: withoutSigns(row.searchText),
    source: row.source,
    tags: row.tags,
    pairs: row.pairs,
    updated_at: row.updatedAt,
    own_updated_at: row.ownUpdatedAt,
    created_at: row.createdAt,
    card: row.chunkMetadata,
    ...(row.vector ? { vector: vectorText(row.vector) } : {}),
  }
}

/** One statement, so that all rows become visible together; new words are recorded for spelling corrections. */
function insertStatement(tables: PgTables, language: string, hasVector: boolean): string {
  const columns = `document_id, generation, position, text, source, tags, pairs, updated_at, own_updated_at, created_at, card`
  return `
    with given as materialized (
      select ${columns}, to_tsvector('${language}', search_text) as words${hasVector ? ', vector::vector as vector' : ''}
      from jsonb_to_recordset($1::jsonb) as r(document_id text, generation text, position int, text text,
        search_text text, source text, tags text[], pairs int[], updated_at bigint, own_updated_at bigint,
        created_at bigint, card text, vector text)
    ), stored as (
      insert into ${tables.rows} (${columns}, words${hasVector ? ', vector' : ''})
      select ${columns}, words${hasVector ? ', vector' : ''} from given on conflict do nothing
    )
    insert into ${tables.words} (word)
    select distinct lexeme from given, unnest(given.words) where length(lexeme) between 4 and 40
    order by lexeme on conflict do nothing`
}

function toHit(row: PgHit): Hit {
  return {
    documentId: row.document_id,
    generation: row.generation,
    position: row.position,
    text: row.text,
    chunkMetadata: row.metadata,
    source: row.source,
    updatedAt: Number(row.updated_at),
    score: Number(row.score),
    ...(row.vector ? { vector: Float32Array.from(JSON.parse(row.vector) as number[]) } : {}),
  }
}
