import { InlayError, isInlayError, type StreamLine } from '@inlay/protocol'
import { createProgress, readLines } from './line-source.ts'
import { pause } from './pause.ts'

/** How a client reconnects when the connection to a run drops. */
export interface ResumeOptions {
  /** Maximum number of consecutive attempts without a new line; 0 never resumes. Default 6. */
  readonly attempts?: number
  /** Delay before an attempt, in milliseconds; attempts count from 1. Default: doubling from 250 to 8000. */
  readonly delayMs?: (attempt: number) => number
  /**
   * Silence after which a connection counts as broken, in milliseconds; heartbeats are sent every 15 s. Default 45,000.
   */
  readonly idleTimeoutMs?: number
}

export interface AnswerSource {
  /** Starts the run; can be retried until a response arrives. Absent: the run exists. */
  readonly start?: () => Promise<Response>
  /** Resumes the run after the line with that number; undefined: from the beginning. */
  readonly resume: (sessionId: string, after: number | undefined) => Promise<Response>
  readonly sessionId: string | null
  /** Whether the service runs on this machine, and so is reached without a network. */
  readonly isLoopback: boolean
  /** Number of the last line received before. Default 0. */
  readonly after?: number
  readonly options: Required<ResumeOptions>
  readonly signal?: AbortSignal
  readonly onConnectionChange?: OnConnectionChange | undefined
}

/**
 * Called with `false` when the connection of an answer is lost for more than a moment, again after each further attempt
 * that fails, and with `true` when lines arrive again.
 */
export type OnConnectionChange = (isConnected: boolean) => void

/** Time between two attempts while the device is offline, in milliseconds. */
const offlineDelayMs = 1000

/** Some networks are reached even then, so this alone says nothing. Undefined outside of browsers. */
const isOffline = (): boolean => globalThis.navigator?.onLine === false

export function resumeOptions(options: ResumeOptions = {}): Required<ResumeOptions> {
  return {
    attempts: options.attempts ?? 6,
    delayMs: options.delayMs ?? ((attempt) => Math.min(8000, 250 * 2 ** (attempt - 1))),
    idleTimeoutMs: options.idleTimeoutMs ?? 45_000,
  }
}

/** The connection broke, or something between the client and the run is temporarily down. */
const isPassing = (error: unknown): boolean =>
  isInlayError(error) && (error.code === 'CONNECTION_ERROR' || [502, 503, 504].includes(Number(error.data.status ?? 0)))

/** New lines of a run, over any number of connections. */
export async function* followRun(source: AnswerSource, sessionId: () => string | null): AsyncGenerator<StreamLine> {
  const { options, signal } = source
  const progress = createProgress(source.after)
  let isStarted = source.start === undefined
  let attempt = 0
  let isLost = false
  const setConnected = (isConnected: boolean): void => {
    isLost = !isConnected
    source.onConnectionChange?.(isConnected)
  }
  for (;;) {
    let response: Response | undefined
    try {
      const after = progress.connect()
      const session = sessionId()
      response =
        isStarted && session !== null ? await source.resume(session, after) : await (source.start ?? unknownSession)()
      isStarted = true
      for await (const decoded of readLines(response, { idleTimeoutMs: options.idleTimeoutMs, signal })) {
        if (isLost) setConnected(true)
        if (!progress.accept(decoded)) continue
        attempt = 0
        yield decoded.line
        if (progress.isComplete) return
      }
      throw new InlayError('CONNECTION_ERROR', { message: 'The stream ended before the answer was complete.' })
    } catch (error) {
      if (signal?.aborted || !isPassing(error)) throw error
      // It takes as long as it takes until a device is back online, so attempts without a connection do not count.
      const isUnconnected = response === undefined && isInlayError(error) && error.data.status === undefined
      const isUncounted = options.attempts > 0 && isUnconnected && !source.isLoopback && isOffline()
      if (!isUncounted && ++attempt > options.attempts) throw error
      if (isUncounted || attempt > 1) setConnected(false)
      await pause(isUncounted ? offlineDelayMs : options.delayMs(attempt), signal)
    }
  }
}

function unknownSession(): never {
  throw new InlayError('INVALID_INPUT', { message: 'A run can only be resumed with the id of its session.' })
}
