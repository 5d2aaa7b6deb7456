import type { Hit, IndexFigures, IndexQuery, IndexRow, VectorIndex } from '@inlay/knowledge'
import { InlayError, isInlayError } from '@inlay/protocol'
import { conditionsOf, type Parameters, parametersOf } from './filter.ts'
import { identification, type Run } from './identification.ts'
import { schemaOf, tablesOf, type PgTables } from './schema.ts'
import { defaultVectorShare, fuse, nearnessOfUnfound } from '../hybrid/fusion.ts'
import { depthOf, hnswSettingsOf, operandOf, textHits, vectorHits, type PgHit } from './search.ts'

/** The little of a PostgreSQL client that is used: a `pg` pool, a PGlite and others have it. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Pools tell here of idle connections that break; unheard, that would end the process. */
  on?(event: 'error', listener: () => void): unknown
}

/** How a {@link pgvectorIndex} is made. */
export interface PgvectorOptions {
  /** A pool of `pg`, or anything with the same `query`; the host ends it. */
  readonly client: PgClient
  /** Begins the names of the tables: letters, digits and `_`. Default `inlay_index`. */
  readonly prefix?: string
  /** Text search configuration, for stemming and stop words. Default `english`. */
  readonly language?: string
  /** Share of the vector in a fused score, 0 to 1. Default 0.35. */
  readonly vectorShare?: number
  /** Rows from which on an HNSW index is built by `maintain`. Default 50,000; below, vectors are compared one by one. */
  readonly vectorIndexRows?: number
}

const defaultPrefix = 'inlay_index'

interface Open {
  readonly tables: PgTables
  readonly space: { id: string; dimensions: number } | undefined
  readonly hnswSettings: (limit: number) => string
}

/**
 * An index in PostgreSQL: full text by its own text search (words weighted by how rare they are, unknown words
 * matched by spelling), vectors by the extension `vector`, which is only needed when a space is given.
 * Any number of processes may share it. Run `vectorIndexConformance`.
 */
