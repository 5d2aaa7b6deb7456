import type { LogEntry, Run } from '@inlay/agent'
import { encodeLine, frameLine, heartbeatLine, InlayError, streamContentType, type StreamLine } from '@inlay/protocol'
import { reply, type Reply } from '../http/replies.ts'
import type { KeyWatch } from '../http/route.ts'
import type { Timer } from '../http/settings.ts'

/** How a run is written to a socket. */
export interface PacketStreamOptions {
  readonly format: 'sse' | 'lines'
  /** Lines numbered above this are sent; 0 sends all. */
  readonly cursor?: number
  /** Silence after which a heartbeat is sent, in milliseconds. */
  readonly heartbeatMs: number
  readonly timer: Timer
  /** Calls back when the key of the reader is refused, which ends the stream with an error. */
  readonly watchKey: KeyWatch
  /** Told when reading the run failed, which ends the stream. */
  readonly onError: (error: unknown) => void
}

/** A chunk grows no further than this: a slow reader holds one chunk, not the whole log. */
const chunkChars = 65_536

/**
 * Reply that follows a run: replays its lines after the cursor, then tails it. Reads only as fast as the socket
 * takes, joins all lines that are ready into one chunk, and never ends the run: a reader that leaves only leaves.
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
 * Brings the lines of a run to a stream, one chunk for each pull, as soon as there is something. A pull gives no promise:
 * one for each line costs as much as the line. A failure closes the stream, so that the client resumes from its cursor:
 * an error in the stream would cut the connection.
 */
function follow(run: Run, options: PacketStreamOptions): UnderlyingDefaultSource<Uint8Array> {
  const { format, heartbeatMs, timer, onError } = options
  const left = new AbortController()
  const source = run.read(options.cursor ?? 0, left.signal)[Symbol.asyncIterator]()
  let controller: ReadableStreamDefaultController<Uint8Array>
  let [ready, at]: [readonly LogEntry[], number] = [[], 0]
  // The reader waits for a chunk; the log was asked for more lines.
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
      // Headers go with the first chunk, and a run that is followed at its end may be silent for a while.
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

/** Ends a stream whose reader may read no more; no number of a line, as the run goes on without them. */
const refusalLines: readonly StreamLine[] = refusal(new InlayError('INVALID_TOKEN'))

function refusal({ message, code }: InlayError): StreamLine[] {
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
  return [
    { placement, obj: { type: 'error', exception: message, error_code: code, is_retryable: false } },
    { error: message, stack_trace: null, error_code: code, is_retryable: false, details: null },
  ]
}

/** Watches how long nothing is sent. */
export interface SilenceWatch {
  /** Somebody waits from now on. */
  start(): void
  /** Something is sent. */
  end(): void
  /** Watches no more, until the next `start`. */
  stop(): void
}

/**
 * Makes a watch that tells once when, while somebody waits, nothing was sent for `limitMs`. It keeps one timer at a
 * time and moves it when it fires: setting one for each line costs more than sending it.
 */
export function watchSilence(limitMs: number, timer: Timer, onSilence: () => void): SilenceWatch {
  let cancel: (() => void) | undefined
  // Since the timer was set.
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
