import type { IndexRow } from '@inlay/knowledge'
import { keyOf } from './lancedb-rows.ts'
import { createWordList, mostCorrections } from './lancedb-spelling.ts'
import { wordsOf, type Terms } from './lancedb-words.ts'

/** A term of a query with its weight: how much its presence says (see {@link rarityOf}). */
export interface WeighedTerm {
  readonly term: string
  readonly weight: number
}

/** A row that waits to be folded into the full-text index, with its score for a query. */
export interface WaitingHit {
  readonly row: IndexRow
  readonly score: number
}

/** Rows appended by this process that the full-text index does not hold yet, searched in memory. */
export interface Waiting {
  /** Rows that wait and were not removed. */
  readonly size: number
  /** True when more rows wait than are kept here: then only the engine can search them, row by row. */
  readonly overflown: boolean
  add(rows: readonly IndexRow[]): void
  remove(generations: ReadonlySet<string>): void
  /** Names the rows present now, for {@link release}. */
  mark(): number
  /** Forgets all rows present when the mark was taken. */
  release(mark: number): void
  /** Splits rows that came since into terms; the lookups below see them from then on. */
  prepare(): Promise<void>
  /** Rows that hold a term. */
  frequencyOf(term: string): number
  near(word: string, term: string): string[]
  /** Rows with any of the terms that pass the test, best first, scored as the engine scores. */
  search(
    terms: readonly WeighedTerm[],
    averageLength: number,
    test: (row: IndexRow) => boolean,
    limit: number,
  ): WaitingHit[]
}

interface Entry {
  readonly row: IndexRow
  readonly at: number
  length: number
  isGone: boolean
}

interface Posting {
  readonly entry: Entry
  readonly count: number
}

/** Some 32 MB; a row is counted with its vector and with what it weighs beside its texts. */
const mostCharacters = 32_000_000
const charactersBeside = 500

/** Keeps waiting rows. Their terms are counted only when a search comes: a bulk load that nobody watches costs nothing. */
export function createWaiting(terms: Terms): Waiting {
  let entries: Entry[] = []
  let prepared = 0
  let postings = new Map<string, Posting[]>()
  let words = createWordList()
  let next = 0
  let live = 0
  let characters = 0
  let overflownAt = -1
  let preparing: Promise<void> = Promise.resolve()

  function keep(kept: Entry[]): void {
    // Rebuilt rather than cut: the rows left after a fold are few.
    entries = kept
    prepared = 0
    postings = new Map()
    words = createWordList()
    live = kept.length
    characters = kept.reduce((sum, entry) => sum + weightOf(entry.row), 0)
  }

  async function prepareAll(): Promise<void> {
    while (prepared < entries.length) {
      const all = entries
      const slice = all.slice(prepared, prepared + 100)
      const split = slice.map((entry) => wordsOf(entry.row.searchText))
      const distinct = [...new Set(split.flat())]
      const found = await terms.of(distinct)
      // A fold may have replaced the entries while the terms were looked up: begin again with what is left.
      if (all !== entries) continue
      const termOf = new Map(distinct.map((item, at) => [item, found[at]]))
      for (const [at, entry] of slice.entries()) count(entry, split[at]!, termOf)
      prepared += slice.length
      if (prepared < entries.length) await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }

  function count(entry: Entry, split: readonly string[], termOf: ReadonlyMap<string, string | undefined>): void {
    const counts = new Map<string, number>()
    for (const item of split) {
      const term = termOf.get(item)
      if (term === undefined) continue
      words.add(item, term)
      counts.set(term, (counts.get(term) ?? 0) + 1)
      entry.length++
    }
    for (const [term, times] of counts) {
      const list = postings.get(term)
      if (list) list.push({ entry, count: times })
      else postings.set(term, [{ entry, count: times }])
    }
  }

  return {
    get size() {
      return live
    },
    get overflown() {
      return overflownAt >= 0
    },
    add(rows) {
      for (const row of rows) {
        const at = next++
        if (overflownAt >= 0) {
          overflownAt = at
          continue
        }
        entries.push({ row, at, length: 0, isGone: false })
        live++
        characters += weightOf(row)
        if (characters <= mostCharacters) continue
        overflownAt = at
        keep([])
      }
    },
    remove(generations) {
      for (const entry of entries) {
        if (entry.isGone || !generations.has(entry.row.generation)) continue
        entry.isGone = true
        live--
      }
      if (live < entries.length / 2)
        keep(entries.filter((entry) => !entry.isGone).map((entry) => ({ ...entry, length: 0 })))
    },
    mark: () => next,
    release(mark) {
      if (overflownAt < mark) overflownAt = -1
      keep(entries.filter((entry) => entry.at >= mark && !entry.isGone).map((entry) => ({ ...entry, length: 0 })))
    },
    prepare() {
      preparing = preparing.then(prepareAll, prepareAll)
      return preparing
    },
    frequencyOf: (term) => (postings.get(term) ?? []).reduce((sum, { entry }) => sum + (entry.isGone ? 0 : 1), 0),
    near: (word, term) =>
      words
        .near(word, term, 1)
        .slice(0, mostCorrections)
        .map((near) => near.word),
    search(query, averageLength, test, limit) {
      const scores = new Map<Entry, number>()
      for (const { term, weight } of query)
        for (const { entry, count: times } of postings.get(term) ?? [])
          if (!entry.isGone)
            scores.set(entry, (scores.get(entry) ?? 0) + weight * saturation(times, entry.length, averageLength))
      return firstOfEach(
        [...scores].filter(([{ row }]) => test(row)),
        limit,
      )
    },
  }
}

function firstOfEach(scored: [Entry, number][], limit: number): WaitingHit[] {
  const hits = new Map<string, WaitingHit>()
  for (const [{ row }, score] of scored.sort((a, b) => b[1] - a[1])) {
    if (hits.size >= limit) break
    if (!hits.has(keyOf(row))) hits.set(keyOf(row), { row, score })
  }
  return [...hits.values()]
}

function weightOf(row: IndexRow): number {
  return row.text.length + row.searchText.length + row.card.length + 4 * (row.vector?.length ?? 0) + charactersBeside
}

/** BM25's weight of a term by how rare it is: Robertson and Zaragoza 2009, with 1 added so that it stays positive. */
export function rarityOf(rowsWithTerm: number, rows: number): number {
  return Math.log((Math.max(0, rows - rowsWithTerm) + 0.5) / (rowsWithTerm + 0.5) + 1)
}

/** BM25's part of a row, with the engine's constants k1 = 1.2 and b = 0.75. */
export function saturation(times: number, length: number, averageLength: number): number {
  return (times * 2.2) / (times + 1.2 * (0.25 + (0.75 * length) / Math.max(1, averageLength)))
}
