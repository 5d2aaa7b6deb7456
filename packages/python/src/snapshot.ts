import { Buffer } from 'node:buffer'
import type { StartMode } from './context-script.ts'

/**
 * Keeps the compressed memory of a loaded Python, with which further interpreters start five times faster. The first
 * interpreter provides it before it gets a program, so it contains nothing of one.
 */
export interface SnapshotKeeper {
  /** How the next interpreter should start. */
  next(): { readonly start: StartMode; readonly bytes?: Uint8Array }
  /** Takes the next part from the interpreter that makes the snapshot. */
  add(part: Uint8Array): void
  /** The interpreter that makes the snapshot is ready, so the snapshot is complete. */
  finish(): void
  /** The interpreter that makes the snapshot ended before it was ready: the next one makes it. */
  forget(): void
  /** An interpreter that makes or loads a snapshot failed to start: from now on, all start without one. */
  giveUp(): void
}

/** Maximum size of a compressed snapshot; usually it is 6 MB. */
const maxBytes = 67_108_864

export function createSnapshotKeeper(): SnapshotKeeper {
  let state: 'none' | 'making' | 'whole' | 'given up' = 'none'
  let parts: Uint8Array[] = []
  let bytes: Uint8Array | undefined
  const giveUp = (): void => {
    state = 'given up'
    parts = []
    bytes = undefined
  }
  return {
    giveUp,
    forget() {
      if (state !== 'making') return
      state = 'none'
      parts = []
    },
    next() {
      if (state === 'whole' && bytes) return { start: 'load', bytes }
      if (state !== 'none') return { start: 'plain' }
      state = 'making'
      return { start: 'make' }
    },
    add(part) {
      // A copy: the part is a view of a larger piece.
      if (state === 'making') parts.push(new Uint8Array(part))
      if (parts.reduce((sum, { byteLength }) => sum + byteLength, 0) > maxBytes) giveUp()
    },
    finish() {
      if (state !== 'making') return
      bytes = new Uint8Array(Buffer.concat(parts))
      parts = []
      state = bytes.byteLength > 0 ? 'whole' : 'given up'
    },
  }
}
