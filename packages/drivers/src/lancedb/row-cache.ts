import type { Hit } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import { hitColumns, toHit, type FoundRow } from './rows.ts'

/** Cached content of a row. */
export interface CachedRow {
  readonly hit: Hit
  /** When it was asked for. */
  readonly vector?: Float32Array
}

/** Texts, metadata, and four characters for each number of a vector: some 5,000 rows. */
const defaultCharacters = 8_000_000
/** Above this share of rows that are here, to read the others by themselves costs less than to read all. */
const warmShare = 0.8
const searchesCounted = 16

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
  /** Share of cached rows among the results of the latest searches. */
  #knownShare = 0
  /** Whether most rows are here: then searches ask for ids alone, else for all columns, which costs one call less. */
  isWarm = false

  constructor(table: Table, mostCharacters: number = defaultCharacters) {
    this.#table = table
    this.#mostCharacters = mostCharacters
  }

  /**
   * Gives rows in the order of what was found: from here, else from the columns that came with their ids, else from the
   * table.
   * @param extra `vector`, if it is wanted
   * @throws an error that is worth another search when some have been moved or deleted since they were found
   */
  async read(sought: readonly FoundId[], extra: readonly string[]): Promise<CachedRow[]> {
    const rows = new Map<bigint, CachedRow>()
    const missing: bigint[] = []
    let known = 0
    for (const row of sought) {
      // The engine makes a property anew each time it is asked for.
      const id = row._rowid
      const cached = this.#rows.get(id)
      if (cached && (extra.length === 0 || cached.vector)) {
        known++
        rows.set(id, cached)
        this.#rows.delete(id)
        this.#rows.set(id, cached)
      } else if (row.text === undefined) missing.push(id)
      // It came with its columns.
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

  /** Forgets rows of generations. */
  remove(generations: ReadonlySet<string>): void {
    for (const [id, { hit }] of this.#rows) if (generations.has(hit.generation)) this.#forget(id)
  }

  #add(id: bigint, row: FoundRow): CachedRow {
    // A copy: the engine's own is a view of all that it sent.
    const cached = { hit: toHit(row, 0), ...(row.vector && { vector: row.vector.toArray().slice() }) }
    this.#forget(id)
    this.#rows.set(id, cached)
    this.#characters += weightOf(cached)
    for (const oldest of this.#rows.keys()) {
      if (this.#characters <= this.#mostCharacters) break
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

/** A row as a search finds it, with the columns that it asked for. */
export interface FoundId extends Partial<FoundRow> {
  /** The engine's own name of it: the file it lies in, and its place there. */
  readonly _rowid: bigint
}

/** Its characters, four for each number of its vector, and some beside. */
export function weightOf({ hit, vector }: CachedRow): number {
  return hit.text.length + hit.chunkMetadata.length + 4 * (vector?.length ?? 0) + charactersBeside
}

const charactersBeside = 500

function moved(): never {
  throw new Error('A row was not found again: another writer came in between.')
}
