import type { Services } from '@inlay/agent'
import { InlayError, isInlayError } from '@inlay/protocol'
import { joinInSlices } from '@inlay/scheduling'
import type { BlobStorage } from './contracts.ts'

/**
 * Stores files in pieces, so that no more than a piece is in memory and the storage need not support streams. A file
 * exists once its record says so; pieces without a record are garbage.
 */
export interface Blobs {
  /**
   * Stores bytes as they come.
   * @param maxBytes PAYLOAD_TOO_LARGE above it
   * @param beforePiece called before each piece with the bytes including it
   * @returns how many bytes there were
   */
  write(
    id: string,
    bytes: AsyncIterable<Uint8Array>,
    options: { readonly maxBytes: number; readonly beforePiece?: (bytes: number) => Promise<void> },
  ): Promise<number>
  /** The first bytes, at most a piece. */
  start(id: string): Promise<Uint8Array>
  stream(id: string, sizeBytes: number): ReadableStream<Uint8Array>
  readAll(id: string, sizeBytes: number): Promise<Uint8Array<ArrayBuffer>>
  /** Removes a file's pieces; missing ones are ignored. */
  remove(id: string, sizeBytes: number): Promise<void>
}

/** Bytes of a piece; the last of a file is shorter. */
export const pieceBytes: number = 4 * 2 ** 20

const keyOf = (id: string, piece: number): string => `files:${id}:${piece}`

/** The keys under which a storage holds the bytes of a file. @param id its `file_id` */
export function keysOfFile(id: string, sizeBytes: number): string[] {
  return Array.from({ length: Math.ceil(sizeBytes / pieceBytes) }, (_, piece) => keyOf(id, piece))
}

/** Creates the store. Its calls reject with SERVICE_UNAVAILABLE while the storage fails. */
export function createBlobs(driver: BlobStorage, onError: Services['onError']): Blobs {
  const storage = withOutages(driver, onError)
  // Some storages ignore writes without an error, so the first value is read back.
  let isProven = false
  const keep = async (key: string, piece: Uint8Array): Promise<void> => {
    await storage.setItemRaw(key, piece)
    if (isProven) return
    if (toBytes(await storage.getItemRaw(key))?.byteLength !== piece.byteLength) {
      throw new InlayError('UNSUPPORTED', { message: 'The storage of files did not keep what was written to it.' })
    }
    isProven = true
  }
  const read = async (id: string, piece: number, expectedBytes: number): Promise<Uint8Array> => {
    const bytes = toBytes(await storage.getItemRaw(keyOf(id, piece)))
    if (bytes?.byteLength === expectedBytes) return bytes
    throw new InlayError('GONE', { message: 'The storage lost a part of the file: upload it again.' })
  }
  return {
    write: async (id, bytes, { maxBytes, beforePiece }) => {
      let size = 0
      let count = 0
      for await (const piece of toPieces(bytes)) {
        size += piece.byteLength
        if (size > maxBytes) throw tooLarge(maxBytes)
        await beforePiece?.(size)
        await keep(keyOf(id, count++), piece)
      }
      return size
    },
    start: async (id) => toBytes(await storage.getItemRaw(keyOf(id, 0))) ?? new Uint8Array(),
    stream: (id, sizeBytes) => {
      let piece = 0
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            const from = piece * pieceBytes
            if (from >= sizeBytes) return controller.close()
            controller.enqueue(await read(id, piece++, Math.min(pieceBytes, sizeBytes - from)))
          },
        },
        { highWaterMark: 0 },
      )
    },
    readAll: async (id, sizeBytes) => {
      const whole = new Uint8Array(sizeBytes)
      for (let from = 0; from < sizeBytes; from += pieceBytes) {
        whole.set(await read(id, from / pieceBytes, Math.min(pieceBytes, sizeBytes - from)), from)
      }
      return whole
    },
    remove: async (id, sizeBytes) => {
      for (const key of keysOfFile(id, sizeBytes)) await storage.removeItem(key)
    },
  }
}

/** Storages fail with errors of their own, which callers cannot tell from faults of this service. */
function withOutages(storage: BlobStorage, onError: Services['onError']): BlobStorage {
  const guarded = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    try {
      return await call()
    } catch (cause) {
      if (isInlayError(cause)) throw cause
      onError(cause)
      throw new InlayError('SERVICE_UNAVAILABLE', { message: 'The storage of files failed: try again later.', cause })
    }
  }
  return {
    setItemRaw: (key, value) => guarded(() => storage.setItemRaw(key, value)),
    getItemRaw: (key) => guarded(() => storage.getItemRaw(key)),
    removeItem: (key) => guarded(() => storage.removeItem(key)),
  }
}

function tooLarge(maxBytes: number): InlayError {
  return new InlayError('PAYLOAD_TOO_LARGE', {
    message: `The file is larger than ${Math.round(maxBytes / 100_000) / 10} MB: split it, or send a smaller one.`,
  })
}

/** Splits bytes into full pieces, each with its own memory. */
async function* toPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let filled = 0
  for await (let chunk of bytes) {
    while (filled + chunk.byteLength >= pieceBytes) {
      const taken = pieceBytes - filled
      yield joinInSlices([...parts, chunk.subarray(0, taken)], pieceBytes)
      chunk = chunk.subarray(taken)
      parts = []
      filled = 0
    }
    if (chunk.byteLength > 0) parts.push(chunk.slice())
    filled += chunk.byteLength
  }
  if (filled > 0) yield joinInSlices(parts, filled)
}

function toBytes(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  return undefined
}
