import type { IndexRow } from '@inlay/knowledge'
import { saturation } from './rescore.ts'
import { keyOf } from '../rows.ts'
import { createWordList, mostCorrections, wordsOf, type Terms } from './words.ts'
import type { Table } from '@lancedb/lancedb'
import type { WriterPresence } from '../writer-presence.ts'

/** Rows appended through this handle that the full-text index lacks; they are searched in memory. */
export interface Memtable {
  /** Rows held and not removed. */
  readonly size: number
  /** True when not all unindexed rows found room: then only the engine can search them, row by row. */
  readonly overflown: boolean
  /** True when half of the room is taken: time to fold rows into the index before they find none. */
  readonly isHalfFull: boolean
  add(rows: readonly IndexRow[]): void
  remove(generations: ReadonlySet<string>): void
  /** Names the rows present now, for {@link release}. */
  mark(): number
  /** Forgets all rows present when the mark was taken. */
  release(mark: number): void
  /** All rows held now, ready to be searched; rows released later stay in the result. */
  prepared(): Promise<Postings>
}

interface Entry {
  readonly row: IndexRow
  readonly at: number
}

/** Some 32 MB, counting texts, vectors and the overhead of a row. */
const defaultCharacters = 32_000_000
const charactersBeside = 500

/** Rows whose words are asked for together: each call of the engine costs a turn of the event loop. */
const rowsAtOnce = 250
const longestTurnMs = 8

/** Makes an empty memtable. Rows are split into words only when a search comes, so that a bulk load costs nothing. */
export function createMemtable(terms: Terms, mostCharacters: number = defaultCharacters): Memtable {
  return new HeldRows(terms, mostCharacters)
}

class HeldRows implements Memtable {
  readonly #terms: Terms
  readonly #mostCharacters: number
  #entries: Entry[] = []
  #postings = createPostings()
  #posted = 0
  #next = 0
  #characters = 0
  /** The last row that found no room; -1 when there is room. */
  #overflownAt = -1
  #preparing: Promise<unknown> = Promise.resolve()

  constructor(terms: Terms, mostCharacters: number) {
    this.#terms = terms
    this.#mostCharacters = mostCharacters
  }

  get size(): number {
    return this.#entries.length
  }

  get overflown(): boolean {
    return this.#overflownAt >= 0
  }

  get isHalfFull(): boolean {
    return this.#characters > this.#mostCharacters / 2
  }

