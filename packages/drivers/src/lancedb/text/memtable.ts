import type { IndexRow } from '@inlay/knowledge'
import { createSlices } from '@inlay/scheduling'
import type { Table } from '@lancedb/lancedb'
import type { WriterPresence } from '../writer-presence.ts'
import { createPostings, joinPostings, type Postings, type PostingsBuilder } from './postings.ts'
import { wordsOf, type Terms } from './words-and-spelling.ts'

/** About 32 MB, counting texts, vectors and the overhead of a row. */
const defaultCharacters = 32_000_000
const charactersBeside = 500

/** Rows whose words are tokenized together: each call of the engine costs an event loop turn. */
const rowsAtOnce = 20
/** Rows that are released and posted together. */
const segmentRows = 1000

/** Consecutive rows, and the postings of those that are posted. */
interface Segment {
  /** Numbers of the first row, and of the row after the last; rows in between may have been removed. */
  readonly from: number
  to: number
  readonly rows: IndexRow[]
  /** Without rows of removed generations. */
  readonly postings: PostingsBuilder
  posted: number
  isSealed: boolean
}

/** A segment with a larger share of removed rows is posted again without them. */
const maxRemovedShare = 0.5

/** Rows of this handle that are not indexed yet, tokenized only when a search needs them: a bulk load costs nothing. */
export class Memtable {
  readonly #terms: Terms
  /** Total capacity, in units of {@link weightOf}. */
  readonly room: number
  #segments: Segment[] = []
  #next = 0
  #characters = 0
  /** True if some unindexed rows did not fit: then only the engine can search them, by scanning. */
  overflown = false
  /** Number of the last row that did not fit. */
  #overflownAt = -1
  /** A mark: searches must find the rows that were present when it was taken. It never decreases. */
  shownTo = 0
  /** Number of rows, without removed ones. */
  size = 0
  #posting: Promise<void> = Promise.resolve()

  constructor(terms: Terms, maxCharacters: number = defaultCharacters) {
    this.#terms = terms
    this.room = maxCharacters
  }

  /** Share of the capacity in use. */
  get fill(): number {
    return this.overflown ? 1 : this.#characters / this.room
  }

  /** Adds rows. @returns a {@link mark} for these and all previous rows */
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
    this.#keep(this.#segments.map((segment) => without(segment, generations)))
  }

  /** A mark for the current rows, for {@link shownTo} and {@link release}. */
  mark(): number {
    return this.#next
  }

  /** Like {@link mark}, and makes sure that exactly these rows can be released. */
  seal(): number {
    const last = this.#segments.at(-1)
    if (last) last.isSealed = true
    return this.#next
  }

  /** Removes the rows present when the mark was taken, unless they share a segment with later ones. */
  release(mark: number): void {
    if (this.#overflownAt < mark) this.overflown = false
    this.#keep(this.#segments.filter(({ to }) => to > mark))
  }

  /** Prepares all current rows for searching. */
  post(): Promise<void> {
    const post = (): Promise<void> => this.#post()
    return (this.#posting = this.#posting.then(post, post))
  }

  /** Postings of all rows up to `shownTo`, and possibly more; rows released later stay in the result. */
  async prepared(): Promise<Postings> {
    const isReady = this.#segments.every(
      ({ from, rows, posted }) => posted === rows.length || from + posted >= this.shownTo,
    )
    if (!isReady) await this.post()
    return joinPostings(this.#segments.map(({ postings }) => postings))
  }

  #keep(kept: Segment[]): void {
    // A new array, since a search may still read the old one.
    this.#segments = kept.filter(({ rows }) => rows.length > 0)
    this.#characters = this.#segments.reduce((sum, { rows }) => sum + weightOf(rows), 0)
    this.size = this.#segments.reduce((sum, { rows, postings }) => sum + rows.filter(postings.holds).length, 0)
  }

  async #post(): Promise<void> {
    const target = this.#next
    const slices = createSlices({ isAwaited: true })
    for (;;) {
      const segment = this.#segments.find(({ from, rows, posted }) => posted < rows.length && from < target)
      if (!segment) return
      const rows = segment.rows.slice(segment.posted, segment.posted + rowsAtOnce)
      const words = rows.map((row) => wordsOf(row.searchText))
      const { postings } = segment
      const newWords = [...new Set(words.flat())].filter((word) => !postings.knows(word))
      postings.learn(newWords, await this.#terms.of(newWords))
      for (const [at, row] of rows.entries()) postings.add(row, words[at]!)
      segment.posted += rows.length
      if (slices.isOver()) await slices.next()
    }
  }
}

/** Posted rows are only marked: posting the others again takes a millisecond per five rows. */
function without(segment: Segment, generations: ReadonlySet<string>): Segment {
  const { from, to, rows, postings, posted } = segment
  if (!rows.some((row) => generations.has(row.generation))) return segment
  postings.remove(generations)
  const kept = rows.filter(postings.holds)
  if (posted > 0 && rows.length - kept.length <= maxRemovedShare * rows.length) return segment
  return { ...segmentOf(from, to, kept), isSealed: true }
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

export const textIndex = 'search_text_idx'

/** Where rows missing from the full-text index are: nowhere, all in the memtable, or only in the table. */
export type UnindexedPlace = 'none' | 'memtable' | 'table'

/** All unindexed rows are in the memtable if this handle has been the only writer since no other row was unindexed. */
export interface UnindexedRows {
  /** Runs a fold: rows present at its start are in the full-text index afterwards. */
  fold(work: () => Promise<void>): Promise<void>
  place(): Promise<UnindexedPlace>
  /** Records that rows outside the memtable become unindexed: until the next fold only the table has them. */
  expectOthers(): void
}

/** Watches a table and drops rows from the memtable when they are indexed. Call `place` once before the first write. */
export function createUnindexedRows(table: Table, memtable: Memtable, presence: WriterPresence): UnindexedRows {
  /** In which every unindexed row was appended here, as only writer; undefined if others may have unindexed rows. */
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
