import type { StartMode } from './context-script.ts'

/**
 * Keeps the memory of a loaded Python, packed: interpreters that begin with it start in a fifth of the time. The first
 * interpreter gives it away before it has a program, so that nothing of a program can be in it.
 */
export interface SnapshotKeeper {
  /** How the next interpreter is to start. */
  next(): { readonly start: StartMode; readonly bytes?: Uint8Array }
  /** Takes the next part from the interpreter that was started to make it. */
  add(part: Uint8Array): void
  /** That interpreter is ready: the parts are whole. */
  finish(): void
  /** That interpreter was ended before it was ready: the next one makes it. */
  forget(): void
  /** An interpreter that makes or loads a snapshot did not become ready: from here on, all start from nothing. */
  giveUp(): void
}

/** Most bytes of a packed snapshot; a usual one has 6 MB. */
const limitBytes = 67_108_864

/** Makes a keeper that holds nothing yet. */
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
      if (state === 'making') parts.push(part.slice())
      if (parts.reduce((sum, { byteLength }) => sum + byteLength, 0) > limitBytes) giveUp()
    },
    finish() {
      if (state !== 'making') return
      bytes = joined(parts)
      parts = []
      state = bytes.byteLength > 0 ? 'whole' : 'given up'
    },
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.byteLength
  }
  return whole
}
