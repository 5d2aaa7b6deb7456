import { createSlices } from '@inlay/scheduling'
import type { Table } from '@lancedb/lancedb'
import { searchColumn } from '../rows.ts'
import { createWordList, wordsOf, type WordList, type Terms } from './words-and-spelling.ts'

/** Words of a sample of rows, or of all rows if there are few. */
export interface Sample {
  readonly rows: number
  /** Number of rows in the table when the sample was taken. */
  readonly ofRows: number
  /** Whether it contains every row. */
  readonly isWhole: boolean
  /** Mean number of terms per row; 1 for an empty table. */
  readonly averageLength: number
  /** Number of sampled rows with a term. */
  readonly frequencies: ReadonlyMap<string, number>
  readonly words: WordList
}

/** Keeps a sample up to date with its table. */
export interface Sampling {
  /** Whether `current` returns a sample without waiting for it. */
  readonly isReady: boolean
  current(): Promise<Sample>
  /** Records that the table has changed and its current number of rows. */
  outdate(rows: number): void
}

const sampleRows = 4000
/** A sample with at least this many rows is still used while the next one is taken, which takes a second or more. */
const usableRows = 200
/** Minimum time between two samples, in milliseconds. */
const ageMs = 10_000

/** Samples a table at first use, and again after enough changes. */
export function createSampling(table: Table, terms: Terms): Sampling {
  let sample: Promise<Sample> | undefined
  /** The last completed sample. */
  let last: { readonly sample: Sample; readonly from: Promise<Sample> } | undefined
  let takenAt = 0
  let isOutdated = false

  const isUsable = (): boolean => last !== undefined && last.sample.rows >= usableRows

  function take(): Promise<Sample> {
    isOutdated = false
    takenAt = Date.now()
    const taken = takeSample(table, terms, { isAwaited: !isUsable() })
    sample = taken
    taken.then(
      (complete) => {
        last = { sample: complete, from: taken }
      },
      () => {
        if (sample === taken) sample = undefined
      },
    )
    return taken
  }

  return {
    get isReady() {
      return isUsable()
    },
    async current() {
      const isDue = isOutdated && Date.now() - takenAt > ageMs
      const latest = sample && !isDue ? sample : take()
      const usable = last && isUsable() ? last : { sample: await latest, from: latest }
      const isWhole = usable.sample.isWhole && !isOutdated && usable.from === latest
      return isWhole === usable.sample.isWhole ? usable.sample : { ...usable.sample, isWhole }
    },
    outdate(rows) {
      // A partial sample estimates shares, and those change slowly.
      const ofRows = last?.sample.ofRows ?? 0
      isOutdated ||= rows <= sampleRows || rows > 1.25 * ofRows || rows < 0.8 * ofRows
    },
  }
}

/** Rows whose words are tokenized together: each call of the engine costs an event loop turn. */
const rowsAtOnce = 20

/** Number of sampled rows with a term. */
interface TermCount {
  rows: number
  lastRow: number
}

/** @param options.isAwaited whether a search is waiting for it */
async function takeSample(table: Table, terms: Terms, options: { readonly isAwaited: boolean }): Promise<Sample> {
  const ofRows = await table.countRows()
  const counts = new Map<string, TermCount>()
  /** The count of the term that each word becomes; undefined for words that are not indexed. */
  const countOfWord = new Map<string, TermCount | undefined>()
  const list = createWordList()
  let [rows, length] = [0, 0]
  const slices = createSlices(options)
  const query = ofRows <= sampleRows ? table.query() : table.takeOffsets(offsetsOf(ofRows))
  for await (const batch of query.select([searchColumn])) {
    const column = batch.getChildAt(0)
    for (let from = 0; from < batch.numRows; from += rowsAtOnce) {
      const texts: string[][] = []
      for (let at = from; at < Math.min(from + rowsAtOnce, batch.numRows); at++)
        texts.push(wordsOf(String(column?.get(at) ?? '')))
      const newWords = [...new Set(texts.flat())].filter((word) => !countOfWord.has(word))
      for (const [at, term] of (await terms.of(newWords)).entries()) {
        const word = newWords[at]!
        if (term === undefined) countOfWord.set(word, undefined)
        else {
          list.add(word, term)
          const count = counts.get(term) ?? { rows: 0, lastRow: -1 }
          counts.set(term, count)
          countOfWord.set(word, count)
        }
      }
      for (const words of texts) {
        for (const word of words) {
          const count = countOfWord.get(word)
          if (!count) continue
          length++
          if (count.lastRow === rows) continue
          count.lastRow = rows
          count.rows++
        }
        rows++
      }
      if (slices.isOver()) await slices.next()
    }
  }
  const averageLength = rows > 0 ? length / rows : 1
  const frequencies = new Map([...counts].map(([term, count]) => [term, count.rows]))
  return { rows, ofRows, isWhole: rows === ofRows, averageLength, frequencies, words: list }
}

/** Offsets spread evenly over the rows, each random within its interval. */
function offsetsOf(rows: number): number[] {
  const stretch = rows / sampleRows
  return Array.from({ length: sampleRows }, (_, at) => Math.min(rows - 1, Math.floor((at + Math.random()) * stretch)))
}
