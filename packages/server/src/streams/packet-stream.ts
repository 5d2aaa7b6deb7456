import type { LogEntry, Run } from '@inlay/agent'
import { encodeLine, frameLine, heartbeatLine, InlayError, streamContentType, type StreamLine } from '@inlay/protocol'
import { reply, type Reply } from '../http/replies.ts'
import type { KeyWatch } from '../http/route.ts'
import type { Timer } from '../http/settings.ts'

/** Options for sending a run. */
export interface PacketStreamOptions {
  readonly format: 'sse' | 'lines'
  /** Sends lines with a higher number; 0 sends all. */
  readonly cursor?: number
  /** Idle time before a heartbeat is sent, in milliseconds. */
  readonly heartbeatMs: number
  readonly timer: Timer
  /** Reports when the reader's key becomes invalid, which ends the stream with an error. */
  readonly watchKey: KeyWatch
  /** Called when reading the run fails, which ends the stream. */
  readonly onError: (error: unknown) => void
}

/** Maximum chunk size: a slow reader holds one chunk, not the whole log. */
const chunkChars = 65_536

/**
 * Creates a reply that replays the lines of a run after the cursor, then follows it. Reads at the pace of the socket,
 * joins all available lines into one chunk, and never ends the run: disconnecting only stops reading.
 */
export function packetReply(run: Run, options: PacketStreamOptions): Reply {
  return reply(new ReadableStream<Uint8Array>(follow(run, options), { highWaterMark: 0 }), {
    headers: {
      'content-type': streamContentType,
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
    endsWithKey: true,
  })
}

const encoder = new TextEncoder()

/**
 * Feeds the lines of a run to a stream, one chunk per pull. `pull` returns no promise, since one per line costs as much
 * as the line. A failure closes the stream without an error, so that the client resumes from its cursor; an error would
 * cut the connection.
 */
function follow(run: Run, options: PacketStreamOptions): UnderlyingDefaultSource<Uint8Array> {
  const { format, heartbeatMs, timer, onError } = options
  const left = new AbortController()
  const source = run.read(options.cursor ?? 0, left.signal)[Symbol.asyncIterator]()
  let controller: ReadableStreamDefaultController<Uint8Array>
  let [ready, at]: [readonly LogEntry[], number] = [[], 0]
  // Whether the reader waits for a chunk, and whether a read of the log is pending.
  let [isWanted, isReading] = [false, false]
  const send = (text: string): void => {
    isWanted = false
    controller.enqueue(encoder.encode(text))
  }
  const silence = watchSilence(heartbeatMs, timer, () => {
    if (isWanted) send(frameLine(encodeLine(heartbeatLine), options))
  })
  const over = new AbortController()
  const refuse = (): void => {
    if (left.signal.aborted) return
    silence.stop()
    left.abort()
    send(refusalLines.map((line) => frameLine(encodeLine(line), { format })).join(''))
    controller.close()
    void source.return?.()
  }
  const take = (step: IteratorResult<readonly LogEntry[]>): void => {
    isReading = false
    if (left.signal.aborted) return
    if (step.done !== true) {
      ;[ready, at] = [step.value, 0]
      if (isWanted) pull()
      return
    }
    silence.stop()
    over.abort()
    controller.close()
  }
  const fail = (error: unknown): void => {
    if (!left.signal.aborted) onError(error)
    take({ done: true, value: undefined })
  }
  const pull = (): void => {
    isWanted = true
    if (at === ready.length) {
      silence.start()
      if (!isReading) source.next().then(take, fail)
      isReading = true
      return
    }
    silence.end()
    let text = ''
    while (at < ready.length && text.length < chunkChars) {
      const { json, sequence } = ready[at++]!
      text += frameLine(json, { format, sequence })
    }
    send(text)
  }
  return {
    start: (given) => {
      controller = given
      // Headers are sent with the first chunk, and a run at its end may be silent for a while.
      controller.enqueue(new Uint8Array(0))
      void options.watchKey(refuse, over.signal)
    },
    pull,
    cancel: async () => {
      silence.stop()
      over.abort()
      left.abort()
      await source.return?.()
    },
  }
}

/** Lines that end a stream when its reader loses access. They have no number, as the run continues. */
const refusalLines: readonly StreamLine[] = refusal(new InlayError('INVALID_TOKEN'))

function refusal({ message, code }: InlayError): StreamLine[] {
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
  return [
    { placement, obj: { type: 'error', exception: message, error_code: code, is_retryable: false } },
    { error: message, stack_trace: null, error_code: code, is_retryable: false, details: null },
  ]
}

/** Watches for idle time. */
export interface SilenceWatch {
  /** Starts waiting: a reader wants data. */
  start(): void
  /** Data was sent. */
  end(): void
  /** Pauses the watch until the next `start`. */
  stop(): void
}

/**
 * Creates a watch that fires when nothing was sent for `limitMs` while a reader waits. Uses one timer that is moved
 * when it fires: setting one per line costs more than sending it.
 */
export function watchSilence(limitMs: number, timer: Timer, onSilence: () => void): SilenceWatch {
  let cancel: (() => void) | undefined
  // Time of the last data since the timer was set.
  let endedAt: number | undefined
  const start = (delayMs = limitMs): void => {
    if (cancel !== undefined) return
    endedAt = undefined
    cancel = timer(delayMs, () => {
      cancel = undefined
      if (endedAt === undefined) onSilence()
      else start(Math.max(1, endedAt + limitMs - performance.now()))
    })
  }
  return {
    start,
    end: () => void (endedAt = performance.now()),
    stop: () => {
      cancel?.()
      cancel = undefined
    },
  }
}
