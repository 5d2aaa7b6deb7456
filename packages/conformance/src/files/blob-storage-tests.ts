import { must, mustEqual, toTests, type Checks, type ConformanceTest } from '../contract.ts'
import type { BlobStorage } from '@inlay/conversations'

/** Returns a new storage object for the location with that name. Storages of one location share their values. */
export type MakeBlobStorage = (place: string) => BlobStorage | Promise<BlobStorage>

/**
 * Tests of a `BlobStorage`, as a list for any test runner. Each test uses its own locations.
 * @example for (const [title, run] of blobStorageConformance(make)) test(title, run)
 */
export function blobStorageConformance(make: MakeBlobStorage): ConformanceTest[] {
  return toTests(checks, (check) => check(make))
}

const everyByte: Uint8Array = Uint8Array.from({ length: 70_001 }, (_, at) => (at * 7) % 256)
const pieceBytes = 4 * 2 ** 20

const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte)

/** The bytes under a key; undefined if there are none. */
async function bytesOf(storage: BlobStorage, key: string): Promise<Uint8Array | undefined> {
  const value = await storage.getItemRaw(key)
  if (value === null || value === undefined) return undefined
  must(value instanceof Uint8Array || value instanceof ArrayBuffer, 'bytes come as Uint8Array or ArrayBuffer')
  return new Uint8Array(value)
}

async function mustHold(storage: BlobStorage, key: string, expected: Uint8Array, statement: string): Promise<void> {
  const bytes = await bytesOf(storage, key)
  must(bytes !== undefined, `${statement}: there is a value under ${key}`)
  mustEqual(bytes.length, expected.length, `${statement}: length`)
  // A loop, since pieces have millions of bytes.
  let at = 0
  while (at < bytes.length && bytes[at] === expected[at]) at++
  must(at === bytes.length, `${statement}: byte ${at} is the one that was written`)
}

