import { InlayError } from '@inlay/protocol'

export interface Space {
  readonly id: string
  readonly dimensions: number
}

/** The space of an index without vectors; no query vector has its dimensions. */
export const noSpace: Space = { id: '', dimensions: -1 }

/** As stored in an index; "" for none. */
export const spaceName = (space: Space | undefined): string => (space ? `${space.id} ${space.dimensions}` : '')

export interface OpenState<Opened> {
  /** @throws CLOSED after `close`, UNSUPPORTED before `set` */
  get(): Opened
  /** Like `get`, but undefined while the index is not open. */
  peek(): Opened | undefined
  readonly isClosed: boolean
  /** @throws CLOSED after `close` */
  refuseClosed(): void
  set(opened: Opened): void
  close(): void
}

export function createOpenState<Opened extends object>(): OpenState<Opened> {
  let state: Opened | 'closed' | undefined
  const refuseClosed = (): void => {
    if (state === 'closed') throw new InlayError('CLOSED', { message: 'The index is closed.' })
  }
  return {
    get: () => {
      refuseClosed()
      if (typeof state !== 'object') throw new InlayError('UNSUPPORTED', { message: 'The index was not opened yet.' })
      return state
    },
    peek: () => (typeof state === 'object' ? state : undefined),
    get isClosed() {
      return state === 'closed'
    },
    refuseClosed,
    set: (opened) => {
      refuseClosed()
      state = opened
    },
    close: () => {
      state = 'closed'
    },
  }
}

/** An engine may silently pad or cut a vector. @throws INDEX_MISMATCH for another length or a value not finite */
export function checkVector(vector: Float32Array | undefined, space: Space | undefined): void {
  if (vector?.length !== space?.dimensions)
    throw new InlayError('INDEX_MISMATCH', { message: 'The length of a vector differs from that of the index.' })
  // Multiplied by zero, only finite numbers give zero. Ten times faster than checking each value.
  let sum = 0
  for (let at = 0; at < (vector?.length ?? 0); at++) sum += vector![at]! * 0
  if (sum !== 0)
    throw new InlayError('INDEX_MISMATCH', { message: 'A vector contains a value that is not a finite number.' })
}
