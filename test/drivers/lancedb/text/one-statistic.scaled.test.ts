import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import type { IndexRow, VectorIndex } from '@inlay/knowledge'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { zipfText } from '../../../bench/zipf-text.ts'
import { cases } from '../../../cases.ts'
import { row } from '../sample-rows.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-one-statistic-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))
let folders = 0

const open = async (folder: string): Promise<VectorIndex> => {
  const index = lancedbIndex({ folder })
  await index.open()
  return index
}
const newFolder = (): string => join(root, String(folders++))
function copyOf(folder: string): string {
  const copy = newFolder()
  cpSync(folder, copy, { recursive: true })
  return copy
}

/** Rows of which the first ones hold other words, and are shorter, than the rest. */
function rowsOf(first: number, count: number): IndexRow[] {
  const zipf = zipfText(11, 400)
  return Array.from({ length: count }, (_, at) => {
    const isFirst = at < first
    // Each word is frequent in one part and rare in the other.
    const words = isFirst
      ? ['leave', ...(at % 2 === 0 ? ['policy'] : [])]
      : [...(at % 9 === 0 ? [] : ['carry']), ...(at % 7 === 0 || at % 9 === 0 ? ['policy'] : [])]
    return row(`d${at}`, `${words.join(' ')} ${zipf.text(isFirst ? 20 : 40 + (at % 50))}`)
  })
}

const questions = ['leave policy carry', 'carry policy', 'how much leave can i carry over', 'leave']

/** Ids with their scores, best first. */
async function ask(index: VectorIndex, text: string, limit = 50): Promise<Map<string, number>> {
  return new Map((await index.search({ text, limit })).map(({ documentId, score }) => [documentId, score]))
}

async function filled(rows: readonly IndexRow[], folder = newFolder()): Promise<VectorIndex> {
  const index = await open(folder)
  await index.append(rows)
  await index.maintain({ idle: true })
  return index
}

/** Brings the other rows into an index that holds the first ones, and leaves it in some state in between. */
type Bring = (index: VectorIndex, others: readonly IndexRow[], folder: string) => Promise<unknown>

const states: Readonly<Record<string, Bring>> = {
  'rows wait to be indexed': (index, others) => index.append(others),
  'rows wait that come between searches': async (index, others) => {
    await ask(index, questions[0]!)
    await index.append(others.slice(0, 3))
    await ask(index, questions[0]!)
    await index.append(others.slice(3))
  },
  'some rows were indexed since the last search, and others wait': async (index, others) => {
    await ask(index, questions[0]!)
    const half = Math.floor(others.length / 2)
    await index.append(others.slice(0, half))
    await index.maintain({ idle: true })
    await index.append(others.slice(half))
  },
  'rows wait that another process has written': async (index, others, folder) => {
    const other = await open(folder)
    onTestFinished(() => other.close())
    await ask(index, questions[0]!)
    await other.append(others)
  },
}

describe.each([
  [2, 70],
  [cases(100, 10_000), cases(600, 11_000)],
  [cases(100, 100_000), cases(600, 110_000)],
])('with %i of %i rows in the index', (first, count) => {
  const rows = rowsOf(first, count)
  /** Of the first rows alone. */
  const firstFolder = newFolder()
  /** Scores of all rows, for each question, once all are indexed. */
  const expected: Map<string, number>[] = []
  beforeAll(async () => {
    const index = await filled(rows.slice(0, first), firstFolder)
    await index.close()
    const folder = copyOf(firstFolder)
    const finished = await filled(rows.slice(first), folder)
    for (const text of questions) expected.push(await ask(finished, text, count))
    await finished.close()
  })

  test.each(Object.entries(states))(
    'the order while %s is that of the finished index',
    async (_state, bring) => {
      const folder = copyOf(firstFolder)
      const index = await open(folder)
      onTestFinished(() => index.close())
      await bring(index, rows.slice(first), folder)
      for (const [at, text] of questions.entries()) {
        const [ranking, scores] = [await ask(index, text), expected[at]!]
        const best = [...scores.values()].slice(0, ranking.size)
        // Rows with the same score may change places, and in a large table, weights are estimates.
        const tolerance = count > 4000 ? 0.1 : 0.001
        for (const [place, id] of [...ranking.keys()].entries())
          expect(Math.abs(scores.get(id)! - best[place]!), `${text}: ${id} at ${place}`).toBeLessThan(tolerance)
      }
    },
    120_000,
  )
})