  add(rows: readonly IndexRow[]): void {
    for (const row of rows) {
      const at = this.#next++
      this.#characters += weightOf(row)
      if (this.#overflownAt < 0 && this.#characters <= this.#mostCharacters) this.#entries.push({ row, at })
      else {
        this.#overflownAt = at
        if (this.#entries.length > 0) this.#keep([])
      }
    }
  }

  remove(generations: ReadonlySet<string>): void {
    const kept = this.#entries.filter(({ row }) => !generations.has(row.generation))
    if (kept.length < this.#entries.length) this.#keep(kept)
  }

  mark(): number {
    return this.#next
  }

  release(mark: number): void {
    if (this.#overflownAt < mark) this.#overflownAt = -1
    this.#keep(this.#entries.filter(({ at }) => at >= mark))
  }

  prepared(): Promise<Postings> {
    const post = (): Promise<Postings> => this.#post()
    const ready = this.#preparing.then(post, post)
    this.#preparing = ready
    return ready
  }

  #keep(kept: Entry[]): void {
    // Replaced rather than cut: few are left after most changes, and a search may still read the old ones.
    this.#entries = kept
    this.#postings = createPostings()
    this.#posted = 0
    this.#characters = kept.reduce((sum, { row }) => sum + weightOf(row), 0)
  }

  async #post(): Promise<Postings> {
    let turnBegan = performance.now()
    while (this.#posted < this.#entries.length) {
      const [all, target] = [this.#entries, this.#postings]
      const rows = all.slice(this.#posted, this.#posted + rowsAtOnce).map(({ row }) => row)
      const words = rows.map((row) => wordsOf(row.searchText))
      const rowTerms = await this.#terms.of(words.flat())
      // Rows may have gone in between: begin again with what is left.
      if (target !== this.#postings) continue
      let from = 0
      for (const [at, row] of rows.entries())
        target.add(row, words[at]!, rowTerms.slice(from, (from += words[at]!.length)))
      this.#posted += rows.length
      if (performance.now() - turnBegan < longestTurnMs) continue
      await new Promise<void>((resolve) => setImmediate(resolve))
      turnBegan = performance.now()
    }
    return this.#postings
  }
}

function weightOf(row: IndexRow): number {
  return (
    row.text.length +
    row.searchText.length +
    row.chunkMetadata.length +
    4 * (row.vector?.length ?? 0) +
    charactersBeside
  )
}

/** Name of the full-text index in the table. */
export const textIndex = 'search_text_idx'

/** Where the rows are that the full-text index lacks: there are none, all are in the memtable, or only the table has them. */
export type UnindexedPlace = 'none' | 'memtable' | 'table'

/**
 * Tells whether the memtable holds all unindexed rows. It does when this handle was the sole writer ever since no other
 * row was unindexed. Rows of another process must be found as well, and only the table has them.
 */
export interface UnindexedRows {
  /** Runs a fold: rows present at its start are in the full-text index after it. */
  fold(work: () => Promise<void>): Promise<void>
  place(): Promise<UnindexedPlace>
  /** Says that rows become unindexed which the memtable does not hold: until the next fold only the table has them. */
  expectOthers(): void
}

/** Watches a table and drops rows from the memtable once they are indexed. Call `place` once before the first write. */
export function createUnindexedRows(table: Table, memtable: Memtable, presence: WriterPresence): UnindexedRows {
  /** The period as sole writer in which every unindexed row was appended here; undefined when others may have some. */
  let ownPeriod: string | undefined
  let isMemtableShort = false

  return {
    expectOthers() {
      isMemtableShort = true
    },
    async fold(work) {
      const mark = memtable.mark()
      const period = await presence.soleWriter()
      await work()
      memtable.release(mark)
      ownPeriod = period
      isMemtableShort = false
    },
    async place() {
      if (isMemtableShort) return 'table'
      const mark = memtable.mark()
      const period = await presence.soleWriter()
      if (period === undefined || period !== ownPeriod) {
        const index = await table.indexStats(textIndex)
        if ((index?.numUnindexedRows ?? 0) > 0) return 'table'
        memtable.release(mark)
        ownPeriod = period
      }
      if (memtable.overflown) return 'table'
      return memtable.size > 0 ? 'memtable' : 'none'
    },
  }
}

/** A term of a query with its weight: how much its presence says. */
export interface WeighedTerm {
  readonly term: string
  readonly weight: number
}

/** A row found in memory, with its score for a query. */
export interface PostedHit {
  readonly row: IndexRow
  readonly score: number
}

/** A small full-text index in memory. */
export interface Postings {
  /** Adds a row with its words in order and what each is indexed by. */
  add(row: IndexRow, words: readonly string[], terms: readonly (string | undefined)[]): void
  /** Rows that hold a term. */
  frequencyOf(term: string): number
  /** Words of its rows that a misspelt one may stand for. */
  near(word: string, term: string): string[]
  /** Rows with any of the terms that pass the test, best first, scored as the engine scores. */
  search(
    terms: readonly WeighedTerm[],
    options: { averageLength: number; test: (row: IndexRow) => boolean; limit: number },
  ): PostedHit[]
}

interface PostedRow {
  readonly row: IndexRow
  readonly length: number
}

/** Makes an empty one. */
export function createPostings(): Postings {
  const entriesOf = new Map<string, { entry: PostedRow; times: number }[]>()
  const list = createWordList()
  return {
    add(row, words, terms) {
      const times = new Map<string, number>()
      for (const [at, term] of terms.entries()) {
        if (term === undefined) continue
        list.add(words[at]!, term)
        times.set(term, (times.get(term) ?? 0) + 1)
      }
      const entry = { row, length: [...times.values()].reduce((sum, count) => sum + count, 0) }
      for (const [term, count] of times) {
        const entries = entriesOf.get(term)
        if (entries) entries.push({ entry, times: count })
        else entriesOf.set(term, [{ entry, times: count }])
      }
    },
    frequencyOf: (term) => entriesOf.get(term)?.length ?? 0,
    near: (word, term) =>
      list
        .near(word, term, 1)
        .slice(0, mostCorrections)
        .map((near) => near.word),
    search(query, { averageLength, test, limit }) {
      const scores = new Map<IndexRow, number>()
      for (const { term, weight } of query)
        for (const { entry, times } of entriesOf.get(term) ?? []) {
          const score = weight * saturation(times, entry.length, averageLength)
          scores.set(entry.row, (scores.get(entry.row) ?? 0) + score)
        }
      return firstOfEach(
        [...scores].filter(([row]) => test(row)).sort((a, b) => b[1] - a[1]),
        limit,
      )
    },
  }
}

/** Rows appended twice are one. */
function firstOfEach(scored: readonly (readonly [IndexRow, number])[], limit: number): PostedHit[] {
  const hits = new Map<string, PostedHit>()
  for (const [row, score] of scored) {
    if (hits.size >= limit) break
    if (!hits.has(keyOf(row))) hits.set(keyOf(row), { row, score })
  }
  return [...hits.values()]
}