const checks: Checks<MakeBlobStorage> = {
  async 'bytes come back as they were written, whatever they are'(make) {
    const storage = await make('bytes')
    for (const [at, bytes] of [everyByte, filled(1, 0), filled(3, 255)].entries()) {
      await storage.setItemRaw(`files:a:${at}`, bytes)
      await mustHold(storage, `files:a:${at}`, bytes, 'a value')
    }
  },
  async 'a part of a larger buffer is stored without the rest of it'(make) {
    const storage = await make('parts')
    await storage.setItemRaw('files:a:0', everyByte.subarray(11, 5_000))
    await mustHold(storage, 'files:a:0', everyByte.slice(11, 5_000), 'a part')
  },
  async 'a value stays as it was written when the caller uses its buffer again'(make) {
    const storage = await make('buffers')
    const buffer = filled(1_000, 1)
    await storage.setItemRaw('files:a:0', buffer)
    buffer.fill(2)
    await mustHold(storage, 'files:a:0', filled(1_000, 1), 'a value whose buffer was used again')
  },
  async 'a piece of 4 MiB comes back whole'(make) {
    const storage = await make('pieces')
    const piece = filled(pieceBytes, 1)
    piece[pieceBytes - 1] = 2
    await storage.setItemRaw('files:a:0', piece)
    await mustHold(storage, 'files:a:0', piece, 'a piece')
  },
  async 'a second write replaces the first, also by fewer bytes'(make) {
    const storage = await make('replaced')
    for (const bytes of [everyByte, filled(10, 1), filled(2, 2), everyByte]) {
      await storage.setItemRaw('files:a:0', bytes)
      await mustHold(storage, 'files:a:0', bytes, 'the last write')
    }
  },
  async 'a key without a value gives null, and removing it is no error'(make) {
    const storage = await make('missing')
    must((await bytesOf(storage, 'files:none:0')) === undefined, 'there is no value')
    await storage.removeItem('files:none:0')
    await storage.setItemRaw('files:a:0', everyByte)
    await storage.removeItem('files:a:0')
    await storage.removeItem('files:a:0')
    must((await bytesOf(storage, 'files:a:0')) === undefined, 'there is no value after it was removed')
    await storage.setItemRaw('files:a:0', filled(5, 3))
    await mustHold(storage, 'files:a:0', filled(5, 3), 'a value written after a removal')
  },
  async 'keys that look alike keep apart'(make) {
    const storage = await make('alike')
    const id = '6f1f0a9e-5a0b-4a7e-9a53-0d1c2b3a4f5e'
    const keys = [`files:${id}:1`, `files:${id}:10`, `files:${id}:100`, `files:${id.slice(0, -1)}f:1`, `file:${id}:1`]
    for (const [at, key] of keys.entries()) await storage.setItemRaw(key, filled(at + 1, at))
    for (const [at, key] of keys.entries()) await mustHold(storage, key, filled(at + 1, at), 'a value of several')
    await storage.removeItem(keys[0]!)
    must((await bytesOf(storage, keys[0]!)) === undefined, 'the removed value is gone')
    for (const [at, key] of keys.entries())
      if (at > 0) await mustHold(storage, key, filled(at + 1, at), 'a value beside the removed one')
  },
  async 'a write or removal that has resolved counts for every storage of the same place'(make) {
    const [first, second] = [await make('shared'), await make('shared')]
    await first.setItemRaw('files:a:0', filled(4, 1))
    await mustHold(second, 'files:a:0', filled(4, 1), 'what another storage wrote')
    await second.setItemRaw('files:a:0', filled(6, 2))
    await mustHold(first, 'files:a:0', filled(6, 2), 'what another storage wrote over it')
    await mustHold(await make('shared'), 'files:a:0', filled(6, 2), 'in a new storage')
    await second.removeItem('files:a:0')
    must((await bytesOf(first, 'files:a:0')) === undefined, 'what another storage removed is gone')
  },
  async 'storages of different places keep apart'(make) {
    const [here, there] = [await make('here'), await make('there')]
    await here.setItemRaw('files:a:0', filled(4, 1))
    must((await bytesOf(there, 'files:a:0')) === undefined, 'a value of another place')
  },
  async 'writes side by side all stay'(make) {
    const storages = [await make('many'), await make('many')]
    const keys = Array.from({ length: 20 }, (_, at) => `files:a:${at}`)
    await Promise.all(keys.map((key, at) => storages[at % 2]!.setItemRaw(key, filled(1_000 + at, at))))
    for (const [at, key] of keys.entries())
      await mustHold(storages[0]!, key, filled(1_000 + at, at), 'a value written beside others')
    await Promise.all(keys.slice(1).map((key, at) => storages[at % 2]!.removeItem(key)))
    await mustHold(storages[1]!, keys[0]!, filled(1_000, 0), 'the value that was left')
    must((await bytesOf(storages[0]!, keys[7]!)) === undefined, 'a value removed beside others is gone')
  },
  async 'who reads during a write gets a whole value, the old or the new one'(make) {
    const storage = await make('torn')
    await storage.setItemRaw('files:a:0', filled(50_000, 0))
    for (let round = 1; round <= 3; round++) {
      let isWriting = true
      const writes = Promise.all(
        [round * 2, round * 2 + 1].map((byte) => storage.setItemRaw('files:a:0', filled(50_000 + byte, byte))),
      ).finally(() => (isWriting = false))
      do {
        const bytes = await bytesOf(storage, 'files:a:0')
        mustBeWhole(bytes)
      } while (isWriting)
      await writes
      mustBeWhole(await bytesOf(storage, 'files:a:0'))
    }
  },
}

/** Fails unless all bytes are from one write, see above. */
function mustBeWhole(bytes: Uint8Array | undefined): void {
  const [first] = bytes ?? []
  must(bytes !== undefined && first !== undefined, 'there is a value at any time')
  mustEqual(bytes.length, 50_000 + first, 'length of a value read during a write')
  must(
    bytes.every((byte) => byte === first),
    'a value read during a write is of one write',
  )
}
