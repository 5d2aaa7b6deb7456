import { createSlices } from '@inlay/protocol/concurrency'
import type { Table } from '@lancedb/lancedb'
import { searchColumn } from '../rows.ts'
import { createWordList, wordsOf, type WordList, type Terms } from './words-and-spelling.ts'

/** Words of some rows, or of all when they are few. */
export interface Sample {
  readonly rows: number
  /** Rows of the table when it was taken. */
  readonly ofRows: number
  /** Whether it tells of every row there is. */
  readonly isWhole: boolean
  /** Mean number of terms in a row; 1 for an empty table. */
  readonly averageLength: number
  /** Rows of the sample that hold a term. */
  readonly frequencies: ReadonlyMap<string, number>
  readonly words: WordList
}

/** Keeps a sample that is about as old as its table. */
export interface Sampling {
  current(): Promise<Sample>
  /** The table has changed and holds so many rows now. */
  outdate(rows: number): void
}

const sampleRows = 4000
/** A sample of so many rows is used further while the next one is taken, which makes a search wait for a second or more. */
const usableRows = 200
/** Least time between two samples, in milliseconds. */
const ageMs = 10_000

/** Samples a table at first use, and again once it has changed by enough. */
export function createSampling(table: Table, terms: Terms): Sampling {
  let sample: Promise<Sample> | undefined
  /** The last one that is complete. */
  let last: { readonly sample: Sample; readonly from: Promise<Sample> } | undefined
  let takenAt = 0
  let isOutdated = false

  function take(): Promise<Sample> {
    isOutdated = false
    takenAt = Date.now()
    const taken = takeSample(table, terms)
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
    async current() {
      const isDue = isOutdated && Date.now() - takenAt > ageMs
      const latest = sample && !isDue ? sample : take()
      const usable = last && last.sample.rows >= usableRows ? last : { sample: await latest, from: latest }
      const isWhole = usable.sample.isWhole && !isOutdated && usable.from === latest
      return isWhole === usable.sample.isWhole ? usable.sample : { ...usable.sample, isWhole }
    },
    outdate(rows) {
      // A part of the rows tells shares, and those change slowly.
      const ofRows = last?.sample.ofRows ?? 0
      isOutdated ||= rows <= sampleRows || rows > 1.25 * ofRows || rows < 0.8 * ofRows
    },
  }
}

async function takeSample(table: Table, terms: Terms): Promise<Sample> {
  const ofRows = await table.countRows()
  const frequencies = new Map<string, number>()
  const list = createWordList()
  let [rows, length] = [0, 0]
  const slices = createSlices({ isAwaited: true })
  const query = ofRows <= sampleRows ? table.query() : table.takeOffsets(offsetsOf(ofRows))
  for await (const batch of query.select([searchColumn])) {
    const column = batch.getChildAt(0)
    for (let at = 0; at < batch.numRows; at++) {
      const words = wordsOf(String(column?.get(at) ?? ''))
      const rowTerms = await terms.of(words)
      for (const [n, term] of rowTerms.entries()) if (term !== undefined) list.add(words[n]!, term)
      const present = rowTerms.filter((term) => term !== undefined)
      for (const term of new Set(present)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
      length += present.length
      rows++
      if (slices.isOver()) await slices.next()
    }
  }
  const averageLength = rows > 0 ? length / rows : 1
  return { rows, ofRows, isWhole: rows === ofRows, averageLength, frequencies, words: list }
}

/** Offsets spread evenly over the rows, each at random within its stretch. */
function offsetsOf(rows: number): number[] {
  const stretch = rows / sampleRows
  return Array.from({ length: sampleRows }, (_, at) => Math.min(rows - 1, Math.floor((at + Math.random()) * stretch)))
}
