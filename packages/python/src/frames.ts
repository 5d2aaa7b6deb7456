import { Buffer } from 'node:buffer'
/** A message between the host and an interpreter's process: a kind, a length, bytes. */
export interface Frame {
  readonly kind: FrameKind
  readonly payload: Uint8Array
}

/**
 * - `snapshot`: from an interpreter, a part of its packed memory; to one, the whole
 * - `ready`: the interpreter waits for its program; no payload
 * - `stdout`, `stderr`: bytes that the program wrote
 * - `file`: name and size of a produced file, as JSON; `bytes`: the next part of it
 * - `done`: how the program ended, as JSON
 * - `job`: the program, as JSON, for the interpreter; the bytes of its files follow it without frames
 */
export type FrameKind = 'snapshot' | 'ready' | 'stdout' | 'stderr' | 'file' | 'bytes' | 'done' | 'job'

const kinds: readonly FrameKind[] = ['snapshot', 'ready', 'stdout', 'stderr', 'file', 'bytes', 'done', 'job']

/** Bytes of a frame before its payload: the kind, and the length as 32 bits, the highest first. */
export const frameHeadBytes = 5

/** A program, as sent to its interpreter. */
export interface Job {
  readonly code: string
  readonly timeoutMs: number
  readonly maxOutputBytes: number
  readonly maxFilesBytes: number
  /** In the order in which their bytes follow. */
  readonly files: readonly { readonly name: string; readonly size: number }[]
}

/** How a program ended, as its interpreter reports it. */
export interface JobEnd {
  readonly exitCode: number | null
  readonly timedOut: boolean
  /** Whether the interpreter itself failed. */
  readonly isCrash: boolean
  readonly isOutputCut: boolean
  readonly droppedFiles: readonly string[]
}

export function encodeFrame(kind: FrameKind, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(frameHeadBytes + payload.byteLength)
  frame[0] = kinds.indexOf(kind)
  new DataView(frame.buffer).setUint32(1, payload.byteLength)
  frame.set(payload, frameHeadBytes)
  return frame
}

/** Reads kind and length from the first bytes of a frame; undefined for an unknown kind. */
export function readFrameHead(head: Uint8Array): { readonly kind: FrameKind; readonly length: number } | undefined {
  const kind = kinds[head[0] ?? kinds.length]
  return kind && { kind, length: new DataView(head.buffer, head.byteOffset).getUint32(1) }
}

/**
 * Assembles frames from pieces of any size.
 * @param maxBytes maximum payload; the sender is not trusted
 * @returns a function that takes the next piece and returns the frames it completes; undefined after the first
 * malformed one
 */
export function createFrameReader(maxBytes: number): (piece: Uint8Array) => readonly Frame[] | undefined {
  let rest: Uint8Array = new Uint8Array(0)
  let isBroken = false
  return (piece) => {
    if (isBroken) return undefined
    let bytes: Uint8Array = rest.byteLength === 0 ? piece : Buffer.concat([rest, piece])
    const frames: Frame[] = []
    while (bytes.byteLength >= frameHeadBytes) {
      const head = readFrameHead(bytes)
      if (!head || head.length > maxBytes) {
        isBroken = true
        return undefined
      }
      const end = frameHeadBytes + head.length
      if (bytes.byteLength < end) break
      frames.push({ kind: head.kind, payload: bytes.subarray(frameHeadBytes, end) })
      bytes = bytes.subarray(end)
    }
    rest = bytes
    return frames
  }
}
