import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, VectorQuery } from '@lancedb/lancedb'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import type { IndexFilter, VectorIndex } from '@inlay/knowledge'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { seededRandom } from '../../bench/typos.ts'
import { row } from './sample-rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'inlay-many-passing-'))
const [rowCount, dimensions, centreCount] = [60_000, 32, 200]
let index: VectorIndex
const random = seededRandom(9)
const noise = (): Float32Array => Float32Array.from({ length: dimensions }, () => random() - 0.5)
const centres = Array.from({ length: centreCount }, noise)
const near = (centre: number): Float32Array => noise().map((value, at) => centres[centre]![at]! + 0.5 * value)

beforeAll(async () => {
  index = lancedbIndex({ folder, vectorIndexRows: 2_000, exactVectorBytes: 1 })
  await index.open({ id: 'clusters@32', dimensions })
  // A fifth has the first tag, spread over all vectors; the second tag has the first fifth of the centres to itself.
  const rows = Array.from({ length: rowCount }, (_, n) => {
    const centre = n % centreCount
    const tags = [`fifth=${Math.floor(n / centreCount) % 5}`, `centres=${Math.floor((5 * centre) / centreCount)}`]
    return row(`d${n}`, 'A heron.', { tags, pairs: n % 3 ? [1] : [2], vector: near(centre) })
  })
  for (let at = 0; at < rowCount; at += 5_000) await index.append(rows.slice(at, at + 5_000))
  await index.maintain({ idle: true })
}, 600_000)
afterAll(async () => {
  await index.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

async function nearest(vector: Float32Array, condition: string): Promise<string[]> {
  const table = await (await connect(folder)).openTable('chunks')
  expect((await table.listIndices()).find(({ columns }) => columns[0] === 'vector')?.indexType).toBe('IvfRq')
  const search = table.query().nearestTo(vector).distanceType('cosine').bypassVectorIndex().where(condition)
  const rows = await search.select(['document_id', '_distance']).limit(10).toArray()
  return rows.map(({ document_id: id }) => id)
}

test.each<[string, IndexFilter, string]>([
  ['a fifth of the rows', { tags: [['fifth=3']] }, "array_has_any(tags, ['fifth=3'])"],
  ['two thirds', { pairs: [1] }, "array_has_any(pairs, arrow_cast([1], 'List(Int32)'))"],
])('of %s the nearest are found, past all that do not pass', async (_, filter, condition) => {
  const past = vi.spyOn(VectorQuery.prototype, 'postfilter')
  let same = 0
  for (let n = 0; n < 20; n++) {
    const vector = near((7 * n) % centreCount)
    const expected = await nearest(vector, condition)
    const hits = await index.search({ vector, filter, limit: 10 })
    expect(hits).toHaveLength(10)
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).sort((a, b) => b - a))
    same += hits.filter(({ documentId }) => expected.includes(documentId)).length
  }
  expect(past).toHaveBeenCalled()
  expect(same / 200).toBeGreaterThanOrEqual(0.95)
  vi.restoreAllMocks()
})

test('a fifth of the rows is found where none of the nearest is of it', async () => {
  for (let centre = 60; centre < 80; centre++) {
    const hits = await index.search({ vector: near(centre), filter: { tags: [['centres=0']] }, limit: 10 })
    expect(hits).toHaveLength(10)
    expect(hits.every(({ documentId }) => Number(documentId.slice(1)) % centreCount < centreCount / 5)).toBe(true)
  }
})