export function pgvectorIndex(options: PgvectorOptions): VectorIndex {
  const { client } = options
  const language = options.language ?? 'english'
  const tables = tablesOf(options.prefix ?? defaultPrefix)
  let state: Open | 'closed' | undefined
  client.on?.('error', () => {})

  function opened(): Open {
    if (state === 'closed') throw new InlayError('CLOSED', { message: 'The index is closed.' })
    if (!state) throw new InlayError('UNSUPPORTED', { message: 'The index was not opened yet.' })
    return state
  }

  async function run<Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      // The caller names the columns it selects in `Row`.
      return (await client.query(sql, [...values])).rows as Row[]
    } catch (error) {
      if (isInlayError(error)) throw error
      throw new InlayError('SERVICE_UNAVAILABLE', { message: 'The database of the index failed.', cause: error })
    }
  }

  async function open(space?: { id: string; dimensions: number }): Promise<void> {
    if (state === 'closed') opened()
    for (const statement of schemaOf(tables, language, space?.dimensions))
      // Two processes that make the same table at once: "if not exists" lets one of them fail, and it exists then.
      await run(statement).catch(() => run(statement))
    const id = spaceIdOf(space)
    await run(`insert into ${tables.meta} (singleton, space) values (true, $1) on conflict do nothing`, [id])
    const [meta] = await run<{ space: string }>(`select space from ${tables.meta}`)
    if (meta?.space !== id) throw new InlayError('INDEX_MISMATCH')
    const [extension] = await run<{ version: string }>(
      `select extversion as version from pg_extension where extname = 'vector'`,
    )
    state = { tables, space, hnswSettings: hnswSettingsOf(extension?.version) }
  }

  async function append(rows: readonly IndexRow[]): Promise<void> {
    const { space } = opened()
    if (rows.length === 0) return
    for (const row of rows) checkVector(row, space?.dimensions)
    await run(insertStatement(tables, language, space !== undefined), [JSON.stringify(rows.map(toJson))])
  }

  async function search(query: IndexQuery): Promise<Hit[]> {
    const { space, hnswSettings } = opened()
    query.signal?.throwIfAborted()
    if (query.vector && query.vector.length !== space?.dimensions)
      throw new InlayError('INDEX_MISMATCH', { message: 'The query vector has another length than the index.' })
    const wanted = { run, tables, language, limit: query.limit, hnswSettings }
    const conditions = (parameters: Parameters): string => conditionsOf(query.filter, parameters)
    const text = query.text?.trim() ? await textHits(wanted, query.text, conditions, query.vector !== undefined) : []
    query.signal?.throwIfAborted()
    if (!query.vector) return text.map(toHit)
    const near = await vectorHits(wanted, query.vector, conditions, query.text !== undefined)
    query.signal?.throwIfAborted()
    if (query.text === undefined) return near.map(toHit)
    const nearest = near.map((row) => ({ hit: toHit(row), nearness: 2 * Number(row.score) - 1 }))
    const words = text.map((row) => ({ hit: toHit(row), score: Number(row.score) }))
    return fuse(words, nearest, {
      share: options.vectorShare ?? defaultVectorShare,
      limit: query.limit,
      unfound: nearnessOfUnfound(nearest, depthOf(query.limit, true)),
    })
  }

  return {
    open,
    append,
    search,
    async remove(generations) {
      opened()
      if (generations.length > 0) await run(`delete from ${tables.rows} where generation = any($1)`, [generations])
    },
    async read(generation, from, to, wanted) {
      const { space } = opened()
      const vectors = wanted?.vectors && space ? ', vector::text as vector' : ''
      const rows = await run<PgHit>(
        `select document_id, generation, position, text, card as metadata, source, updated_at, 0 as score${vectors}
         from ${tables.rows} where generation = $1 and position between $2 and $3 order by position`,
        [generation, from, to],
      )
      return rows.map(toHit)
    },
    async maintain({ idle = false, signal } = {}) {
      const { space } = opened()
      const rows = await figuresOf(run, tables)
      signal?.throwIfAborted()
      if (space && rows.rows >= (options.vectorIndexRows ?? 50_000))
        await run(
          `create index if not exists ${tables.rows}_vector on ${tables.rows} using hnsw (vector vector_cosine_ops)`,
        )
      // Words that no row holds any more only cost spelling a look; they go when nothing else is to do.
      if (idle)
        await run(
          `delete from ${tables.words} w where not exists
           (select from ${tables.rows} r where r.words @@ ${operandOf('w.word')})`,
        )
      return rows
    },
    async figures() {
      opened()
      return figuresOf(run, tables)
    },
    async close() {
      state = 'closed'
    },
    ...identification(run, tables, () => (typeof state === 'object' ? spaceIdOf(state.space) : undefined)),
    beside: (number) =>
      pgvectorIndex({ ...options, prefix: `${options.prefix ?? defaultPrefix}_${Math.trunc(number)}` }),
    async drop() {
      state = 'closed'
      await run(`drop table if exists ${Object.values(tables).join(', ')}`)
    },
  }
}

const spaceIdOf = (space: Open['space']): string => (space ? `${space.id} ${space.dimensions}` : '')

async function figuresOf(run: Run, tables: PgTables): Promise<IndexFigures> {
  const [row] = await run<{ rows: unknown; bytes: unknown }>(
    `select count(*) as rows, pg_total_relation_size('${tables.rows}') as bytes from ${tables.rows}`,
  )
  return { rows: Number(row?.rows ?? 0), unindexedRows: 0, bytes: Number(row?.bytes ?? 0) }
}

function checkVector(row: IndexRow, dimensions: number | undefined): void {
  if (row.vector?.length !== dimensions)
    throw new InlayError('INDEX_MISMATCH', { message: 'A vector has another length than the index.' })
  if (row.vector?.some((value) => !Number.isFinite(value)))
    throw new InlayError('INDEX_MISMATCH', { message: 'A vector holds a value that is not a finite number.' })
}

function toJson(row: IndexRow): Record<string, unknown> {
  return {
    document_id: row.documentId,
    generation: row.generation,
    position: row.position,
    text: row.text,
    search_text: row.searchText,
    source: row.source,
    tags: row.tags,
    pairs: row.pairs,
    updated_at: row.updatedAt,
    own_updated_at: row.ownUpdatedAt,
    created_at: row.createdAt,
    card: row.chunkMetadata,
    ...(row.vector ? { vector: parametersOf.vector(row.vector) } : {}),
  }
}

/** One statement for all rows, so that they appear together; words new to the index are noted for spelling. */
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
