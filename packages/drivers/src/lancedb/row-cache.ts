import type { Hit } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import { hitColumns, toHit, type FoundRow } from './rows.ts'

/** Cached content of a row. */
export interface CachedRow {
  readonly hit: Hit
  /** If it was requested. */
  readonly vector?: Float32Array
}

/** Characters of texts and metadata, and four characters per dimension of a vector: about 5,000 rows. */
const defaultCharacters = 8_000_000
/** With a larger share of cached rows, reading only the missing rows costs less than reading all columns. */
const warmShare = 0.8
const searchesCounted = 16

/**
 * Rows found by recent searches, since reading rows takes the engine longer than finding them. Entries never change:
 * updates and folds write a row under a new id. Where all rows fit, a text search takes a quarter less CPU (2.8 instead of
 * 4.0 ms at 1,500 rows); at 4,000 rows and more, with a new query each time, there is no difference.
 */
export class RowCache {
  readonly #table: Table
  readonly #maxCharacters: number
  /** Most recently used last. */
  readonly #rows = new Map<bigint, CachedRow>()
  #characters = 0
  /** Share of cached rows among the results of the latest searches. */
  #knownShare = 0
  /** Whether most rows are cached: searches then request only ids, otherwise all columns, which saves a call. */
  isWarm = false

  constructor(table: Table, maxCharacters: number = defaultCharacters) {
    this.#table = table
    this.#maxCharacters = maxCharacters
  }

  /**
   * Returns rows in the order of the hits: from the cache, from the columns returned with their ids, or from the table.
   * @param extra `vector`, if it is wanted
   * @throws an error that makes the search run again, if rows were moved or deleted since they were found
   */
  async read(sought: readonly FoundId[], extra: readonly string[]): Promise<CachedRow[]> {
    const rows = new Map<bigint, CachedRow>()
    const missing: bigint[] = []
    let known = 0
    for (const row of sought) {
      // The engine computes a property each time it is read.
      const id = row._rowid
      const cached = this.#rows.get(id)
      if (cached && (extra.length === 0 || cached.vector)) {
        known++
        rows.set(id, cached)
        this.#rows.delete(id)
        this.#rows.set(id, cached)
      } else if (row.text === undefined) missing.push(id)
      // The search returned its columns.
      else rows.set(id, this.#add(id, row as FoundId & FoundRow))
    }
    if (sought.length > 0) this.#knownShare += (known / sought.length - this.#knownShare) / searchesCounted
    this.isWarm = this.#knownShare > warmShare
    if (missing.length > 0) {
      const query = this.#table.takeRowIds(missing).withRowId()
      // Contains only the selected columns.
      const taken = (await query.select([...hitColumns, ...extra, '_rowid']).toArray()) as (FoundRow & FoundId)[]
      for (const row of taken) rows.set(row._rowid, this.#add(row._rowid, row))
    }
    return sought.map(({ _rowid: id }) => rows.get(id) ?? moved())
  }

  /** Removes rows of generations. */
  remove(generations: ReadonlySet<string>): void {
    for (const [id, { hit }] of this.#rows) if (generations.has(hit.generation)) this.#forget(id)
  }

  #add(id: bigint, row: FoundRow): CachedRow {
    // Copied, since the engine's vector is a view of the whole response.
    const cached = { hit: toHit(row, 0), ...(row.vector && { vector: row.vector.toArray().slice() }) }
    this.#forget(id)
    this.#rows.set(id, cached)
    this.#characters += weightOf(cached)
    for (const oldest of this.#rows.keys()) {
      if (this.#characters <= this.#maxCharacters) break
      this.#forget(oldest)
    }
    return cached
  }

  #forget(id: bigint): void {
    const row = this.#rows.get(id)
    if (!row) return
    this.#rows.delete(id)
    this.#characters -= weightOf(row)
  }
}

/** A row returned by a search, with the requested columns. */
export interface FoundId extends Partial<FoundRow> {
  /** The engine's id of the row: its file, and its offset there. */
  readonly _rowid: bigint
}

/** Its characters, four per dimension of its vector, plus an overhead. */
export function weightOf({ hit, vector }: CachedRow): number {
  return hit.text.length + hit.chunkMetadata.length + 4 * (vector?.length ?? 0) + charactersBeside
}

const charactersBeside = 500

function moved(): never {
  throw new Error('A row was not found again: another writer changed the table meanwhile.')
}
