import { yieldToEventLoop } from '@inlay/protocol/concurrency'
import type { ThinkPiece } from './think-tags.ts'

/** A longer delta of text is read in parts: a sign takes a microsecond or more. */
export const longDelta = 4_096
const partLength = 1_024

/** Output of a model that came faster than it can be read. */
export interface LongDeltas {
  /** Adds output behind what waits. */
  add(delta: ThinkPiece): void
  /** Resolves once nothing waits; rejects with what `read` throws. Undefined while nothing waits. */
  readonly done: Promise<void> | undefined
}

/**
 * Reads long deltas in parts with a turn of the event loop between, and what comes meanwhile behind them.
 * @param isOver whether nothing more is to be read: what waits is dropped
 */
export function createLongDeltas(read: (delta: ThinkPiece) => void, isOver: () => boolean): LongDeltas {
  const waiting: ThinkPiece[] = []
  const long = { done: undefined as Promise<void> | undefined, add }

  function add(delta: ThinkPiece): void {
    for (const text of delta.kind === 'text' ? partsOf(delta.text) : [delta.text])
      waiting.push({ kind: delta.kind, text })
    long.done ??= readAll()
    // Avoids an unhandled rejection; the reader of the stream awaits it too, perhaps later.
    long.done.catch(() => {})
  }

  async function readAll(): Promise<void> {
    for (let delta = waiting.shift(); delta; delta = waiting.shift()) {
      if (isOver()) waiting.length = 0
      else read(delta)
      await yieldToEventLoop()
    }
    long.done = undefined
  }
  return long
}

/** The text in parts that split no character. */
function* partsOf(text: string): Generator<string> {
  for (let [from, to] = [0, 0]; from < text.length; from = to) {
    to = from + partLength
    if (/^[\uDC00-\uDFFF]/.test(text.charAt(to))) to++
    yield text.slice(from, to)
  }
}
