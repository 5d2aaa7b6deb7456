import type { IndexRow } from '@inlay/knowledge'
import { createPostings, type Postings } from './text/postings.ts'
import { wordsOf, type Terms } from './text/words.ts'

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
  let entries: Entry[] = []
  let postings = createPostings()
  let posted = 0
  let next = 0
  let characters = 0
  /** The last row that found no room; -1 when there is room. */
  let overflownAt = -1
  let preparing: Promise<unknown> = Promise.resolve()

  function keep(kept: Entry[]): void {
    // Replaced rather than cut: few are left after most changes, and a search may still read the old ones.
    entries = kept
    postings = createPostings()
    posted = 0
    characters = kept.reduce((sum, { row }) => sum + weightOf(row), 0)
  }

  async function post(): Promise<Postings> {
    let turnBegan = performance.now()
    while (posted < entries.length) {
      const [all, target] = [entries, postings]
      const rows = all.slice(posted, posted + rowsAtOnce).map(({ row }) => row)
      const words = rows.map((row) => wordsOf(row.searchText))
      const rowTerms = await terms.of(words.flat())
      // Rows may have gone in between: begin again with what is left.
      if (target !== postings) continue
      let from = 0
      for (const [at, row] of rows.entries())
        target.add(row, words[at]!, rowTerms.slice(from, (from += words[at]!.length)))
      posted += rows.length
      if (performance.now() - turnBegan < longestTurnMs) continue
      await new Promise<void>((resolve) => setImmediate(resolve))
      turnBegan = performance.now()
    }
    return postings
  }

  return {
    get size() {
      return entries.length
    },
    get overflown() {
      return overflownAt >= 0
    },
    get isHalfFull() {
      return characters > mostCharacters / 2
    },
    add(rows) {
      for (const row of rows) {
        const at = next++
        characters += weightOf(row)
        if (overflownAt < 0 && characters <= mostCharacters) entries.push({ row, at })
        else {
          overflownAt = at
          if (entries.length > 0) keep([])
        }
      }
    },
    remove(generations) {
      const kept = entries.filter(({ row }) => !generations.has(row.generation))
      if (kept.length < entries.length) keep(kept)
    },
    mark: () => next,
    release(mark) {
      if (overflownAt < mark) overflownAt = -1
      keep(entries.filter(({ at }) => at >= mark))
    },
    prepared() {
      const ready = preparing.then(post, post)
      preparing = ready
      return ready
    },
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
