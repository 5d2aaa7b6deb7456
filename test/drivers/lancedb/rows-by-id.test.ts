import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hit, VectorIndex } from '@inlay/knowledge'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { isPassing, loadEngine, type Engine } from '@inlay/drivers/internal/lancedb/engine'
import { rowsById, type FoundId } from '@inlay/drivers/internal/lancedb/filtered-search'
import { schemaOf, toArrow } from '@inlay/drivers/internal/lancedb/rows'
import { afterAll, expect, it } from 'vitest'
import { row } from './sample-rows.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-rows-by-id-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const space = { id: 'test', dimensions: 2 }
type EngineTable = Awaited<ReturnType<Awaited<ReturnType<Engine['lancedb']['connect']>>['createEmptyTable']>>

/** A table of ten rows, each in a separate file. */
async function tableOf(name: string): Promise<{ table: EngineTable; ids: bigint[] }> {
  const engine = await loadEngine()
  const connection = await engine.lancedb.connect(join(root, name), { readConsistencyInterval: 0 })
  const schema = schemaOf(engine, space)
  const table = await connection.createEmptyTable('chunks', schema)
  for (let n = 0; n < 10; n++)
    await table.add(toArrow(engine, schema, [row(`d${n}`, `Heron ${n}.`, { vector: Float32Array.of(n, 1) })]))
  const all = (await table.query().withRowId().select(['_rowid']).toArray()) as FoundId[]
  return { table, ids: all.map(({ _rowid }) => _rowid) }
}

const textsOf = (rows: readonly { readonly hit: Hit }[]): string[] => rows.map(({ hit }) => hit.text)

it('rows come in the order of their ids, with their vectors if these are wanted', async () => {
  const { table, ids } = await tableOf('order')
  expect(textsOf(await rowsById(table, [ids[3]!, ids[1]!], []))).toEqual(['Heron 3.', 'Heron 1.'])
  expect((await rowsById(table, [ids[4]!], ['vector']))[0]!.vector).toEqual(Float32Array.of(4, 1))
  expect((await rowsById(table, [ids[4]!], []))[0]!.vector).toBeUndefined()
})

it('rows that were deleted or moved meanwhile are worth another search, not a shorter list', async () => {
  const { table, ids } = await tableOf('moved')
  await table.delete(`document_id = 'd5'`)
  const failureOf = (reading: Promise<unknown>): Promise<unknown> =>
    reading.then(
      () => undefined,
      (error) => error,
    )
  expect(isPassing(await failureOf(rowsById(table, ids, [])))).toBe(true)
  await table.optimize({ cleanupOlderThan: new Date() })
  expect(isPassing(await failureOf(rowsById(table, [ids[1]!], [])))).toBe(true)
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
