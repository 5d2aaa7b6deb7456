import {
  createLineDecoder,
  type DecodedLine,
  isErrorLine,
  isInlayError,
  isPacket,
  type StreamLine,
} from '@inlay/protocol'
import { lost } from './transport.ts'

export async function* readLines(
  response: Response,
  options: { idleTimeoutMs: number; signal?: AbortSignal },
): AsyncGenerator<DecodedLine> {
  const decoder = createLineDecoder()
  const reader = response.body?.getReader()
  if (!reader) return
  // An in-process handler does not connect the body to the request's signal.
  const leave = (): void => void reader.cancel().catch(() => {})
  options.signal?.addEventListener('abort', leave, { once: true })
  try {
    for (;;) {
      const piece = await orSilence(reader.read(), options.idleTimeoutMs)
      if (piece.done) break
      yield* decoder.push(piece.value)
    }
    options.signal?.throwIfAborted()
    yield* decoder.end()
  } catch (error) {
    if (isLost(error) || options.signal?.aborted) throw lost(error, options.signal)
    throw error
  } finally {
    options.signal?.removeEventListener('abort', leave)
    // A reader that stops early must release the connection; on a broken one this does nothing.
    leave()
  }
}

/** Platforms report a broken body with different errors; only the error for an invalid JSON line is our own. */
const isLost = (error: unknown): boolean => !(isInlayError(error) && error.code === 'BAD_GATEWAY')

/** Since the server sends heartbeats, a long silence means that the connection is broken. */
async function orSilence<Value>(value: Promise<Value>, idleTimeoutMs: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The connection is silent.')), idleTimeoutMs)
  })
  try {
    return await Promise.race([value, silence])
  } finally {
    clearTimeout(timer)
  }
}

/** Determines which lines are new, over all connections to a run, and whether the run has ended. */
export interface RunProgress {
  /** Starts a connection. @returns the line number to resume after; undefined to start from the beginning */
  connect(): number | undefined
  /** Whether a line is new; heartbeats never are. */
  accept(decoded: DecodedLine): boolean
  readonly isComplete: boolean
}

/**
 * Lines without numbers are replayed from the first, so they are counted. @param after the last received before; 0 for
 * none
 */
export function createProgress(after = 0): RunProgress {
  let seen = after
  let isNumbered = after > 0
  let position = 0
  let models = 1
  let ended = 0
  const countEnd = (line: StreamLine): true => {
    if ('responses' in line) models = Math.max(1, line.responses.length)
    ended += endsOf(line, models)
    return true
  }
  return {
    connect() {
      position = 0
      return isNumbered ? seen : undefined
    },
    accept({ sequence, line }) {
      if (isPacket(line) && line.obj.type === 'chat_heartbeat') return false
      if (isNumbered && sequence === undefined) return countEnd(line)
      isNumbered ||= sequence !== undefined
      const number = sequence ?? ++position
      if (number <= seen) return false
      seen = number
      return countEnd(line)
    },
    get isComplete() {
      return ended >= models
    },
  }
}

/** Number of models whose answers a line ends: one, or all of them. */
function endsOf(line: StreamLine, models: number): number {
  if (isErrorLine(line)) return typeof line.details?.model_index === 'number' ? 1 : models
  if (!isPacket(line) || line.obj.type !== 'stop') return 0
  return line.placement.model_index === null ? models : 1
}
