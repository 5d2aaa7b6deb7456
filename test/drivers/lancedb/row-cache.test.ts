import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hit, VectorIndex } from '@inlay/knowledge'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { isPassing, loadEngine, type Engine } from '@inlay/drivers/internal/lancedb/engine'
import { RowCache, type FoundId } from '@inlay/drivers/internal/lancedb/row-cache'
import { schemaOf, toArrow } from '@inlay/drivers/internal/lancedb/rows'
import { afterAll, expect, it } from 'vitest'
import { row } from './sample-rows.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-row-cache-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const space = { id: 'test', dimensions: 2 }
type EngineTable = Awaited<ReturnType<Awaited<ReturnType<Engine['lancedb']['connect']>>['createEmptyTable']>>

/** A table of ten rows, each in a file of its own, and how often rows were read from it. */
async function tableOf(name: string): Promise<{ table: EngineTable; ids: FoundId[]; reads: () => number }> {
  const engine = await loadEngine()
  const connection = await engine.lancedb.connect(join(root, name), { readConsistencyInterval: 0 })
  const schema = schemaOf(engine, space)
  const table = await connection.createEmptyTable('chunks', schema)
  for (let n = 0; n < 10; n++)
    await table.add(toArrow(engine, schema, [row(`d${n}`, `Heron ${n}.`, { vector: Float32Array.of(n, 1) })]))
  const all = (await table.query().withRowId().select(['_rowid']).toArray()) as FoundId[]
  let count = 0
  const take = table.takeRowIds.bind(table)
  table.takeRowIds = (ids) => (count++, take(ids))
  return { table, ids: all.map(({ _rowid }) => ({ _rowid })), reads: () => count }
}

const textsOf = (rows: readonly { readonly hit: Hit }[]): string[] => rows.map(({ hit }) => hit.text)

it('rows come in the order of their ids, and are read once', async () => {
  const { table, ids, reads } = await tableOf('order')
  const cache = new RowCache(table)
  expect(textsOf(await cache.read([ids[3]!, ids[1]!], []))).toEqual(['Heron 3.', 'Heron 1.'])
  expect(textsOf(await cache.read([ids[1]!, ids[2]!, ids[3]!], []))).toEqual(['Heron 1.', 'Heron 2.', 'Heron 3.'])
  expect(textsOf(await cache.read([ids[2]!, ids[1]!], []))).toEqual(['Heron 2.', 'Heron 1.'])
  expect(reads()).toBe(2)
})

it('a row that was read without its vector is read again when that is wanted', async () => {
  const { table, ids, reads } = await tableOf('vectors')
  const cache = new RowCache(table)
  await cache.read([ids[4]!], [])
  expect((await cache.read([ids[4]!], ['vector']))[0]!.vector).toEqual(Float32Array.of(4, 1))
  expect((await cache.read([ids[4]!], []))[0]!.hit.text).toBe('Heron 4.')
  expect(reads()).toBe(2)
})

it('rows that came with their columns are not read again, and searches ask for ids alone once most rows are here', async () => {
  const { table, ids, reads } = await tableOf('warm')
  const cache = new RowCache(table)
  const whole = (await table.query().withRowId().select(['text', 'card', '_rowid']).toArray()) as FoundId[]
  expect(textsOf(await cache.read(whole, []))).toEqual(whole.map(({ text }) => text))
  expect([cache.isWarm, reads()]).toEqual([false, 0])
  for (let search = 0; search < 30; search++) await cache.read(ids, [])
  expect([cache.isWarm, reads()]).toEqual([true, 0])
  cache.remove(new Set(ids.map((_, n) => `generation of d${n}`)))
  for (const id of ids) await cache.read([id], [])
  expect(cache.isWarm).toBe(false)
})

it('holds so many characters, and forgets first what was used longest ago', async () => {
  const { table, ids, reads } = await tableOf('bound')
  // Room for three rows of eight characters, two of metadata and 500 beside.
  const cache = new RowCache(table, 3 * 510)
  for (const n of [0, 1, 2, 0, 3]) await cache.read([ids[n]!], [])
  expect(reads()).toBe(4)
  await cache.read([ids[0]!, ids[2]!, ids[3]!], [])
  expect(reads()).toBe(4)
  await cache.read([ids[1]!], [])
  expect(reads()).toBe(5)
})

it('rows that were deleted or moved meanwhile are worth another search, not a shorter list', async () => {
  const { table, ids } = await tableOf('moved')
  await table.delete(`document_id = 'd5'`)
  const failureOf = (reading: Promise<unknown>): Promise<unknown> =>
    reading.then(
      () => undefined,
      (error) => error,
    )
  expect(isPassing(await failureOf(new RowCache(table).read(ids, [])))).toBe(true)
  await table.optimize({ cleanupOlderThan: new Date() })
  expect(isPassing(await failureOf(new RowCache(table).read([ids[1]!], [])))).toBe(true)
})

it('generations that are removed are forgotten', async () => {
  const { table, ids, reads } = await tableOf('removed')
  const cache = new RowCache(table)
  await cache.read(ids, [])
  cache.remove(new Set(['generation of d2', 'generation of d7']))
  await cache.read(ids, [])
  expect(reads()).toBe(2)
})

it('an index that is searched all along finds what one that was just opened finds', async () => {
  const folder = join(root, 'index')
  const index = lancedbIndex({ folder, keepVersionsMs: 0, purgeMs: 0 })
  await index.open()
  const birds = ['heron', 'stork', 'crane', 'ibis']
  const hitsOf = async (of: VectorIndex, text: string): Promise<string[]> =>
    (await of.search({ text, limit: 50 })).map((hit) => `${hit.score.toFixed(6)} ${hit.generation} ${hit.text}`).sort()
  for (let round = 0; round < 7; round++) {
    const version = (n: number, at: number) =>
      row(`d${n}`, `A ${birds[(n + at) % 4]} and a ${birds[(n * at) % 4]}.`, { generation: `${n} of ${at}` })
    await index.append([0, 1, 2].map((n) => version((round + n) % 9, round)))
    const old = [0, 1, 2].map((n) => `${(round + n) % 9} of ${round - 1}`)
    await index.remove(old)
    if (round % 3 === 0) await index.maintain({ idle: true })
    const fresh = lancedbIndex({ folder, keepVersionsMs: 0, purgeMs: 0 })
    await fresh.open()
    for (const bird of birds) expect(await hitsOf(index, bird)).toEqual(await hitsOf(fresh, bird))
    await fresh.close()
  }
  await index.close()
})
