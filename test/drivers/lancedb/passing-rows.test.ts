import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Query, TakeQuery, type Table } from '@lancedb/lancedb'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { loadEngine, type Engine } from '@inlay/drivers/internal/lancedb/engine'
import { passingRows } from '@inlay/drivers/internal/lancedb/passing-rows'
import { schemaOf, toArrow } from '@inlay/drivers/internal/lancedb/rows'
import { nearestOf, vectorsOf } from '@inlay/drivers/internal/hybrid-search/row-vectors'
import { createIndexes } from '@inlay/drivers/internal/lancedb/table'
import { cosine } from '@inlay/drivers/internal/hybrid-search/fusion'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { seededRandom } from '../../bench/typos.ts'
import { row } from './sample-rows.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-passing-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))

const space = { id: 'test', dimensions: 2 }
const filter = { tags: [['team=3']] }

/** Rows of ever more words, of which the first is `heron`; each tenth is of the team. */
async function heronTable(name: string): Promise<{ engine: Engine; table: Table }> {
  const engine = await loadEngine()
  const connection = await engine.lancedb.connect(join(root, name), { readConsistencyInterval: 0 })
  const schema = schemaOf(engine, space)
  const table = await connection.createEmptyTable('chunks', schema)
  const rows = Array.from({ length: 1_000 }, (_, n) =>
    row(`d${n}`, `Heron${' reed'.repeat(n)}.`, { tags: [`team=${n % 10}`], vector: Float32Array.of(n, 1) }),
  )
  for (const half of [rows.slice(0, 500), rows.slice(500)]) await table.add(toArrow(engine, schema, half))
  await createIndexes(engine, table)
  await table.optimize()
  return { engine, table }
}

it('the few rows that pass are read once, and again after a write', async () => {
  const { engine, table } = await heronTable('few')
  const read = vi.spyOn(table, 'query')
  const few = async (extra: string[]): Promise<number | undefined> =>
    (await (await passingRows(table, filter))!.few(extra))?.rows.size
  expect(await few(['vector'])).toBeUndefined()
  for (let round = 0; round < 3; round++) expect(await few(['vector'])).toBe(100)
  // Rows cached with vectors are used without them, too.
  expect(await few([])).toBe(100)
  expect(read).toHaveBeenCalledTimes(1)

  const added = row('d1000', 'Heron.', { tags: ['team=3'], vector: Float32Array.of(1, 1) })
  await table.add(toArrow(engine, schemaOf(engine, space), [added]))
  expect(await few(['vector'])).toBeUndefined()
  expect(await few(['vector'])).toBe(101)
  expect(read).toHaveBeenCalledTimes(2)
  expect(await passingRows(table, { createdAt: { start: 0 } })).toBeUndefined()
})

it('keeps rows up to a number of bytes, and forgets those of the filter used longest ago first', async () => {
  const engine = await loadEngine()
  const connection = await engine.lancedb.connect(join(root, 'bytes'), { readConsistencyInterval: 0 })
  const schema = schemaOf(engine, space)
  const table = await connection.createEmptyTable('chunks', schema)
  // Each team has 80 rows of 100,000 characters; three teams fit.
  const text = 'reed '.repeat(20_000)
  for (let team = 0; team < 5; team++) {
    const rows = Array.from({ length: 80 }, (_, n) =>
      row(`d${team}-${n}`, text, { tags: [`team=${team}`], vector: Float32Array.of(n, 1) }),
    )
    await table.add(toArrow(engine, schema, rows))
  }
  const isKept = async (team: number): Promise<boolean> =>
    (await (await passingRows(table, { tags: [[`team=${team}`]] }))!.few([])) !== undefined
  // Nothing is read at the first search of a version.
  const read = async (team: number): Promise<void> => {
    expect(await isKept(team)).toBe(false)
    expect(await isKept(team)).toBe(true)
  }
  await read(0)
  await read(1)
  await read(2)
  // Searching again counts nothing twice.
  for (let round = 0; round < 4; round++) for (const team of [1, 2, 0]) expect(await isKept(team)).toBe(true)
  await read(3)
  for (const team of [2, 0, 3]) expect(await isKept(team)).toBe(true)
  // The one used longest ago went, and reading it again takes the place of the next one alone.
  await read(1)
  for (const team of [0, 3, 1]) expect(await isKept(team)).toBe(true)
  expect(await isKept(2)).toBe(false)
})

it('a search by words reads no row of a narrow filter that an earlier search of the version had', async () => {
  const folder = join(root, 'words')
  const index = lancedbIndex({ folder })
  await index.open()
  onTestFinished(() => index.close())
  const rows = Array.from({ length: 400 }, (_, n) => row(`d${n}`, `Heron ${n}.`, { pairs: [n % 10 ? 1 : 2] }))
  await index.append(rows)
  await index.maintain({ idle: true })
  const idsFor = async (): Promise<string[]> =>
    (await index.search({ text: 'heron', filter: { pairs: [2] }, limit: 50 }))
      .map(({ documentId }) => documentId)
      .sort()
  const expected = rows.filter(({ pairs }) => pairs[0] === 2).map(({ documentId }) => documentId)
  for (let round = 0; round < 2; round++) expect(await idsFor()).toEqual(expected.sort())
  const [selected, taken] = [vi.spyOn(Query.prototype, 'select'), vi.spyOn(TakeQuery.prototype, 'select')]
  onTestFinished(() => void vi.restoreAllMocks())
  expect(await idsFor()).toEqual(expected)
  expect(selected.mock.calls).toEqual([[['_rowid', '_score']]])
  expect(taken).not.toHaveBeenCalled()

  const other = lancedbIndex({ folder })
  await other.open()
  await other.append([row('new', 'Heron.', { pairs: [2] })])
  await other.remove([row('d0', '').generation])
  await other.close()
  for (let round = 0; round < 3; round++) expect(await idsFor()).toEqual([...expected.slice(1), 'new'])
})

it('the nearest of some vectors are those of the greatest cosine', () => {
  const random = seededRandom(4)
  const vector = (): Float32Array => Float32Array.from({ length: 7 }, () => random() - 0.5)
  const vectors = [...Array.from({ length: 40 }, vector), new Float32Array(7)]
  const wanted = vector()
  const nearest = nearestOf(
    wanted,
    vectorsOf(
      vectors.map((_, n) => BigInt(n)),
      vectors,
    ),
    10,
  )
  const expected = vectors.map((each) => cosine(wanted, each)).sort((a, b) => b - a)
  expect(nearest).toHaveLength(10)
  for (const [at, { id, nearness }] of nearest.entries()) {
    expect(nearness).toBeCloseTo(expected[at]!, 12)
    expect(nearness).toBeCloseTo(cosine(wanted, vectors[Number(id)]!), 12)
  }
  expect(nearestOf(new Float32Array(7), vectorsOf([1n], [wanted]), 10)).toEqual([{ id: 1n, nearness: 0 }])
  expect(nearestOf(wanted, vectorsOf([], []), 10)).toEqual([])
})
