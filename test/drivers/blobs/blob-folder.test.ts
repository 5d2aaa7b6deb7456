import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { blobFolder, type BlobFolder } from '@inlay/drivers/blob-folder'

let folder: string
let storage: BlobFolder

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inlay-blobs-'))
  storage = blobFolder({ folder: join(folder, 'blobs') })
})
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const everyFile = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []))

test('bytes come back as they went in, also from a second storage over the folder', async () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256)
  await storage.setItemRaw('files:a:0', bytes)
  const other = blobFolder({ folder: join(folder, 'blobs') })
  expect(Buffer.compare((await other.getItemRaw('files:a:0'))!, bytes)).toBe(0)
  await storage.setItemRaw('files:a:0', new Uint8Array())
  expect((await other.getItemRaw('files:a:0'))!.byteLength).toBe(0)
})

test('what is not there is null, and removing it is no error', async () => {
  expect(await storage.getItemRaw('files:none')).toBeNull()
  await storage.removeItem('files:none')
  expect(everyFile()).toEqual([])
})

test('a key and its own prefix can both hold a value', async () => {
  await storage.setItemRaw('a', Uint8Array.of(1))
  await storage.setItemRaw('a:b', Uint8Array.of(2))
  await storage.setItemRaw('a:b:c', Uint8Array.of(3))
  const values = await Promise.all(['a', 'a:b', 'a:b:c'].map((key) => storage.getItemRaw(key)))
  expect(values.map((value) => [...value!])).toEqual([[1], [2], [3]])
})

test('keys with dots, tildes and letters of any script stay inside the folder', async () => {
  const keys = ['..:..:escape', 'a~b', 'ключ', 'con', 'x*y', 'name.d']
  for (const [at, key] of keys.entries()) await storage.setItemRaw(key, Uint8Array.of(at))
  for (const [at, key] of keys.entries()) expect([...(await storage.getItemRaw(key))!]).toEqual([at])
  expect(readdirSync(folder)).toEqual(['blobs'])
})

test('a write that was cut off is no value, and the value before it stays', async () => {
  await storage.setItemRaw('files:a', Uint8Array.of(1))
  writeFileSync(join(folder, 'blobs', 'files.d', 'a~999-x-0'), 'half')
  expect([...(await storage.getItemRaw('files:a'))!]).toEqual([1])
  expect(await storage.getItemRaw('files:a~999-x-0')).toBeNull()
})

test('a write that fails leaves nothing beside the value', async () => {
  await storage.setItemRaw('files:a', Uint8Array.of(1))
  // A key below a value that is a file on disk cannot be written as one; whatever happens, no rubbish stays.
  await storage.setItemRaw('files:a', null as never).catch(() => {})
  expect(everyFile()).toEqual(['a'])
})

test('folders go with their last value', async () => {
  await storage.setItemRaw('files:a:0', Uint8Array.of(1))
  await storage.removeItem('files:a:0')
  expect(readdirSync(join(folder, 'blobs'))).toEqual([])
})

test('many writers of one key leave one whole value', async () => {
  const values = Array.from({ length: 20 }, (_, index) => new Uint8Array(50_000).fill(index + 1))
  await Promise.all(values.map((value) => storage.setItemRaw('files:a', value)))
  const kept = (await storage.getItemRaw('files:a'))!
  expect(kept.byteLength).toBe(50_000)
  expect(new Set(kept).size).toBe(1)
  expect(everyFile()).toEqual(['a'])
})

test('values can be written while others of their folder are removed', async () => {
  const keys = Array.from({ length: 60 }, (_, index) => `files:${index % 3}:${index}`)
  await Promise.all(
    keys.map(async (key, index) => {
      await storage.setItemRaw(key, Uint8Array.of(index))
      if (index % 2 === 0) await storage.removeItem(key)
    }),
  )
  expect(everyFile()).toHaveLength(30)
})
