import { readLargeRequest, type IngestionRequest, type Section } from '@inlay/protocol'
import { addForegroundCalls } from '@inlay/scheduling'
import { describe, expect, test } from 'vitest'
import { decodeChunkMetadata } from '@inlay/knowledge/internal/chunking/chunk-metadata'
import { chunkSections } from '@inlay/knowledge/internal/chunking/chunk'
import {
  largeCharacters,
  sweepLargeContents,
  toLargeContent,
  writeLargeContent,
} from '@inlay/knowledge/internal/intake/large-content'
import { createIntake } from '@inlay/knowledge/internal/intake/commit-documents'
import { toVersion } from '@inlay/knowledge/internal/intake/read-document'
import type { Records } from '@inlay/knowledge/internal/schema/tables'
import { createMaintainer } from '@inlay/knowledge/internal/upkeep/maintainer'
import { openOnUse } from '@inlay/knowledge/internal/reindexing/index-space'
import { memoryIndex } from '../memory-index.ts'
import { makeKnowledge, makeRecords, makeWorker, request, section, startKnowledge } from '../setup.ts'

/** Emoji at every second place, so that some are at the ends of parts. */
const emoji = `a${'😀'.repeat(140_000)}`
const prose = 'Some words of prose, and a few more of them.\n\n'.repeat(17_500)
const sections = [section(emoji), section(''), section(prose), section('The last words.')]
const large = (id = 'large', more: readonly Section[] = []): IngestionRequest =>
  request({ id, sections: [...sections, ...more] })

interface StoredParts {
  readonly contents: number
  readonly parts: readonly string[]
}

async function stored(db: Records): Promise<StoredParts> {
  const contents = await db.selectFrom('inlay_large_contents').select('id').execute()
  const rows = await db.selectFrom('inlay_content_parts').select('text').orderBy('position').execute()
  return { contents: contents.length, parts: rows.map(({ text }) => text) }
}

const chunksOf = (all: readonly Section[]): string[] =>
  [...chunkSections(all)].flatMap((chunk) => (chunk ? [chunk.text] : []))

describe('a large document', () => {
  test('is stored in parts that cut no character, and indexed as a whole', async () => {
    const { accept, worker, db, shown, status } = await makeWorker()
    await accept(large())
    const { parts } = await stored(db)
    expect(parts.join('') === emoji + prose + 'The last words.').toBe(true)
    expect(parts.length).toBeGreaterThan(4)
    expect(parts.every((part) => part.isWellFormed() && part.length <= 262_145)).toBe(true)
    expect(await worker.runOnce()).toBe(1)
    expect(await status('large')).toMatchObject({ phase: 'indexed' })
    expect((await shown()).toSorted()).toEqual(chunksOf(sections).toSorted())
  })

  test('has its tables and the links of its sections where they belong', async () => {
    const table: Section = { type: 'tabular', csv_file_id: 'prices', link: 'https://a/prices', heading: null }
    const bytes = new Uint8Array([1])
    const { accept, worker, index } = await makeWorker({
      files: { find: async (ids) => ids, read: async () => ({ name: 'prices.csv', mediaType: 'text/csv', bytes }) },
      readFile: async () => ({
        title: null,
        mediaType: 'text/csv',
        sections: [{ text: 'first sheet' }, { text: 'second sheet' }],
        metadata: {},
      }),
    })
    const last = { ...section('After it.'), link: 'https://a/after' }
    await accept(request({ id: 'large', sections: [section(prose.repeat(2)), table, section(''), last] }))
    await worker.runOnce()
    const rows = index.store.rows
      .slice(-3)
      .map(({ text, chunkMetadata }) => [text, decodeChunkMetadata(chunkMetadata).link])
    expect(rows).toEqual([
      ['first sheet', 'https://a/prices'],
      ['second sheet', 'https://a/prices'],
      ['After it.', 'https://a/after'],
    ])
  })

  test('is written before it is accepted, and once', async () => {
    const { knowledge, db } = await makeKnowledge()
    expect(await knowledge.accept(large())).toMatchObject({ alreadyExisted: false, isUnchanged: false })
    const before = await stored(db)
    expect(before).toMatchObject({ contents: 1 })
    expect(await knowledge.accept(large())).toMatchObject({ alreadyExisted: true, isUnchanged: true })
    expect(await stored(db)).toEqual(before)
  })

  test('is the same one however its text came', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ document: { ...large().document, metadata: { a: 'b' } } }))
    const inPieces = await readLargeRequest([bytes.subarray(0, 1_000_001), bytes.subarray(1_000_001)])
    const whole = request({ id: 'large', sections, metadata: { a: 'b' } })
    const [first, second] = [await toVersion(inPieces), await toVersion(whole)]
    expect(first.hash).toBe(second.hash)
    expect({ ...first.large, id: '' }).toEqual({ ...second.large, id: '' })
    const other = request({ id: 'large', sections: sections.toReversed(), metadata: { a: 'b' } })
    expect((await toVersion(other)).hash).not.toBe(first.hash)
  })

  test('gives way to searches while it is cut into chunks', async () => {
    let [isCut, looks] = [false, 0]
    const { accept, worker } = await makeWorker({ at: (step) => void (isCut = step === 'chunk') })
    await accept(large())
    const end = addForegroundCalls(() => {
      if (isCut) looks++
      return false
    })
    await worker.runOnce()
    end()
    expect(looks).toBeGreaterThan(0)
  })

  test('tells its metadata and the beginning of its text to whoever sums it up', async () => {
    const documents = new Set<string>()
    const summarize = async ({ document }: { document: string }): Promise<string> => {
      documents.add(document)
      return ''
    }
    const { knowledge, index } = await startKnowledge({ summarize })
    await knowledge.accept(request({ id: 'large', sections: [section('First words.'), section(prose.repeat(2))] }))
    await knowledge.whenIdle()
    expect(index.store.rows.length).toBeGreaterThan(100)
    expect([...documents].map((text) => text.slice(0, 30))).toEqual(['First words.\n\nSome words of pr'])
  })

  test('just as large as a small one may be is stored as small ones are', async () => {
    const { accept, db } = await makeWorker()
    await accept(request({ text: 'x'.repeat(largeCharacters) }))
    expect(await stored(db)).toEqual({ contents: 0, parts: [] })
  })
})

