import { crc32, inflateRawSync } from 'node:zlib'
import { concernsPartOnly, type Budget } from './budget.ts'
import { refusal, refusalOf } from './refusals.ts'

/** An opened zip archive; parts are unpacked individually, on demand. */
export interface Archive {
  /** Names of the files in it, with `/` between folders. */
  readonly names: readonly string[]
  has(name: string): boolean
  /** Letter case is ignored, as in Office. @throws refusal `encrypted`, `broken`, `unsupported`, `bomb`, `too_large` */
  read(name: string): Uint8Array | undefined
  /**
   * What `use` makes of a part that the others can be read without; undefined when there is none, or when it fails, which
   * {@link Archive.unread} then tells. A bomb fails the whole file, unless the part is a document of its own that was put in.
   */
  readPart<Result>(name: string, use: (bytes: Uint8Array) => Result, origin?: 'embedded'): Result | undefined
  readonly unread: ReadonlySet<string>
  /** Adds a part that could not be read. @throws what fails the whole file */
  noteUnread(name: string, error: unknown, origin?: 'embedded'): void
}

interface Entry {
  readonly name: string
  readonly isEncrypted: boolean
  readonly method: number
  readonly crc: number
  readonly packedBytes: number
  readonly bytes: number
  readonly headerAt: number
}

const endSignature = 0x06054b50
const entrySignature = 0x02014b50
const headerSignature = 0x04034b50
const end64Signature = 0x06064b50
/** A part is taken for a bomb when it is large and packed tighter than this; XML of real office files stays below 1:100. */
const bombBytes = 10_000_000
const bombRatio = 250
const maxEntries = 100_000

/**
 * Unpacks nothing yet. Unpacking checks the size in the directory against the budget before, and stops at it.
 * @throws refusal `broken` if it has no readable directory, `bomb` if it has more than 100,000 entries
 */
export function openZip(bytes: Uint8Array, budget: Budget): Archive {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries = new Map<string, Entry>()
  try {
    for (const entry of directoryOf(view, bytes)) entries.set(entry.name.toLowerCase(), entry)
  } catch (error) {
    if (error instanceof RangeError) throw brokenZip(error)
    throw error
  }
  const unread = new Set<string>()
  const read = (name: string): Uint8Array | undefined => {
    const entry = entries.get(name.toLowerCase())
    return entry && unpack(entry, view, bytes, budget)
  }
  const noteUnread: Archive['noteUnread'] = (name, error, origin) => {
    const isBomb = refusalOf(error)?.reason === 'bomb'
    if (!concernsPartOnly(error) || (isBomb && origin !== 'embedded')) throw error
    unread.add(name)
  }
  return {
    names: [...entries.values()].map((entry) => entry.name),
    has: (name) => entries.has(name.toLowerCase()),
    read,
    readPart(name, use, origin) {
      try {
        const content = read(name)
        return content && use(content)
      } catch (error) {
        noteUnread(name, error, origin)
        return undefined
      }
    },
    unread,
    noteUnread,
  }
}

function brokenZip(cause?: unknown): Error {
  return refusal('broken', 'The file is damaged or was cut off: send it again, or save it anew.', cause)
}

function* directoryOf(view: DataView, bytes: Uint8Array): Generator<Entry> {
  const endAt = findEnd(view)
  let count = view.getUint16(endAt + 10, true)
  let directoryBytes = view.getUint32(endAt + 12, true)
  let offset = view.getUint32(endAt + 16, true)
  let directoryEnd = endAt
  if (offset === 0xffffffff || count === 0xffff || directoryBytes === 0xffffffff) {
    const end64At = Number(view.getBigUint64(endAt - 12, true))
    if (view.getUint32(end64At, true) !== end64Signature) throw brokenZip()
    count = Number(view.getBigUint64(end64At + 32, true))
    directoryBytes = Number(view.getBigUint64(end64At + 40, true))
    offset = Number(view.getBigUint64(end64At + 48, true))
    directoryEnd = end64At
  }
  if (count > maxEntries) throw refusal('bomb', 'The file holds too many parts to be a document: it is not unpacked.')
  // Bytes before the archive (a self-extractor, a wrapper) shift all offsets alike.
  const shift = Math.max(0, directoryEnd - directoryBytes - offset)
  let at = offset + shift
  for (let number = 0; number < count; number++) {
    if (view.getUint32(at, true) !== entrySignature) throw brokenZip()
    const nameBytes = view.getUint16(at + 28, true)
    const extraBytes = view.getUint16(at + 30, true)
    yield entryAt(view, bytes, at, shift)
    at += 46 + nameBytes + extraBytes + view.getUint16(at + 32, true)
  }
}

