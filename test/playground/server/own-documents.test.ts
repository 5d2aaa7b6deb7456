import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { takeInOwnDocuments, type OwnDocument } from '../../../playground/server/own-documents.ts'

let root: string
let taken: OwnDocument[]
let removed: string[]
let pairs: number[]
let isEmpty: boolean
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'inlay-own-'))
  await mkdir(join(root, 'docs', '1.guide'), { recursive: true })
  await writeFile(join(root, 'README.md'), '# Inlay\n\nAn assistant.')
  await writeFile(join(root, 'docs', '1.guide', '1.start.md'), '# Start\n\nRun it.')
  await writeFile(join(root, 'docs', 'picture.png'), 'no text')
  taken = []
  removed = []
  pairs = []
  isEmpty = true
})
afterEach(() => rm(root, { recursive: true, force: true, maxRetries: 10 }))

const takeIn = (onStart?: (count: number) => void): Promise<number> =>
  takeInOwnDocuments({
    root,
    record: join(root, 'record.json'),
    onStart,
    target: {
      isEmpty: async () => isEmpty,
      makePair: async () => pairs.push(pairs.length + 2) + 1,
      hasPair: async (id) => id === 1 || pairs.includes(id),
      accept: async (document, pairId) => {
        expect(pairs).toContain(pairId)
        taken.push(document)
      },
      remove: async (id) => void removed.push(id),
    },
  })

test('the first start takes in the README and every Markdown file below docs', async () => {
  const begun: number[] = []
  expect(await takeIn((count) => begun.push(count))).toBe(2)
  expect(begun).toEqual([2])
  expect(taken.map(({ id, title }) => [id, title])).toEqual([
    ['inlay/README.md', 'Inlay'],
    ['inlay/docs/1.guide/1.start.md', 'Start'],
  ])
})

test('the table of all options is left out: its rows come before the pages that explain', async () => {
  await writeFile(join(root, 'docs', '7.options.md'), '# Options\n\n| option | type |')
  await takeIn()
  expect(taken.map(({ id }) => id)).toEqual(['inlay/README.md', 'inlay/docs/1.guide/1.start.md'])
})

test('a second start takes in nothing, so that what was deleted stays deleted', async () => {
  await takeIn()
  taken = []
  expect(await takeIn()).toBe(0)
  expect([taken, removed]).toEqual([[], []])
})

test('a changed file is taken in again, a vanished one removed', async () => {
  await takeIn()
  taken = []
  await writeFile(join(root, 'README.md'), '# Inlay\n\nA better assistant.')
  await rm(join(root, 'docs', '1.guide', '1.start.md'))
  expect(await takeIn()).toBe(1)
  expect(taken.map(({ id }) => id)).toEqual(['inlay/README.md'])
  expect(removed).toEqual(['inlay/docs/1.guide/1.start.md'])
})

test('a start that was interrupted, or whose record is broken, takes everything in', async () => {
  await takeIn()
  await writeFile(join(root, 'record.json'), '{"inl')
  expect(await takeIn()).toBe(2)
})

test('a folder that holds documents of somebody else gets none', async () => {
  isEmpty = false
  expect(await takeIn()).toBe(0)
  expect([taken, pairs]).toEqual([[], []])
})

test('once the pair was removed nothing comes back, also when files change', async () => {
  await takeIn()
  pairs = []
  taken = []
  isEmpty = true
  await writeFile(join(root, 'README.md'), '# Inlay\n\nChanged.')
  expect(await takeIn()).toBe(0)
  expect(taken).toEqual([])
})
