import type { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { pgvectorIndex } from '@inlay/drivers/pgvector'
import type { VectorIndex } from '@inlay/knowledge'
import { vectorIndexConformance } from '@inlay/conformance'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seededRandom } from '../../bench/typos.ts'
import { row } from '../lancedb/sample-rows.ts'
import { folded } from '../index-states.ts'
import { startPostgres } from '../../stand-in/pglite.ts'

let database: PGlite
beforeAll(async () => {
  database = await startPostgres({ extensions: { vector } })
  // With few rows all would be compared, without the index.
  await database.exec('set enable_seqscan = off; set enable_sort = off; set enable_bitmapscan = off')
})
afterAll(() => database.close())

describe('conformance of an index whose vectors are always in HNSW', () => {
  const make = (store: string): VectorIndex => {
    const prefix = `hnsw_${store.replace(/[^a-z0-9]/gi, '_')}`.slice(0, 40)
    return folded(pgvectorIndex({ client: database, prefix, vectorIndexRows: 0 }))
  }
  for (const [title, run] of vectorIndexConformance(make)) test(title, run)
})

test('HNSW leaves out no row that a filter lets through', async () => {
  const index = pgvectorIndex({ client: database, prefix: 'hnsw_half', vectorIndexRows: 1000 })
  await index.open({ id: 'random@16', dimensions: 16 })
  const random = seededRandom(5)
  const direction = (): Float32Array => Float32Array.from({ length: 16 }, () => random() - 0.5)
  // The caller may see half of the rows: those that are far from the query.
  const query = direction()
  const rows = Array.from({ length: 6000 }, (_, n) => {
    const isHidden = n % 2 === 0
    const near = direction().map((value, at) => (isHidden ? query[at]! + value / 10 : value))
    return row(`d${n}`, `Row ${n}.`, { vector: near, pairs: [isHidden ? 1 : 2] })
  })
  for (let at = 0; at < rows.length; at += 1000) await index.append(rows.slice(at, at + 1000))
  const ask = async (pairs: number[] | undefined, limit: number): Promise<string[]> =>
    (await index.search({ vector: query, limit, ...(pairs ? { filter: { pairs } } : {}) })).map((hit) => hit.documentId)
  const before = { few: await ask([2], 10), many: await ask([2], 400), all: await ask(undefined, 100) }
  await index.maintain({ idle: true })
  const after = { few: await ask([2], 10), many: await ask([2], 400), all: await ask(undefined, 100) }
  for (const kind of ['few', 'many', 'all'] as const) {
    expect(after[kind]).toHaveLength(before[kind].length)
    const kept = after[kind].filter((id) => before[kind].includes(id)).length
    expect(kept / before[kind].length).toBeGreaterThan(0.9)
  }
  await index.close()
})