function findEnd(view: DataView): number {
  const lowest = Math.max(0, view.byteLength - 22 - 0xffff)
  for (let at = view.byteLength - 22; at >= lowest; at--) if (view.getUint32(at, true) === endSignature) return at
  throw brokenZip()
}

function entryAt(view: DataView, bytes: Uint8Array, at: number, shift: number): Entry {
  const nameEnd = at + 46 + view.getUint16(at + 28, true)
  const sizes = {
    bytes: view.getUint32(at + 24, true),
    packedBytes: view.getUint32(at + 20, true),
    headerAt: view.getUint32(at + 42, true),
  }
  readLargeSizes(view, nameEnd, nameEnd + view.getUint16(at + 30, true), sizes)
  return {
    name: new TextDecoder().decode(bytes.subarray(at + 46, nameEnd)).replaceAll('\\', '/'),
    isEncrypted: (view.getUint16(at + 8, true) & 1) === 1,
    method: view.getUint16(at + 10, true),
    crc: view.getUint32(at + 16, true),
    packedBytes: sizes.packedBytes,
    bytes: sizes.bytes,
    headerAt: sizes.headerAt + shift,
  }
}

/** Zip64: 0xffffffff stands for a value in an extra field, in this order; streaming writers always do this. */
function readLargeSizes(
  view: DataView,
  from: number,
  to: number,
  sizes: { bytes: number; packedBytes: number; headerAt: number },
): void {
  for (let at = from; at + 4 <= to; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue
    let valueAt = at + 4
    for (const key of ['bytes', 'packedBytes', 'headerAt'] as const) {
      if (sizes[key] !== 0xffffffff) continue
      sizes[key] = Number(view.getBigUint64(valueAt, true))
      valueAt += 8
    }
    return
  }
}

function unpack(entry: Entry, view: DataView, bytes: Uint8Array, budget: Budget): Uint8Array {
  if (entry.isEncrypted)
    throw refusal('encrypted', 'The file is protected by a password: remove the password and send it again.')
  if (entry.bytes > bombBytes && entry.bytes > entry.packedBytes * bombRatio)
    throw refusal('bomb', 'The file is packed as no document is (a zip bomb): it is not unpacked.')
  budget.takeUnpacked(entry.bytes)
  const content = unpackedContent(entry, packedContent(entry, view, bytes))
  if (content.byteLength !== entry.bytes || crc32(content) !== entry.crc) throw brokenZip()
  return content
}

function packedContent(entry: Entry, view: DataView, bytes: Uint8Array): Uint8Array {
  const at = entry.headerAt
  if (at + 30 > view.byteLength || view.getUint32(at, true) !== headerSignature) throw brokenZip()
  const from = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true)
  if (from + entry.packedBytes > bytes.byteLength) throw brokenZip()
  return bytes.subarray(from, from + entry.packedBytes)
}

function unpackedContent(entry: Entry, packed: Uint8Array): Uint8Array {
  if (entry.method === 0) return packed
  if (entry.method !== 8)
    throw refusal('unsupported', 'The file is packed in a way that is not known here: save it anew.')
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, entry.bytes) })
  } catch (error) {
    throw brokenZip(error)
  }
}