describe('what is not needed any more is removed', () => {
  const now = 1_000_000

  test('when another version takes its place, also a small one', async () => {
    const { accept, db } = await makeWorker()
    await accept(large())
    await accept(large('large', [section('More.')]))
    expect(await stored(db)).toMatchObject({ contents: 2 })
    await sweepLargeContents(db, { now })
    const left = await stored(db)
    expect(left.contents).toBe(1)
    expect(left.parts.join('').endsWith('More.')).toBe(true)
    await accept(request({ id: 'large', text: 'small' }))
    await sweepLargeContents(db, { now })
    expect(await stored(db)).toEqual({ contents: 0, parts: [] })
  })

  test('when the document is deleted, by the maintainer', async () => {
    const { accept, remove, db } = await makeWorker()
    await accept(large())
    await remove('large')
    const index = openOnUse(memoryIndex())
    await createMaintainer({ db, index, owner: 'me', now: () => now, onError: () => {} }).runOnce()
    expect(await stored(db)).toEqual({ contents: 0, parts: [] })
  })

  test('when the document was refused after it was written', async () => {
    const { knowledge, db } = await makeKnowledge()
    await expect(knowledge.accept({ ...large(), cc_pair_id: 77 })).rejects.toMatchObject({
      code: 'CONNECTOR_NOT_FOUND',
    })
    expect(await stored(db)).toMatchObject({ contents: 1 })
    await sweepLargeContents(db, { now: Date.now() })
    expect(await stored(db)).toEqual({ contents: 0, parts: [] })
  })

  test('when its process ended between two parts, and not while it is being written', async () => {
    const db = await makeRecords()
    const content = await toLargeContent(large().document)
    const half = { ...content, parts: content.parts.slice(0, 3) }
    await writeLargeContent(db, half, { now, owner: 'ended' })
    await writeLargeContent(db, { ...content, id: 'another' }, { now, owner: 'goes on' })
    await sweepLargeContents(db, { now, isGone: (owner) => owner === 'ended' })
    // Nor by a process whose clock is behind.
    for (const behindMs of [1, 5, 60 * 60_000]) await sweepLargeContents(db, { now: now - behindMs })
    expect(await stored(db)).toEqual({ contents: 1, parts: content.parts })
    // Nobody knows whether a process of another machine is there: its time runs out.
    await sweepLargeContents(db, { now: now + 61 * 60_000 })
    expect(await stored(db)).toEqual({ contents: 0, parts: [] })
  })

  test('and written again when it is needed after all, with nothing to be seen of it meanwhile', async () => {
    const db = await makeRecords()
    const version = await toVersion(large())
    await writeLargeContent(db, version.large!, { now, owner: 'slow' })
    await sweepLargeContents(db, { now, isGone: () => true })
    let looks = 0
    let seen: Promise<unknown[]> | undefined
    const end = addForegroundCalls(() => {
      looks++
      // A transaction would keep this waiting until its end.
      seen ??= db.selectFrom('inlay_documents').select('id').execute()
      return false
    })
    await createIntake({ db, now: () => now }).submit({ kind: 'accept', id: 'large', version })
    end()
    expect(await seen).toEqual([])
    expect(looks).toBeGreaterThanOrEqual(version.large!.parts.length)
    await sweepLargeContents(db, { now, isGone: () => true })
    expect(await stored(db)).toEqual({ contents: 1, parts: version.large!.parts })
  })
})

test('a document that changes while it is read is tried again as it is then', async () => {
  let isReading = false
  const { accept, worker, db, shown, clock } = await makeWorker({
    at: async (step) => {
      if (step !== 'chunk' || isReading) return
      isReading = true
      await accept(request({ id: 'large', text: 'small now' }))
      await sweepLargeContents(db, { now: clock.now })
    },
  })
  await accept(large())
  await worker.runOnce()
  expect(await shown()).toEqual([])
  clock.now += 60_000
  await worker.runOnce()
  expect(await shown()).toEqual(['small now'])
})
