import type { Hit } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import { hitColumns, toHit, type FoundRow } from './rows.ts'

/** What a row holds. */
export interface CachedRow {
  readonly hit: Hit
  /** When it was asked for. */
  readonly vector?: Float32Array
}

/** Texts, metadata, and four characters for each number of a vector: some 5,000 rows. */
const defaultCharacters = 8_000_000

/**
 * Rows that searches found lately. The engine takes longer to read rows than to find them. What stands under an id never
 * changes: updates and folds write a row anew, under another id.
 */
export class RowCache {
  readonly #table: Table
  readonly #mostCharacters: number
  /** Those used last come last. */
  readonly #rows = new Map<bigint, CachedRow>()
  #characters = 0

  constructor(table: Table, mostCharacters: number = defaultCharacters) {
    this.#table = table
    this.#mostCharacters = mostCharacters
  }

  /**
   * Gives rows in the order of their ids.
   * @param columns `vector`, if it is wanted
   * @throws an error that is worth another search when some have been moved or deleted since they were found
   */
  async read(ids: readonly bigint[], columns: readonly string[]): Promise<CachedRow[]> {
    const rows = new Map<bigint, CachedRow>()
    const missing: bigint[] = []
    for (const id of ids) {
      const row = this.#rows.get(id)
      if (!row || (columns.length > 0 && !row.vector)) missing.push(id)
      else {
        rows.set(id, row)
        this.#rows.delete(id)
        this.#rows.set(id, row)
      }
    }
    if (missing.length > 0) {
      const query = this.#table.takeRowIds(missing).withRowId()
      // Of the columns that were selected.
      const taken = (await query.select([...hitColumns, ...columns, '_rowid']).toArray()) as (FoundRow & RowId)[]
      for (const row of taken) {
        // A copy: the engine's own is a view of all that it sent.
        const cached = { hit: toHit(row, 0), ...(row.vector && { vector: row.vector.toArray().slice() }) }
        rows.set(row._rowid, cached)
        this.#add(row._rowid, cached)
      }
    }
    return ids.map((id) => rows.get(id) ?? moved())
  }

  /** Forgets rows of generations. */
  remove(generations: ReadonlySet<string>): void {
    for (const [id, { hit }] of this.#rows) if (generations.has(hit.generation)) this.#forget(id)
  }

  #add(id: bigint, row: CachedRow): void {
    this.#forget(id)
    this.#rows.set(id, row)
    this.#characters += weightOf(row)
    for (const oldest of this.#rows.keys()) {
      if (this.#characters <= this.#mostCharacters) return
      this.#forget(oldest)
    }
  }

  #forget(id: bigint): void {
    const row = this.#rows.get(id)
    if (!row) return
    this.#rows.delete(id)
    this.#characters -= weightOf(row)
  }
}

/** The engine's own name of a row: the file it lies in, and its place there. */
export interface RowId {
  readonly _rowid: bigint
  readonly _score?: number
}

function weightOf({ hit, vector }: CachedRow): number {
  return hit.text.length + hit.chunkMetadata.length + 4 * (vector?.length ?? 0) + charactersBeside
}

const charactersBeside = 500

function moved(): never {
  throw new Error('A row was not found again: another writer came in between.')
}
