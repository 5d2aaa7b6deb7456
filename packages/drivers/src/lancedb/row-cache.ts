import type { Query, Table, VectorQuery } from '@lancedb/lancedb'
import { bytesOf, findMatches, rowsById, type LoadedRow, type Match, type MatchSearch } from './filtered-search.ts'
import { hitColumns } from './rows.ts'

/** A row that a search found, with its content. */
export type FullMatch = Required<Match>

/** The rows that searches found last. Reading thirty rows takes longer than finding them. */
export interface RowCache {
  /**
   * Runs a search. It returns ids only, while most rows of the last searches were known.
   * @param search.columns besides those of a hit: `vector`, if it is wanted
   * @throws like `rowsById`
   */
  find(query: Query | VectorQuery, search: MatchSearch): Promise<FullMatch[]>
  /**
   * Rows by their ids, in that order.
   * @param extra `vector`, if it is wanted
   * @throws like `rowsById`
   */
  read(ids: readonly bigint[], extra: readonly string[]): Promise<LoadedRow[]>
}

/** About 6,000 rows without vectors. */
const maxBytes = 8 << 20
/** A row never changes, nor is its id used again, unless another process drops the table and creates it anew. */
const maxAgeMs = 10_000
/** With fewer known rows, finding and reading them in one go is quicker. */
const minKnownShare = 0.5

export function createRowCache(table: Table): RowCache {
  /** Most recently used last. */
  const rows = new Map<bigint, LoadedRow>()
  let [bytes, from] = [0, -Infinity]
  /** Share of the rows of recent searches that were known. */
  let knownShare = 0

  /** Looks rows up; undefined for those that are not known with these columns. */
  function lookUp(ids: readonly bigint[], extra: readonly string[]): (LoadedRow | undefined)[] {
    if (performance.now() - from > maxAgeMs) {
      rows.clear()
      ;[bytes, from] = [0, performance.now()]
    }
    const known = ids.map((id) => rows.get(id)).map((row) => (extra.length === 0 || row?.vector ? row : undefined))
    const count = known.filter(Boolean).length
    if (ids.length > 0) knownShare += (count / ids.length - knownShare) / 4
    return known
  }

  /** @returns the row as it is kept */
  function keep(id: bigint, read: LoadedRow): LoadedRow {
    const known = rows.get(id)
    // Another search may have read it with its vector meanwhile.
    const row = known && (known.vector || !read.vector) ? known : standalone(read)
    rows.delete(id)
    rows.set(id, row)
    if (known !== row) bytes += bytesOf(row) - (known ? bytesOf(known) : 0)
    return row
  }

  function keepAll(ids: readonly bigint[], read: readonly LoadedRow[]): LoadedRow[] {
    const kept = read.map((row, at) => keep(ids[at]!, row))
    for (const [oldest, row] of rows) {
      if (bytes <= maxBytes) break
      rows.delete(oldest)
      bytes -= bytesOf(row)
    }
    return kept
  }

  async function read(ids: readonly bigint[], extra: readonly string[]): Promise<LoadedRow[]> {
    const known = lookUp(ids, extra)
    const missing = ids.filter((_, at) => !known[at])
    const added = missing.length > 0 ? await rowsById(table, missing, extra) : []
    let next = 0
    return keepAll(
      ids,
      known.map((row) => row ?? added[next++]!),
    )
  }

  return {
    read,
    async find(query, { columns: extra, ...search }) {
      const isByIds = knownShare >= minKnownShare
      const matches = await findMatches(query, { ...search, columns: isByIds ? [] : [...hitColumns, ...extra] })
      const ids = matches.map(({ id }) => id)
      if (!isByIds) lookUp(ids, extra)
      const contents = isByIds
        ? await read(ids, extra)
        : keepAll(
            ids,
            matches.map(({ row }) => row!),
          )
      return matches.map(({ id, score }, at) => ({ id, score, row: contents[at]! }))
    },
  }
}

/** A vector that was read is part of the result of the query, which it would keep in memory. */
function standalone({ hit, vector }: LoadedRow): LoadedRow {
  return { hit, ...(vector && { vector: vector.slice() }) }
}
