import { expect, test } from 'vitest'
import {
  decodeChunkMetadata,
  documentMetadataOf,
  encodeChunkMetadata,
  withChunk,
} from '@inlay/knowledge/internal/chunking/chunk-metadata'
import { request } from '../setup.ts'

const chunk = { headings: ['H'], link: null, imageFileId: null }

test('chunk metadata carries all of ordinary metadata', () => {
  const { document } = request({ metadata: { a: 'b', list: ['c', 'd'], empty: '' } })
  const metadata = withChunk(documentMetadataOf(document), { ...chunk, link: 'https://a', imageFileId: 'picture' })
  expect(decodeChunkMetadata(encodeChunkMetadata(metadata))).toEqual({
    semanticIdentifier: 'A document',
    metadata: { a: 'b', list: ['c', 'd'], empty: '' },
    link: 'https://a',
    headings: ['H'],
    imageId: 'picture',
  })
})

test('chunk metadata stays small whatever the document carries', () => {
  const long = '🦀'.repeat(1e6)
  const owner = { display_name: long, first_name: null, middle_initial: null, last_name: null, email: null }
  const { document } = request({
    semantic_identifier: long,
    title: long,
    file_id: long,
    metadata: { short: 'kept', long, list: ['kept', ...Array.from({ length: 100_000 }, (_, at) => String(at))] },
    primary_owners: Array.from({ length: 1000 }, () => owner),
  })
  const metadata = withChunk(documentMetadataOf(document), { ...chunk, link: `https://${long}` })
  const json = encodeChunkMetadata(metadata)
  expect(json.length).toBeLessThan(40_000)
  expect(json.isWellFormed()).toBe(true)
  expect(metadata.metadata).toMatchObject({ short: 'kept', list: expect.arrayContaining(['kept', '0', '1']) })
  expect(metadata.metadata).not.toHaveProperty('long')
  expect(metadata.link).toBeUndefined()
})
