import type { IndexRow } from '@inlay/knowledge'
import { createSlices } from '@inlay/protocol/concurrency'
import type { Table } from '@lancedb/lancedb'
import type { WriterPresence } from '../writer-presence.ts'
import { createPostings, joinPostings, type Postings, type PostingsBuilder } from './postings.ts'
import { wordsOf, type Terms } from './words-and-spelling.ts'

/** Rows appended through this handle that the full-text index lacks; they are searched in memory. */
export interface Memtable {
  /** Rows held and not removed. */
  readonly size: number
  /** True when not all unindexed rows found room: then only the engine can search them, row by row. */
  readonly overflown: boolean
  /** Share of the capacity in use. */
  readonly fill: number
  /** All the room there is, in the measure of {@link weightOf}. */
  readonly room: number
  /** Holds rows. @returns the {@link mark} that names them and all before */
  add(rows: readonly IndexRow[]): number
  remove(generations: ReadonlySet<string>): void
  /** Names the rows present now, for {@link shownTo} and {@link release}. */
  mark(): number
  /** The same, and makes sure that all of these can be released while later ones stay. */
  seal(): number
  /** Forgets rows present when the mark was taken, unless they lie among later ones. */
  release(mark: number): void
  /** Prepares all rows held now to be searched. */
  post(): Promise<void>
  /** A mark: searches have to find the rows that were present when it was taken. It only rises. */
  shownTo: number
  /** All rows shown, and perhaps others, ready to be searched; rows released later stay in the result. */
  prepared(): Promise<Postings>
}

/** Some 32 MB, counting texts, vectors and the overhead of a row. */
const defaultCharacters = 32_000_000
const charactersBeside = 500

/** Rows whose words are asked for together: each call of the engine costs a turn of the event loop. */
const rowsAtOnce = 20
/** Rows that are released and posted together. */
const segmentRows = 1000

/** Makes an empty memtable. Rows are split into words only when a search comes, so that a bulk load costs nothing. */
export function createMemtable(terms: Terms, mostCharacters: number = defaultCharacters): Memtable {
  return new HeldRows(terms, mostCharacters)
}

/** Rows that came one after the other, and as many of them in a full-text index as were posted. */
interface Segment {
  /** Numbers of the first row, and of the one after the last; some in between may have been removed. */
  readonly from: number
  to: number
  readonly rows: IndexRow[]
  readonly postings: PostingsBuilder
  posted: number
  isSealed: boolean
}

class HeldRows implements Memtable {
  readonly #terms: Terms
  readonly room: number
  #segments: Segment[] = []
  #next = 0
  #characters = 0
  overflown = false
  /** The last row that found no room. */
  #overflownAt = -1
  shownTo = 0
  size = 0
  #posting: Promise<void> = Promise.resolve()

  constructor(terms: Terms, mostCharacters: number) {
    this.#terms = terms
    this.room = mostCharacters
  }

  get fill(): number {
    return this.overflown ? 1 : this.#characters / this.room
  }

  add(rows: readonly IndexRow[]): number {
    const characters = this.#characters + weightOf(rows)
    if (this.overflown || characters > this.room) {
      this.#next += rows.length
      this.#overflownAt = this.#next - 1
      this.overflown = true
      this.#keep([])
      return this.#next
    }
    this.#characters = characters
    this.size += rows.length
    for (const row of rows) {
      let last = this.#segments.at(-1)
      if (!last || last.isSealed || last.rows.length >= segmentRows)
        this.#segments.push((last = segmentOf(this.#next, this.#next, [])))
      last.rows.push(row)
      last.to = ++this.#next
    }
    return this.#next
  }

  remove(generations: ReadonlySet<string>): void {
    const isGone = (row: IndexRow): boolean => generations.has(row.generation)
    if (!this.#segments.some(({ rows }) => rows.some(isGone))) return
    const kept = this.#segments.map((segment) => {
      if (!segment.rows.some(isGone)) return segment
      const rows = segment.rows.filter((row) => !isGone(row))
      return { ...segmentOf(segment.from, segment.to, rows), isSealed: true }
    })
    this.#keep(kept)
  }

  mark(): number {
    return this.#next
  }

  seal(): number {
    const last = this.#segments.at(-1)
    if (last) last.isSealed = true
    return this.#next
  }

  release(mark: number): void {
    if (this.#overflownAt < mark) this.overflown = false
    this.#keep(this.#segments.filter(({ to }) => to > mark))
  }

  post(): Promise<void> {
    const post = (): Promise<void> => this.#post()
    return (this.#posting = this.#posting.then(post, post))
  }

  async prepared(): Promise<Postings> {
    const isReady = this.#segments.every(
      ({ from, rows, posted }) => posted === rows.length || from + posted >= this.shownTo,
    )
    if (!isReady) await this.post()
    return joinPostings(this.#segments.map(({ postings }) => postings))
  }

  #keep(kept: Segment[]): void {
    // Replaced rather than cut: a search may still read the old ones.
    this.#segments = kept.filter(({ rows }) => rows.length > 0)
    this.#characters = this.#segments.reduce((sum, { rows }) => sum + weightOf(rows), 0)
    this.size = this.#segments.reduce((sum, { rows }) => sum + rows.length, 0)
  }

  async #post(): Promise<void> {
    const target = this.#next
    const slices = createSlices({ isAwaited: true })
    for (;;) {
      const segment = this.#segments.find(({ from, rows, posted }) => posted < rows.length && from < target)
      if (!segment) return
      const rows = segment.rows.slice(segment.posted, segment.posted + rowsAtOnce)
      const words = rows.map((row) => wordsOf(row.searchText))
      const rowTerms = await this.#terms.of(words.flat())
      let from = 0
      for (const [at, row] of rows.entries())
        segment.postings.add(row, words[at]!, rowTerms.slice(from, (from += words[at]!.length)))
      segment.posted += rows.length
      if (slices.isOver()) await slices.next()
    }
  }
}

function segmentOf(from: number, to: number, rows: IndexRow[]): Segment {
  return { from, to, rows, postings: createPostings(), posted: 0, isSealed: false }
}

/** Memtable size of rows: their characters and vectors, plus an overhead per row. */
export function weightOf(rows: readonly IndexRow[]): number {
  let weight = 0
  for (const { text, searchText, chunkMetadata, vector } of rows)
    weight += text.length + searchText.length + chunkMetadata.length + 4 * (vector?.length ?? 0) + charactersBeside
  return weight
}

/** Name of the full-text index in the table. */
export const textIndex = 'search_text_idx'

/**
 * Location of rows missing from the full-text index: none are missing, all are in the memtable, or only the table has
 * them.
 */
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
      const mark = memtable.seal()
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
