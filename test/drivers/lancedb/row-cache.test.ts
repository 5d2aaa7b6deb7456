import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MatchQuery, type Table } from '@lancedb/lancedb'
import { loadEngine } from '@inlay/drivers/internal/lancedb/engine'
import type { FoundId } from '@inlay/drivers/internal/lancedb/filtered-search'
import { createRowCache, type RowCache } from '@inlay/drivers/internal/lancedb/row-cache'
import { schemaOf, toArrow } from '@inlay/drivers/internal/lancedb/rows'
import { createIndexes } from '@inlay/drivers/internal/lancedb/table'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { row } from './sample-rows.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-row-cache-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))

interface Cached {
  readonly table: Table
  readonly ids: readonly bigint[]
  readonly cache: RowCache
  /** Ids that were read from the table. */
  readonly reads: bigint[]
}

async function cached(name: string, texts: readonly string[]): Promise<Cached> {
  const engine = await loadEngine()
  const connection = await engine.lancedb.connect(join(root, name), { readConsistencyInterval: 0 })
  const schema = schemaOf(engine, { id: 'test', dimensions: 2 })
  const table = await connection.createEmptyTable('chunks', schema)
  const rows = texts.map((text, n) => row(`d${n}`, text, { vector: Float32Array.of(n, 1) }))
  await table.add(toArrow(engine, schema, rows))
  const stored = (await table.query().withRowId().select(['_rowid']).toArray()) as FoundId[]
  const reads: bigint[] = []
  const take = table.takeRowIds.bind(table)
  vi.spyOn(table, 'takeRowIds').mockImplementation((ids) => {
    reads.push(...(ids as bigint[]))
    return take(ids)
  })
  return { table, ids: stored.map(({ _rowid }) => _rowid), cache: createRowCache(table), reads }
}

it('reads each row once, in whatever order it is found again', async () => {
  const { ids, cache, reads } = await cached('once', ['Heron.', 'Stork.', 'Crane.'])
  const textsOf = async (wanted: readonly number[]): Promise<string[]> =>
    (
      await cache.read(
        wanted.map((at) => ids[at]!),
        [],
      )
    ).map(({ hit }) => hit.text)
  expect(await textsOf([2, 0])).toEqual(['Crane.', 'Heron.'])
  expect(await textsOf([0, 1, 2])).toEqual(['Heron.', 'Stork.', 'Crane.'])
  expect(await textsOf([])).toEqual([])
  expect(reads).toEqual([ids[2], ids[0], ids[1]])
})

it('reads a row again for its vector, and then has both', async () => {
  const { ids, cache, reads } = await cached('vectors', ['Heron.', 'Stork.'])
  expect((await cache.read([ids[1]!], []))[0]!.vector).toBeUndefined()
  expect((await cache.read([ids[1]!], ['vector']))[0]!.vector).toEqual(Float32Array.of(1, 1))
  expect((await cache.read([ids[1]!], []))[0]!.hit.text).toBe('Stork.')
  expect((await cache.read([ids[1]!], ['vector']))[0]!.vector).toEqual(Float32Array.of(1, 1))
  expect(reads).toEqual([ids[1], ids[1]])
})

it('keeps the vector of a row that was read without it at the same time', async () => {
  const { table, ids, cache, reads } = await cached('both', ['Heron.'])
  const release = Promise.withResolvers<void>()
  const take = table.takeRowIds.bind(table)
  vi.spyOn(table, 'takeRowIds').mockImplementationOnce((wanted) => {
    const query = take(wanted)
    const toArray = query.toArray.bind(query)
    query.toArray = async () => release.promise.then(() => toArray())
    return query
  })
  const last = cache.read(ids, [])
  await cache.read(ids, ['vector'])
  release.resolve()
  await last
  await cache.read(ids, ['vector'])
  expect(reads).toHaveLength(2)
})

it('keeps about eight megabytes, of the rows found last', async () => {
  const { ids, cache, reads } = await cached(
    'bytes',
    Array.from({ length: 5 }, () => 'reed '.repeat(500_000)),
  )
  for (const at of [0, 1, 2]) await cache.read([ids[at]!], [])
  await cache.read([ids[0]!], [])
  expect(reads).toEqual([ids[0], ids[1], ids[2]])
  await cache.read([ids[3]!], [])
  reads.length = 0
  await cache.read([ids[0]!, ids[2]!, ids[3]!], [])
  expect(reads).toEqual([])
  await cache.read([ids[1]!], [])
  expect(reads).toEqual([ids[1]])
})

it('forgets the rows after ten seconds, since another process may make the table anew', async () => {
  const { ids, cache, reads } = await cached('age', ['Heron.'])
  const clock = vi.spyOn(performance, 'now')
  onTestFinished(() => clock.mockRestore())
  const readAt = async (time: number): Promise<number> => {
    clock.mockReturnValue(time)
    await cache.read([ids[0]!], [])
    return reads.length
  }
  expect([await readAt(100_000), await readAt(109_000), await readAt(111_000)]).toEqual([1, 1, 2])
})

it('finds rows by their ids alone once most of what is found is known, and until then with their content', async () => {
  const { table, cache, reads } = await cached('find', ['Heron one.', 'Heron two.', 'Stork.'])
  await createIndexes(await loadEngine(), table)
  await table.optimize()
  const ways: string[] = []
  const find = async (word: string): Promise<string[]> => {
    const query = table.query().fullTextSearch(new MatchQuery(word, 'search_text'))
    const select = query.select.bind(query)
    vi.spyOn(query, 'select').mockImplementation((columns) => {
      ways.push((columns as string[]).includes('text') ? 'with content' : 'ids')
      return select(columns)
    })
    const matches = await cache.find(query, { filter: undefined, columns: ['vector'], score: '_score', limit: 10 })
    return matches.map(({ row: { hit, vector }, score }) => `${hit.text} ${vector?.join()} ${score! > 0}`).toSorted()
  }
  const herons = ['Heron one. 0,1 true', 'Heron two. 1,1 true']
  for (let round = 0; round < 6; round++) expect(await find('heron')).toEqual(herons)
  expect(ways.slice(0, 2)).toEqual(['with content', 'with content'])
  expect(ways.at(-1)).toBe('ids')
  expect(reads).toEqual([])
  expect(await find('stork')).toEqual(['Stork. 2,1 true'])
  expect(reads).toHaveLength(1)
})

it('does not take rows for found that were deleted before they were read', async () => {
  const { table, ids, cache } = await cached('deleted', ['Heron.', 'Stork.'])
  await table.delete(`document_id = 'd0'`)
  await expect(cache.read([ids[0]!, ids[1]!], [])).rejects.toThrow('not found')
})
