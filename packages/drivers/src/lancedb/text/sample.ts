import { createMutex, createSlices } from '@inlay/scheduling'
import type { Table } from '@lancedb/lancedb'
import { searchColumn } from '../rows.ts'
import { createWordList, wordsOf, type WordList, type Terms } from './words-and-spelling.ts'

/** Words of a sample of rows, or of all rows if there are few. Indexed and waiting rows count alike. */
export interface Sample {
  readonly rows: number
  /** Number of rows in the table that it stands for. */
  readonly ofRows: number
  readonly isWhole: boolean
  /** Mean number of terms per row; 1 for an empty table. */
  readonly averageLength: number
  /** Number of sampled rows with a term. */
  frequencyOf(term: string): number
  readonly words: WordList
}

const sampleRows = 4000
/** A sample with at least this many rows is still used while the next one is taken, which takes a second or more. */
const usableRows = 200
/** Minimum time between two samples that large, in milliseconds. */
const ageMs = 10_000
/** With more rows to add, another sample is taken, which takes no longer. */
const maxAddedRows = 2000

/** Samples a table at first use, again after enough changes, and new rows in the same proportion as soon as they come. */
export function createSampling(table: Table, terms: Terms) {
  /** The last complete sample. */
  let sample: GrowingSample | undefined
  let taking: Promise<GrowingSample> | undefined
  let takenAt = 0
  let [isOutdated, tableRows] = [false, 0]
  const exclusively = createMutex()

  const isUsable = (): boolean => sample !== undefined && sample.rows >= usableRows

  function take(): Promise<GrowingSample> {
    isOutdated = false
    takenAt = Date.now()
    taking ??= takeSample(table, terms, { isAwaited: !isUsable() })
      .then((taken) => (sample = taken))
      .finally(() => (taking = undefined))
    return taking
  }

  function extend(end: number): Promise<void> {
    return exclusively(async () => sample?.extend(end)).catch((error: unknown) => {
      // Some of the rows may have been counted.
      sample = undefined
      throw error
    })
  }

  return {
    /** Whether `current` returns a sample without waiting for all of it. */
    get isReady(): boolean {
      return isUsable()
    },
    /** @param rows rows of the table that it has to stand for; without it, those that came last may be missing */
    async current(rows?: number): Promise<Sample> {
      const end = rows ?? tableRows
      const isBehind = sample !== undefined && sample.missing(end) > maxAddedRows
      const isDue =
        (isOutdated || (sample?.rows ?? 0) > 2 * sampleRows) && (!isUsable() || Date.now() - takenAt > ageMs)
      const update = !sample || isDue || isBehind ? take() : sample.missing(end) > 0 ? extend(end) : undefined
      // Whoever waits learns of a failure; the others use the last sample.
      if (!isUsable() || (rows !== undefined && sample!.missing(end) > 0)) await update
      else update?.catch(() => {})
      return sample!
    },
    /** The table has changed; its current number of rows. */
    outdate(rows: number): void {
      tableRows = rows
      const ofRows = sample?.ofRows ?? 0
      // Shares change slowly.
      isOutdated ||= rows < (rows <= sampleRows ? 1 : 0.8) * ofRows
    },
  }
}

/** Rows whose words are tokenized together: each call of the engine costs an event loop turn. */
const rowsAtOnce = 20

interface TermCount {
  rows: number
  lastRow: number
}

interface GrowingSample extends Sample {
  /** Number of rows to add, until it stands for so many. */
  missing(ofRows: number): number
  extend(ofRows: number): Promise<void>
}

/** @param options.isAwaited whether a search is waiting for it */
async function takeSample(
  table: Table,
  terms: Terms,
  options: { readonly isAwaited: boolean },
): Promise<GrowingSample> {
  const counts = new Map<string, TermCount>()
  /** The count of the term that each word becomes; undefined for words that are not indexed. */
  const countOfWord = new Map<string, TermCount | undefined>()
  const words = createWordList()
  let [rows, ofRows, length] = [0, 0, 0]

  async function add(texts: readonly string[][]): Promise<void> {
    const newWords = [...new Set(texts.flat())].filter((word) => !countOfWord.has(word))
    for (const [at, term] of (await terms.of(newWords)).entries()) {
      const word = newWords[at]!
      if (term === undefined) countOfWord.set(word, undefined)
      else {
        words.add(word, term)
        const count = counts.get(term) ?? { rows: 0, lastRow: -1 }
        counts.set(term, count)
        countOfWord.set(word, count)
      }
    }
    for (const text of texts) {
      for (const word of text) {
        const count = countOfWord.get(word)
        if (!count) continue
        length++
        if (count.lastRow === rows) continue
        count.lastRow = rows
        count.rows++
      }
      rows++
    }
  }

  /** Adds so many rows from those between `ofRows` and `end`: a table lists its rows in the order of their commits. */
  async function addRows(end: number, count: number): Promise<void> {
    const slices = createSlices(options)
    const isWhole = ofRows === 0 && count === end
    const query = isWhole ? table.query() : table.takeOffsets(offsetsOf(ofRows, end, count))
    for await (const batch of query.select([searchColumn])) {
      const column = batch.getChildAt(0)
      for (let from = 0; from < batch.numRows; from += rowsAtOnce) {
        const texts: string[][] = []
        for (let at = from; at < Math.min(from + rowsAtOnce, batch.numRows); at++)
          texts.push(wordsOf(String(column?.get(at) ?? '')))
        await add(texts)
        if (slices.isOver()) await slices.next()
      }
    }
    ofRows = isWhole ? rows : end
  }

  const all = await table.countRows()
  await addRows(all, Math.min(all, sampleRows))
  const share = ofRows === 0 ? 1 : Math.min(1, rows / ofRows)
  const missing = (end: number): number => Math.max(0, Math.ceil((end - ofRows) * share))
  return {
    get rows() {
      return rows
    },
    get ofRows() {
      return ofRows
    },
    get isWhole() {
      return rows === ofRows
    },
    get averageLength() {
      return rows > 0 ? length / rows : 1
    },
    frequencyOf: (term) => counts.get(term)?.rows ?? 0,
    words,
    missing,
    extend: async (end) => {
      if (missing(end) > 0) await addRows(end, missing(end))
    },
  }
}

/** Offsets spread evenly over the rows of a range, each random within its interval. */
function offsetsOf(start: number, end: number, count: number): number[] {
  const stretch = (end - start) / count
  return Array.from({ length: count }, (_, at) =>
    Math.min(end - 1, start + Math.floor(stretch === 1 ? at : (at + Math.random()) * stretch)),
  )
}
