import { InlayError } from '@inlay/protocol'

/** The vector space an index is opened with. */
export interface Space {
  readonly id: string
  readonly dimensions: number
}

/** Stands for the space of an index without vectors, which takes none in a query. */
export const noSpace: Space = { id: '', dimensions: -1 }

/** State of an index while it is open. */
export interface OpenState<Opened> {
  /** @throws CLOSED after `close`, UNSUPPORTED before `set` */
  get(): Opened
  /** As `get`, but undefined while it is not open. */
  peek(): Opened | undefined
  readonly isClosed: boolean
  /** @throws CLOSED after `close` */
  refuseClosed(): void
  set(opened: Opened): void
  close(): void
}

/** The state of an index that nobody has opened yet. */
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

/**
 * Refuses a vector of another length than the space's, or one with a number that is not finite: an engine may pad or cut
 * it without a word.
 * @throws INDEX_MISMATCH
 */
export function checkVector(vector: Float32Array | undefined, space: Space | undefined): void {
  if (vector?.length !== space?.dimensions)
    throw new InlayError('INDEX_MISMATCH', { message: 'A vector has another length than the index was opened with.' })
  // A number times zero is zero only if it is finite; a tenth of the cost of asking each.
  let sum = 0
  for (let at = 0; at < (vector?.length ?? 0); at++) sum += vector![at]! * 0
  if (sum !== 0)
    throw new InlayError('INDEX_MISMATCH', { message: 'A vector holds a value that is not a finite number.' })
}
