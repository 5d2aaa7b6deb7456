import { isInlayError } from '@inlay/protocol'

/** One line of a body: its number, counted from 1 over all lines, and what it holds. */
export interface BodyLine {
  readonly number: number
  /** Undefined for a line that is above the limit or not UTF-8, and where the body cannot be read any further. */
  readonly text: string | undefined
  readonly fault: 'too_long' | 'not_utf8' | 'unreadable' | undefined
  readonly bytes: number
}

const newline = 10

/**
 * Reads a body line by line, as far as the consumer asks; blank lines are counted and left out. A line above the limit
 * is skipped without being kept, and told as such; a body whose compression is broken ends with such a line too.
 * @param left ends the reading at once, also in the middle of a line
 */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  limitBytes: number,
  left: AbortSignal,
): AsyncGenerator<BodyLine> {
  const reader = body.getReader()
  // The transport then knows that nobody reads on; a generator's own `return` would wait for the read under way.
  left.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let number = 0
  let bytes = 0
  let pieces: Uint8Array[] = []

  function take(piece: Uint8Array): void {
    bytes += piece.byteLength
    if (bytes > limitBytes) pieces = []
    else pieces.push(piece)
  }

  function complete(): BodyLine | undefined {
    const line = bytes > limitBytes ? undefined : joined(pieces)
    const size = bytes
    number++
    bytes = 0
    pieces = []
    if (line === undefined) return { number, text: undefined, fault: 'too_long', bytes: size }
    try {
      const text = decoder.decode(line)
      return text.trim() === '' ? undefined : { number, text, fault: undefined, bytes: size }
    } catch {
      return { number, text: undefined, fault: 'not_utf8', bytes: size }
    }
  }

  /** The next piece; undefined where the compression is broken. */
  const next = (): Promise<ReadableStreamReadResult<Uint8Array> | undefined> =>
    reader.read().catch((error: unknown) => {
      if (isInlayError(error)) return undefined
      throw error
    })

  let step = await next()
  for (; step && !step.done; step = await next()) {
    let from = 0
    for (let at = step.value.indexOf(newline); at !== -1; at = step.value.indexOf(newline, from)) {
      take(step.value.subarray(from, at))
      from = at + 1
      const line = complete()
      if (line !== undefined) yield line
    }
    take(step.value.subarray(from))
  }
  if (step === undefined) {
    yield { number: number + 1, text: undefined, fault: 'unreadable', bytes: 0 }
    return
  }
  const last = bytes > 0 && !left.aborted ? complete() : undefined
  if (last !== undefined) yield last
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0]!
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.byteLength, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}
