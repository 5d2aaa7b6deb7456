import type { StreamListener } from '@inlay/agent'
import { yieldToEventLoop } from '@inlay/scheduling'

/** Longer deltas are read in parts: reading takes up to a microsecond or more per character. */
const maxDeltaLength = 4_096
const partLength = 1_024

export interface LongDeltas extends StreamListener {
  /** Resolves once nothing waits; rejects with the listener's error. Undefined while nothing waits. */
  readonly done: Promise<void> | undefined
}

/** The event loop turns between parts; deltas that come meanwhile are queued. @param isOver whether to drop these */
export function createLongDeltas(listener: StreamListener, isOver: () => boolean): LongDeltas {
  type Delta = readonly [kind: 'onText' | 'onReasoning', text: string]
  const waiting: Delta[] = []
  const deltas = {
    done: undefined as Promise<void> | undefined,
    onText: (text: string): void => {
      if (text.length > maxDeltaLength || deltas.done) wait([...partsOf(text)].map((part) => ['onText', part]))
      else listener.onText(text)
    },
    onReasoning: (text: string): void => {
      if (deltas.done) wait([['onReasoning', text]])
      else listener.onReasoning(text)
    },
  }

  function wait(parts: readonly Delta[]): void {
    waiting.push(...parts)
    deltas.done ??= readAll()
    // Avoids an unhandled rejection; the reader of the stream awaits it too, perhaps later.
    deltas.done.catch(() => {})
  }

  async function readAll(): Promise<void> {
    for (let delta = waiting.shift(); delta; delta = waiting.shift()) {
      const [kind, text] = delta
      if (isOver()) waiting.length = 0
      else listener[kind](text)
      await yieldToEventLoop()
    }
    deltas.done = undefined
  }
  return deltas
}

/** Parts of the text that split no surrogate pair. */
function* partsOf(text: string): Generator<string> {
  for (let [from, to] = [0, 0]; from < text.length; from = to) {
    to = from + partLength
    if (/^[\uDC00-\uDFFF]/.test(text.charAt(to))) to++
    yield text.slice(from, to)
  }
}
