import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex, type LancedbOptions } from '@inlay/drivers/lancedb'
import type { VectorIndex } from '@inlay/knowledge'
import { vectorIndexConformance } from '@inlay/conformance'
import { afterAll, afterEach, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { seededRandom } from '../../bench/typos.ts'
import { zipfText } from '../../bench/zipf-text.ts'
import { row } from './sample-rows.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-lancedb-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))

describe('conformance of a vector index', () => {
  for (const [title, run] of vectorIndexConformance((store) => lancedbIndex({ folder: join(root, 'laws', store) })))
    test(title, run)
})

let opened: VectorIndex[] = []
afterEach(async () => {
  await Promise.all(opened.map((index) => index.close()))
  opened = []
})

let folders = 0
async function open(
  options: Partial<LancedbOptions> = {},
  space?: { id: string; dimensions: number },
): Promise<VectorIndex> {
  const index = lancedbIndex({ folder: join(root, `own-${folders++}`), ...options })
  opened.push(index)
  await index.open(space)
  return index
}

const idsFor = async (index: VectorIndex, text: string, limit = 5): Promise<string[]> =>
  (await index.search({ text, limit })).map((hit) => hit.documentId)

describe('rows that wait', () => {
  it('are folded in before there is no room for more, while somebody searches', async () => {
    const many = (name: string): ReturnType<typeof row>[] =>
      Array.from({ length: 300 }, (_, at) => row(`${name}-${at}`, `words of ${name}`))
    // A search some seconds ago counts as recent, however long the appends take.
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const index = await open({ memtableCharacters: 400_000 })
    await index.append(many('first'))
    await index.append(many('second'))
    await index.append(many('third'))
    // Nobody searches: nothing waits.
    expect((await index.figures()).unindexedRows).toBe(900)
    await index.maintain({ idle: true })
    await index.search({ text: 'words', limit: 5 })
    await Promise.all(['fourth', 'fifth', 'sixth', 'seventh'].map((name) => index.append(many(name))))
    expect((await index.figures()).unindexedRows).toBeLessThanOrEqual(600)
    expect(await idsFor(index, 'fourth', 1)).toHaveLength(1)
    expect(await idsFor(index, 'seventh', 1)).toHaveLength(1)
  })

  it('score as they do once they are folded in', async () => {
    const index = await open()
    const text = zipfText(7, 3000)
    await index.append(Array.from({ length: 600 }, (_, n) => row(`d${n}`, text.text(20 + (n % 30)))))
    const queries = Array.from({ length: 25 }, () => `${text.word(4)} ${text.word(4)} ${text.word(4)}`)
    const search = (): Promise<Map<string, number>[]> =>
      Promise.all(
        queries.map(
          async (query) =>
            new Map(
              (await index.search({ text: query, limit: 200 })).map((hit) => [hit.documentId, hit.score] as const),
            ),
        ),
      )
    const memtable = await search()
    expect((await index.maintain({ idle: true })).unindexedRows).toBe(0)
    const folded = await search()
    for (const [at, scores] of memtable.entries()) {
      expect(scores.size).toBe(folded[at]!.size)
      const first = [...scores].slice(0, 20)
      for (const [id, score] of first) expect(Math.abs(score - folded[at]!.get(id)!)).toBeLessThan(0.1)
    }
  })

  it('are found by misspelt words, also beside a large index', async () => {
    const index = await open()
    const text = zipfText(8, 20_000)
    await index.append(Array.from({ length: 5000 }, (_, n) => row(`d${n}`, text.text(8))))
    await index.append([row('folded', 'A lighthouse stands there.')])
    await index.maintain({ idle: true })
    await index.append([row('memtable', 'An observatory stands there.')])
    expect(await idsFor(index, 'obsrevatory', 1)).toEqual(['memtable'])
    expect(await idsFor(index, 'lighthuose', 1)).toEqual(['folded'])
    expect(await idsFor(index, 'ighthouse', 1)).toEqual(['folded'])
  })

  it('are gone at once when they are removed', async () => {
    const index = await open()
    await index.append([row('a', 'A heron.'), row('b', 'A heron.')])
    expect((await idsFor(index, 'heron')).sort()).toEqual(['a', 'b'])
    await index.remove(['generation of a'])
    expect(await idsFor(index, 'heron')).toEqual(['b'])
  })

  it('of an earlier process are found before any upkeep', async () => {
    const folder = join(root, 'left')
    const first = await open({ folder })
    await first.append([row('a', 'A heron.')])
    await first.close()
    const second = await open({ folder })
    await second.append([row('b', 'A heron.')])
    expect((await idsFor(second, 'heron')).sort()).toEqual(['a', 'b'])
  })
})

it('opens where a process was killed before its table had a version', async () => {
  const folder = join(root, 'half-made')
  mkdirSync(join(folder, 'chunks.lance', '_transactions'), { recursive: true })
  const index = await open({ folder })
  await index.append([row('a', 'A heron.')])
  expect(await idsFor(index, 'heron')).toEqual(['a'])
})

it('is missing once the versions of its table are gone, whatever else is left of it', async () => {
  const folder = join(root, 'no-versions')
  const index = await open({ folder })
  await index.append([row('a', 'A heron.')])
  await index.mark!('mark')
  expect(await index.inspect!()).toEqual({ state: 'present', identity: 'mark' })
  await index.close()
  const versions = join(folder, 'chunks.lance', '_versions')
  for (const name of readdirSync(versions)) if (name.endsWith('.manifest')) rmSync(join(versions, name))
  writeFileSync(join(versions, 'latest_version_hint.json'), '{}')
  expect(await lancedbIndex({ folder }).inspect!()).toEqual({ state: 'missing', identity: 'mark' })
})

describe('upkeep', () => {
  it('folds many small commits into few files, and clears old versions away after their time', async () => {
    const folder = join(root, 'upkeep')
    const index = await open({ folder, keepVersionsMs: 0 })
    for (let n = 0; n < 60; n++) await index.append([row(`d${n}`, 'A heron.', { generation: `g${n}` })])
    for (let n = 0; n < 50; n++) await index.remove([`g${n}`])
    const before = (await index.figures()).bytes!
    await index.maintain({ idle: true })
    const after = await index.maintain({ idle: true })
    expect(after).toMatchObject({ rows: 10, unindexedRows: 0 })
    expect(after.bytes).toBeLessThan(before / 4)
    expect(readdirSync(join(folder, 'chunks.lance', 'data')).length).toBeLessThan(5)
    expect(await idsFor(index, 'heron', 50)).toHaveLength(10)
  })

  it('leaves a few new rows of a busy index alone, and folds many', async () => {
    const index = await open()
    await index.append(Array.from({ length: 300 }, (_, n) => row(`a${n}`, 'A heron.')))
    expect((await index.maintain()).unindexedRows).toBe(300)
    await index.append(Array.from({ length: 300 }, (_, n) => row(`b${n}`, 'A heron.')))
    expect((await index.maintain()).unindexedRows).toBe(0)
  })

  it('folds after a hundred commits', async () => {
    const index = await open()
    for (let n = 0; n < 100; n++) await index.append([row(`d${n}`, 'A heron.')])
    expect((await index.maintain()).unindexedRows).toBe(0)
  })

  it('leaves a single row of a large index alone even when idle', async () => {
    const index = await open()
    await index.append(Array.from({ length: 3000 }, (_, n) => row(`a${n}`, 'A heron.')))
    await index.maintain({ idle: true })
    await index.append([row('b', 'An otter.')])
    expect((await index.maintain({ idle: true })).unindexedRows).toBe(1)
    expect(await idsFor(index, 'otter')).toEqual(['b'])
  })

  it.each([
    ['as they are', 1e9, 0.95],
    // The engine quantizes at random: .95 to 1 of so short vectors.
    ['quantized', 0, 0.85],
    ['as they are, then quantized', 2_400 * 64, 0.85],
  ])('indexes vectors once there are many, %s, and finds the same', async (_, exactVectorBytes, minRecall) => {
    const index = await open({ vectorIndexRows: 2000, exactVectorBytes }, { id: 'random@16', dimensions: 16 })
    const random = seededRandom(5)
    const vector = (): Float32Array => Float32Array.from({ length: 16 }, () => random() - 0.5)
    const vectors = Array.from({ length: 2_500 }, vector)
    const append = (from: number, to: number): Promise<void> =>
      index.append(vectors.slice(from, to).map((own, n) => row(`d${from + n}`, `Row ${from + n}.`, { vector: own })))
    await append(0, 2_300)
    await index.maintain({ idle: true })
    await append(2_300, 2_500)
    const queries = Array.from({ length: 20 }, vector)
    const search = (): Promise<string[][]> =>
      Promise.all(
        queries.map(async (query) => (await index.search({ vector: query, limit: 10 })).map((hit) => hit.documentId)),
      )
    await index.maintain({ idle: true })
    const compared = queries.map((query) => nearestOf(vectors, query))
    const indexed = await search()
    const same = indexed.flatMap((ids, at) => ids.filter((id) => compared[at]!.includes(id))).length
    expect(same / 200).toBeGreaterThan(minRecall)
    await index.append([row('new', 'New.', { vector: queries[0]! })])
    expect((await index.search({ vector: queries[0]!, limit: 1 }))[0]?.documentId).toBe('new')
  })
})

/** Ids of the ten nearest by cosine, compared one by one. */
function nearestOf(vectors: readonly Float32Array[], query: Float32Array): string[] {
  const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, at) => sum + value * b[at]!, 0)
  const nearness = vectors.map((vector, n) => ({
    id: `d${n}`,
    cosine: dot(vector, query) / Math.sqrt(dot(vector, vector)),
  }))
  const nearest = nearness.sort((a, b) => b.cosine - a.cosine).slice(0, 10)
  return nearest.map(({ id }) => id)
}

