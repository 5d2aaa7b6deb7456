import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BlobStorage } from '@inlay/conversations'
import { blobStorageConformance, type MakeBlobStorage } from '@inlay/conformance'
import { blobFolder } from '@inlay/drivers/blob-folder'
import { createStorage } from 'unstorage'
import memory from 'unstorage/drivers/memory'
import { afterAll, describe, test } from 'vitest'
import { testMutants } from '../../mutants.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-blob-conformance-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))

const drivers = new Map<string, ReturnType<typeof memory>>()
const inMemory: MakeBlobStorage = (place) => {
  const driver = drivers.get(place) ?? memory()
  drivers.set(place, driver)
  const storage = createStorage({ driver })
  // This driver keeps the very buffer it is given.
  return { ...storage, setItemRaw: async (key, value: Uint8Array) => storage.setItemRaw(key, value.slice()) }
}

const implementations: readonly (readonly [string, MakeBlobStorage])[] = [
  ['a folder', (place) => blobFolder({ folder: join(root, 'plain', place) })],
  ['unstorage in memory', inMemory],
]
for (const [name, make] of implementations)
  describe(name, () => {
    for (const [title, run] of blobStorageConformance(make)) test(title, run)
  })

/** How a storage handles the values in its folder. */
interface Steps {
  open(shared: Map<string, Uint8Array>): Map<string, Uint8Array>
  copy(value: Uint8Array): Uint8Array
  keyOf(key: string): string
  set(values: Map<string, Uint8Array>, key: string, value: Uint8Array): void | Promise<void>
  toRaw(value: Uint8Array | undefined): unknown
  remove(values: Map<string, Uint8Array>, key: string): void
}

const sound: Steps = {
  open: (shared) => shared,
  copy: (value) => value.slice(),
  keyOf: (key) => key,
  set: (values, key, value) => void values.set(key, value),
  toRaw: (value) => value ?? null,
  remove: (values, key) => void values.delete(key),
}

function storages(steps: Steps): MakeBlobStorage {
  const places = new Map<string, Map<string, Uint8Array>>()
  return (place): BlobStorage => {
    if (!places.has(place)) places.set(place, new Map())
    const values = steps.open(places.get(place)!)
    return {
      setItemRaw: async (key, value) => {
        const copy = steps.copy(value)
        await Promise.resolve()
        await steps.set(values, steps.keyOf(key), copy)
      },
      getItemRaw: async (key) => steps.toRaw(values.get(steps.keyOf(key))),
      removeItem: async (key) => steps.remove(values, steps.keyOf(key)),
    }
  }
}

const text = (value: Uint8Array): string => new TextDecoder().decode(value)
let everywhere: Map<string, Uint8Array> | undefined

testMutants<Partial<Steps>>('blob storage', (change) => blobStorageConformance(storages({ ...sound, ...change })), {
  sound: {},
  mutants: {
    'keeps bytes as text': { copy: (value) => new TextEncoder().encode(text(value)) },
    'gives base64 back': { toRaw: (value) => (value ? Buffer.from(value).toString('base64') : null) },
    'gives a Blob back': { toRaw: (value) => (value ? new Blob([value.slice()]) : null) },
    'loses the last byte': { copy: (value) => value.slice(0, -1) },
    'stores the whole buffer of a view': { copy: (value) => new Uint8Array(value.buffer).slice() },
    'keeps the buffer of its caller': { copy: (value) => value },
    'cuts values at 1 MiB': { copy: (value) => value.slice(0, 2 ** 20) },
    'keeps the first write of a key': {
      set: (values, key, value) => {
        if (!values.has(key)) values.set(key, value)
      },
    },
    'writes into what was there': {
      set: (values, key, value) => {
        const before = values.get(key) ?? new Uint8Array()
        const joined = new Uint8Array(Math.max(before.length, value.length))
        joined.set(before)
        joined.set(value)
        values.set(key, joined)
      },
    },
    'gives empty bytes for what is missing': { toRaw: (value) => value ?? new Uint8Array() },
    'throws a bare string for what is missing': {
      toRaw: (value) => {
        if (!value) throw 'not found'
        return value
      },
    },
    'fails to remove what is missing': {
      remove: (values, key) => {
        if (!values.delete(key)) throw new Error('ENOENT')
      },
    },
    'removes nothing': { remove: () => {} },
    'removes by prefix': {
      remove: (values, key) => {
        for (const other of values.keys()) if (other.startsWith(key)) values.delete(other)
      },
    },
    'shortens keys to a hash of two letters': { keyOf: (key) => `${key.length % 36}${key.at(-1)}` },
    'ignores the last part of a key': { keyOf: (key) => key.slice(0, key.lastIndexOf(':')) },
    'caches values in each storage': { open: (shared) => new Map(shared) },
    'puts all places into one': { open: (shared) => (everywhere ??= shared) },
    'loses a write beside another': {
      set: async (values, key, value) => {
        const all = [...values]
        await Promise.resolve()
        values.clear()
        for (const [other, bytes] of all) values.set(other, bytes)
        values.set(key, value)
      },
    },
    'writes in two halves': {
      set: async (values, key, value) => {
        values.set(key, value.slice(0, value.length / 2))
        await new Promise(setImmediate)
        values.set(key, value)
      },
    },
    'resolves before it has written': { set: (values, key, value) => void setTimeout(() => values.set(key, value)) },
  },
})
