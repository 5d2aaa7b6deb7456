import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@lancedb/lancedb'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import type { VectorIndex } from '@inlay/knowledge'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { zipfText } from '../../../bench/zipf-text.ts'
import { row } from '../sample-rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'inlay-engine-ranking-'))
const zipf = zipfText(11, 4000)
const texts = Array.from({ length: 1200 }, () => zipf.text(60))
const limit = 100
let index: VectorIndex

beforeAll(async () => {
  index = lancedbIndex({ folder })
  await index.open()
  await index.append(texts.map((text, n) => row(`d${n}`, text)))
  await index.maintain({ idle: true })
})
afterAll(async () => {
  await index.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** Hits of the engine's own full text search, and the score from which a row must be among the first. */
async function engineHits(text: string): Promise<{ id: string; score: number }[]> {
  const connection = await connect(folder)
  const [name] = await connection.tableNames()
  const table = await connection.openTable(name!)
  const columns = ['document_id', '_score']
  const rows = await table.query().fullTextSearch(text).select(columns).limit(limit).toArray()
  connection.close()
  return rows.map(({ document_id, _score }) => ({ id: String(document_id), score: Number(_score) }))
}

/** Five words that some row holds, from rare to frequent. */
const questions = texts.slice(0, 12).map((text) => {
  const words = text.split(' ').filter((word) => word.length > 4)
  return words.slice(0, 5).join(' ')
})

// No spelling near a word that rows hold, and no second look, may push a row out that the words alone find.
test.each([...questions, `${questions[0]} wwwwwwwwwwww`])(
  'the first hundred rows for %j are those of the engine',
  async (text) => {
    const own = await engineHits(text)
    const last = own.at(-1)!.score
    // Rows with the score of the last one are interchangeable.
    const certain = own.filter(({ score }) => score > last * 1.000_01).map(({ id }) => id)
    const ids = new Set((await index.search({ text, limit })).map(({ documentId }) => documentId))
    expect(certain.length).toBeGreaterThan(20)
    expect(ids.size).toBe(own.length)
    expect(certain.filter((id) => !ids.has(id))).toEqual([])
  },
)