describe('appending', () => {
  it('puts calls made at once into few commits', async () => {
    const folder = join(root, 'group')
    const index = await open({ folder })
    const before = readdirSync(join(folder, 'chunks.lance', '_versions')).length
    await Promise.all(Array.from({ length: 50 }, (_, n) => index.append([row(`d${n}`, 'A heron.')])))
    expect(readdirSync(join(folder, 'chunks.lance', '_versions')).length - before).toBeLessThan(5)
    expect(await idsFor(index, 'heron', 100)).toHaveLength(50)
  })

  it('keeps texts of any size and kind', async () => {
    const index = await open()
    const texts = ['', 'x'.repeat(2_000_000), 'é日本🦀', 'a\u0000b', '\ud800 alone']
    await index.append(texts.map((text, position) => row('a', text, { position, searchText: 'heron' })))
    const read = await index.read('generation of a', 0, 10)
    expect(read.map((hit) => hit.text)).toEqual([...texts.slice(0, 4), '\ufffd alone'])
  })
})

describe('a folder that cannot be used', () => {
  it('is reported without its path, and may be opened later', async () => {
    const file = join(root, 'plain-file')
    writeFileSync(file, '')
    const index = lancedbIndex({ folder: join(file, 'index') })
    const error: Error = await index.open().then(
      () => new Error('opened'),
      (reason) => reason,
    )
    expect(error).toMatchObject({ name: 'InlayError' })
    expect(error.message).not.toContain(root)
    rmSync(file)
    await index.open()
    expect((await index.figures()).rows).toBe(0)
    await index.close()
  })

  it('is reported when its files are damaged', async () => {
    const folder = join(root, 'damaged')
    const index = await open({ folder })
    await index.append([row('a', 'A heron.')])
    await index.close()
    const data = join(folder, 'chunks.lance', 'data')
    for (const name of readdirSync(data)) rmSync(join(data, name))
    const again = await open({ folder })
    const error: Error = await again.read('generation of a', 0, 1).then(
      () => new Error('read'),
      (reason) => reason,
    )
    expect(error).toMatchObject({ name: 'InlayError' })
    expect(error.message).not.toContain(root)
  })

  it('is refused before it was opened', async () => {
    await expect(lancedbIndex({ folder: join(root, 'never') }).figures()).rejects.toMatchObject({ code: 'UNSUPPORTED' })
  })
})
