import { expect, test } from 'vitest'
import { readCard, toChunkCard, toDocumentCard } from '@inlay/knowledge/internal/chunking/chunk-metadata'
import { request } from '../setup.ts'

const chunk = { headings: ['H'], link: null, imageFileId: null }

test('a card carries all of ordinary metadata', () => {
  const { document } = request({ metadata: { a: 'b', list: ['c', 'd'], empty: '' } })
  const card = toChunkCard(toDocumentCard(document), { ...chunk, link: 'https://a', imageFileId: 'picture' })
  expect(readCard(JSON.stringify(card))).toEqual({
    s: 'A document',
    m: { a: 'b', list: ['c', 'd'], empty: '' },
    l: 'https://a',
    h: ['H'],
    i: 'picture',
  })
})

test('a card stays small whatever the document carries', () => {
  const long = '🦀'.repeat(1e6)
  const owner = { display_name: long, first_name: null, middle_initial: null, last_name: null, email: null }
  const { document } = request({
    semantic_identifier: long,
    title: long,
    file_id: long,
    metadata: { short: 'kept', long, list: ['kept', ...Array.from({ length: 100_000 }, (_, at) => String(at))] },
    primary_owners: Array.from({ length: 1000 }, () => owner),
  })
  const card = toChunkCard(toDocumentCard(document), { ...chunk, link: `https://${long}` })
  const json = JSON.stringify(card)
  expect(json.length).toBeLessThan(40_000)
  expect(json.isWellFormed()).toBe(true)
  expect(card.m).toMatchObject({ short: 'kept', list: expect.arrayContaining(['kept', '0', '1']) })
  expect(card.m).not.toHaveProperty('long')
  expect(card.l).toBeUndefined()
})
