import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, VectorQuery } from '@lancedb/lancedb'
import { conditionOf } from '@inlay/drivers/internal/lancedb/filtered-search'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import type { IndexFilter, VectorIndex } from '@inlay/knowledge'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { seededRandom } from '../../bench/typos.ts'
import { zipfText } from '../../bench/zipf-text.ts'
import { row } from './sample-rows.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-filtered-'))
let index: VectorIndex
const text = zipfText(3, 2000)
const rowCount = 4000

// Every row is of pair 1, half of them of 2, a tenth of 3, one in two hundred of 4, none of 5.
const pairsOf = (n: number): number[] => [1, ...(n % 2 ? [2] : []), ...(n % 10 ? [] : [3]), ...(n % 200 ? [] : [4])]
const random = seededRandom(9)
const vector = (): Float32Array => Float32Array.from({ length: 8 }, () => random() - 0.5)
const pairs = new Map(Array.from({ length: rowCount }, (_, n) => [`d${n}`, pairsOf(n)]))

beforeAll(async () => {
  index = lancedbIndex({ folder: root })
  await index.open({ id: 'random@8', dimensions: 8 })
  const rows = Array.from({ length: rowCount }, (_, n) =>
    row(`d${n}`, text.text(30), { pairs: pairsOf(n), tags: [`half=${n % 4 < 2}`], vector: vector() }),
  )
  await index.append(rows)
  await index.maintain({ idle: true })
})
afterAll(async () => {
  await index.close()
  rmSync(root, { recursive: true, force: true, maxRetries: 10 })
})

const idsOf = async (query: { text?: string; vector?: Float32Array }, filter: IndexFilter, limit: number) =>
  (await index.search({ ...query, filter, limit })).map(({ documentId }) => documentId)

test.each([[[1]], [[2]], [[3]], [[4]], [[3, 4]], [[5]], [[4, 5, 6]]])(
  'a search of the pairs %j finds what all rows hold of them, again and again',
  async (wanted) => {
    const isIn = (id: string): boolean => pairs.get(id)!.some((pair) => wanted.includes(pair))
    for (const round of [1, 2, 3]) {
      const query = { vector: vector() }
      const all = await idsOf(query, {}, rowCount)
      expect(all).toHaveLength(rowCount)
      expect(await idsOf(query, { pairs: wanted }, 10), `round ${round}`).toEqual(all.filter(isIn).slice(0, 10))
      const words = { text: `${text.word(4)} ${text.word(4)}` }
      const matching = new Set((await idsOf(words, {}, rowCount)).filter(isIn))
      const ids = await idsOf(words, { pairs: wanted }, 10)
      expect(ids).toHaveLength(Math.min(10, matching.size))
      expect(ids.every((id) => matching.has(id))).toBe(true)
    }
  },
)

test.each<[string, IndexFilter]>([
  ['pairs', { pairs: [3, 4] }],
  ['tags', { tags: [['half=true']] }],
  ['sources', { sources: ['file'] }],
  ['document ids', { documentIds: ['d7'] }],
])('an index answers for %s: no row is read for it', async (_, filter) => {
  const table = await (await connect(root)).openTable('chunks')
  const plan = await table.query().where(conditionOf(filter)!).select(['generation']).explainPlan()
  expect(plan).toContain('ScalarIndexQuery')
  expect(plan).toContain('refine_filter=--')
})

test.each([[[]], [[2 ** 31]], [[-(2 ** 40), 0.5]]])('no row is in the pairs %j', async (wanted) => {
  expect(await idsOf({ vector: vector() }, { pairs: wanted }, 10)).toEqual([])
})

test('pairs and tags bind together', async () => {
  const query = { vector: vector() }
  const all = await idsOf(query, { tags: [['half=true']] }, rowCount)
  expect(all).toHaveLength(rowCount / 2)
  const expected = all.filter((id) => pairs.get(id)!.includes(2)).slice(0, 20)
  expect(await idsOf(query, { pairs: [2], tags: [['half=true']] }, 20)).toEqual(expected)
})

test.each([5, 1_050])('%i rows that pass a filter are found however far their vectors lie', async (far) => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-far-'))
  const clustered = lancedbIndex({ folder, vectorIndexRows: 2_000 })
  try {
    await clustered.open({ id: 'clusters@8', dimensions: 8 })
    // A search comes to the partitions of these rows last.
    const near = (sign: number): Float32Array => vector().map((value, at) => (at < 4 ? sign : value))
    const rows = Array.from({ length: 4_800 }, (_, n) =>
      row(`d${n}`, 'A heron.', { source: n < far ? 'far' : 'near', vector: near(n < far ? -1 : 1) }),
    )
    await clustered.append(rows)
    await clustered.maintain({ idle: true })
    const hits = await clustered.search({ vector: near(1), filter: { sources: ['far'] }, limit: 10 })
    expect(hits).toHaveLength(Math.min(far, 10))
    expect(hits.every(({ source }) => source === 'far')).toBe(true)
  } finally {
    await clustered.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
})

test('of few rows that pass the nearest are found, also right after a write', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-kept-'))
  const clustered = lancedbIndex({ folder, vectorIndexRows: 2_000 })
  const compared = vi.spyOn(VectorQuery.prototype, 'bypassVectorIndex')
  onTestFinished(() => compared.mockRestore())
  try {
    await clustered.open({ id: 'few@8', dimensions: 8 })
    const rows = Array.from({ length: 2_000 }, (_, n) =>
      row(`d${n}`, 'A heron.', { pairs: [n % 40 ? 1 : 2], vector: vector() }),
    )
    await clustered.append(rows)
    await clustered.maintain({ idle: true })
    const wanted = vector()
    const nearest = async (limit: number): Promise<string[]> =>
      (await clustered.search({ vector: wanted, filter: { pairs: [2] }, limit })).map(({ documentId }) => documentId)
    const first = await nearest(10)
    expect(first).toHaveLength(10)
    expect(first.every((id) => Number(id.slice(1)) % 40 === 0)).toBe(true)
    expect(compared).toHaveBeenCalled()
    for (let round = 0; round < 3; round++) expect(await nearest(10)).toEqual(first)
    expect((await nearest(60)).slice(0, 10)).toEqual(first)

    const other = lancedbIndex({ folder })
    await other.open({ id: 'few@8', dimensions: 8 })
    await other.append([row('nearest', 'A heron.', { pairs: [2], vector: wanted })])
    await other.close()
    for (let round = 0; round < 3; round++) expect(await nearest(10)).toEqual(['nearest', ...first.slice(0, 9)])
    // Now only others may read it.
    await clustered.remove([row('nearest', '').generation])
    await clustered.append([row('nearest', 'A heron.', { pairs: [1], vector: wanted })])
    for (let round = 0; round < 3; round++) expect(await nearest(10)).toEqual(first)
  } finally {
    await clustered.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
})
