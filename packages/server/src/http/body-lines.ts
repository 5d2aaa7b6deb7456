import { isInlayError } from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/scheduling'
import { joinBytes, largeBytes, type BodyShare } from './body.ts'

/** One line of a body, with its number from 1. */
export interface BodyLine {
  readonly number: number
  /** Undefined for a line that is over the limit or not UTF-8, and when the body cannot be read further. */
  readonly text: string | undefined
  /** Bytes of a line longer than a megabyte; {@link text} is then undefined. */
  readonly pieces?: readonly Uint8Array[]
  readonly fault: 'too_long' | 'not_utf8' | 'unreadable' | undefined
  /** Reason why the memory budget refused the line. */
  readonly refusal?: unknown
  readonly bytes: number
  /** Releases the share of the memory budget. */
  release(): void
}

export interface LineOptions {
  readonly maxBytes: number
  /** Stops reading at once when aborted, even in the middle of a line. */
  readonly left: AbortSignal
  /** Called for each line, which an error of `grow` refuses. */
  readonly openShare: () => BodyShare
}

const newline = 10
/** One network read may contain thousands of lines. */
const linesBetweenTurns = 64

/**
 * Reads a body line by line, at the pace of the consumer; blank lines are counted but skipped. A line over the limit,
 * or one that the memory budget refuses, is skipped without buffering and reported. Broken compression is reported as a
 * last line.
 */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  { maxBytes, left, openShare }: LineOptions,
): AsyncGenerator<BodyLine> {
  const reader = body.getReader()
  // Cancels the transport's stream directly, because `return` of the generator would wait for the pending read.
  left.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
  let number = 0
  let line = createLine(maxBytes, openShare())

  function complete(): BodyLine | undefined {
    const { release } = line
    const read = line.complete()
    line = createLine(maxBytes, openShare())
    number++
    if (read !== undefined) return { number, ...read, release }
    release()
    return undefined
  }

  /** The next chunk; undefined when the compression is broken. */
  const next = (): Promise<ReadableStreamReadResult<Uint8Array> | undefined> =>
    reader.read().catch((error: unknown) => {
      if (isInlayError(error)) return undefined
      throw error
    })

  try {
    let step = await next()
    for (; step && !step.done; step = await next()) {
      let from = 0
      for (let at = step.value.indexOf(newline); at !== -1; at = step.value.indexOf(newline, from)) {
        line.take(step.value.subarray(from, at))
        from = at + 1
        const read = complete()
        if (read !== undefined) yield read
        if (number % linesBetweenTurns === 0) await yieldToEventLoop()
      }
      line.take(step.value.subarray(from))
    }
    if (step === undefined) {
      yield { number: number + 1, text: undefined, fault: 'unreadable', bytes: 0, release: () => {} }
      return
    }
    const last = line.bytes() > 0 && !left.aborted ? complete() : undefined
    if (last !== undefined) yield last
  } finally {
    line.release()
  }
}

interface OpenLine {
  take(piece: Uint8Array): void
  bytes(): number
  /** Undefined for a blank line. */
  complete(): Omit<BodyLine, 'number' | 'release'> | undefined
  release(): void
}

function createLine(maxBytes: number, share: BodyShare): OpenLine {
  let bytes = 0
  let pieces: Uint8Array[] = []
  let refusal: unknown

  function drop(): void {
    pieces = []
    share.release()
  }

  return {
    bytes: () => bytes,
    release: share.release,
    take: (piece) => {
      bytes += piece.byteLength
      if (refusal !== undefined || bytes > maxBytes) return drop()
      try {
        share.grow(bytes)
        pieces.push(piece)
      } catch (error) {
        refusal = error
        drop()
      }
    },
    complete: () => {
      if (bytes > maxBytes) return { text: undefined, fault: 'too_long', bytes }
      if (refusal !== undefined) return { text: undefined, fault: undefined, refusal, bytes }
      if (bytes > largeBytes) {
        const isBlank = pieces.every((piece) => piece.every((byte) => byte <= 0x20))
        return isBlank ? undefined : { text: undefined, pieces, fault: undefined, bytes }
      }
      try {
        const text = decoder.decode(pieces.length === 1 ? pieces[0] : joinBytes(pieces, bytes))
        return text.trim() === '' ? undefined : { text, fault: undefined, bytes }
      } catch {
        return { text: undefined, fault: 'not_utf8', bytes }
      }
    },
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })
