import type { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { pgvectorIndex } from '@inlay/drivers/pgvector'
import { vectorIndexConformance } from '@inlay/conformance'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { row } from '../lancedb/sample-rows.ts'
import { startPostgres } from '../../stand-in/pglite.ts'

let database: PGlite
beforeAll(async () => {
  database = await startPostgres({ extensions: { vector } })
})
afterAll(() => database.close())

const prefixOf = (store: string): string => `laws_${store.replace(/[^a-z0-9]/gi, '_')}`.slice(0, 40)

describe('conformance of a vector index', () => {
  for (const [title, run] of vectorIndexConformance((store) =>
    pgvectorIndex({ client: database, prefix: prefixOf(store) }),
  ))
    test(title, run)
})

test('a rare word outweighs a frequent one', async () => {
  const index = pgvectorIndex({ client: database, prefix: 'rare' })
  await index.open()
  await index.append([
    ...Array.from({ length: 20 }, (_, at) =>
      row(`common${at}`, 'The server restarts the server when the server is idle.'),
    ),
    row('special', 'Quokkas restart nothing, yet the page on quokkas mentions a server once among many other words.'),
  ])
  const hits = await index.search({ text: 'server quokka', limit: 3 })
  expect(hits[0]).toMatchObject({ documentId: 'special', score: 1 })
  await index.close()
})

test('of words in more rows than are ranked, the rows with a rare word or with all of them come first', async () => {
  const index = pgvectorIndex({ client: database, prefix: 'frequent' })
  await index.open()
  const rows = (count: number, name: string, text: string) =>
    index.append(Array.from({ length: count }, (_, at) => row(`${name}${at}`, text)))
  await rows(11_000, 'server', 'The server restarts.')
  await rows(11_000, 'disk', 'The disk is full.')
  await rows(1, 'both', 'The disk of one server.')
  await rows(1, 'rare', 'A quokka at one server.')
  // With the statistics that a server gathers by itself, and without.
  for (const statement of ['select 1', 'analyze frequent_rows']) {
    await database.query(statement)
    const find = async (text: string) => (await index.search({ text, limit: 3 })).map(({ documentId: id }) => id)
    expect((await find('server disk'))[0]).toBe('both0')
    const hits = await find('server quokka')
    expect(hits[0]).toBe('rare0')
    expect(hits).toHaveLength(3)
  }
  await index.close()
})

test('in a table that can be ranked whole, a row with the most frequent word alone may come first', async () => {
  const index = pgvectorIndex({ client: database, prefix: 'whole' })
  await index.open()
  const rows = (count: number, name: string, text: string) =>
    Array.from({ length: count }, (_, at) => row(`${name}${at}`, text))
  const filler = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen'
  await index.append(rows(2_000, 'both', `The disk of a printer: ${filler}.`))
  await index.append(rows(2_200, 'server', `A server: ${filler}.`))
  await index.append(rows(1, 'best', 'Server, server, server.'))
  const hits = await index.search({ text: 'server disk printer', limit: 3 })
  expect(hits[0]!.documentId).toBe('best0')
  await index.close()
})

test('a misspelt word finds the words spelt alike', async () => {
  const index = pgvectorIndex({ client: database, prefix: 'spelling' })
  await index.open()
  await index.append([row('panther', 'A panther sleeps.'), row('other', 'A painter works.')])
  expect((await index.search({ text: 'panhter', limit: 5 }))[0]?.documentId).toBe('panther')
  await index.close()
})

test('table prefixes and languages that are no plain names are refused', async () => {
  expect(() => pgvectorIndex({ client: database, prefix: 'x; drop table y' })).toThrow(/prefix/)
  const index = pgvectorIndex({ client: database, prefix: 'lang', language: "english'" })
  await expect(index.open()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('a failure of the database says nothing of its SQL', async () => {
  const index = pgvectorIndex({
    client: { query: async () => Promise.reject(new Error('syntax error at or near "secret"')) },
  })
  await expect(index.open()).rejects.toSatisfy(
    (error) => (error as { code: string }).code === 'SERVICE_UNAVAILABLE' && !String(error).includes('secret'),
  )
})
