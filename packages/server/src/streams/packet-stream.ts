import type { LogEntry, Run, RunTail } from '@inlay/agent'
import { encodeLine, frameLine, heartbeatLine, InlayError, streamContentType, type StreamLine } from '@inlay/protocol'
import { reply, type Reply } from '../http/replies.ts'
import type { RouteContext } from '../http/route.ts'
import type { Timer } from '../http/settings.ts'

export interface PacketStreamOptions {
  readonly format: 'sse' | 'lines' | StreamFormat
  /** Sends lines with a higher number; 0 sends all. */
  readonly cursor?: number
  /** What is sent, for the log. */
  readonly label: string
}

/** The call that gets the stream. Its end comes with an error once its key becomes invalid. */
type Call = Pick<RouteContext<unknown, unknown, unknown>, 'request' | 'requestId' | 'settings' | 'watchKey'>

/** How a run is written as text; one for each stream, since it may keep state. */
export interface StreamFormat {
  /** The text for a line; empty if there is none. */
  line(entry: LogEntry): string
  /** Text that keeps an idle connection open. */
  readonly heartbeat: string
  /** Text for a reader whose key became invalid; the stream ends with it. */
  refusal(error: InlayError): string
  /** Text behind the last line. */
  end(): string
}

function packetFormat(format: 'sse' | 'lines'): StreamFormat {
  const frame = (line: StreamLine): string => frameLine(encodeLine(line), { format })
  return {
    line: ({ json, sequence }) => frameLine(json, { format, sequence }),
    heartbeat: frame(heartbeatLine),
    refusal: (error) => refusal(error).map(frame).join(''),
    end: () => '',
  }
}

/** Without state, and so shared by all streams. */
const packetFormats = { sse: packetFormat('sse'), lines: packetFormat('lines') }

/** Maximum chunk size: a slow reader holds one chunk, not the whole log. */
const chunkChars = 16_384

/** Receives the text of a stream, such as a web stream or the response of a server. */
export interface TextSink {
  /** @returns whether it accepts more now; otherwise it calls `resume` when it does */
  write(text: string): boolean
  end(): void
}

/** A stream that writes to a sink. */
export interface TextSource {
  /** Sends the available lines and follows new ones until the sink is full. */
  resume(): void
  /** Called when the reader disconnected. */
  cancel(): void
}

/** Bodies that can be written without an intermediate web stream, which would double the cost of a line. */
const textBodies = new WeakMap<ReadableStream, (sink: TextSink) => TextSource>()

/**
 * Returns the text of a body instead of its bytes, for a server that can write it directly. The body itself must then
 * not be read.
 * @returns undefined for other bodies
 */
export function textBodyOf(body: ReadableStream): ((sink: TextSink) => TextSource) | undefined {
  return textBodies.get(body)
}

/**
 * Creates a reply that replays the lines of a run after the cursor, then follows it. Reads at the pace of the socket,
 * joins all available lines into one chunk, and never ends the run: disconnecting only stops reading.
 */
export function packetReply(
  run: Run,
  { request, requestId, settings, watchKey }: Call,
  options: PacketStreamOptions,
): Reply {
  // Not the whole call: its body would stay in memory until the stream ends.
  const call = { request, requestId, settings, watchKey }
  const open = (sink: TextSink): TextSource => sendRun(run, call, options, sink)
  const body = new ReadableStream<Uint8Array>(toBytes(open), { highWaterMark: 0 })
  textBodies.set(body, open)
  return reply(body, {
    headers: {
      'content-type': streamContentType,
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
    endsWithKey: true,
  })
}

const encoder = new TextEncoder()

/** One chunk per pull. `pull` returns no promise: a promise per line would cost as much as the line. */
function toBytes(open: (sink: TextSink) => TextSource): UnderlyingDefaultSource<Uint8Array> {
  let source: TextSource | undefined
  return {
    // The headers are sent with the first chunk, and a finished run may send nothing for a while.
    start: (controller) => controller.enqueue(new Uint8Array(0)),
    pull: (controller) => {
      source ??= open({
        write: (text) => {
          controller.enqueue(encoder.encode(text))
          return false
        },
        end: () => controller.close(),
      })
      source.resume()
    },
    cancel: () => source?.cancel(),
  }
}

/** Reason of the signal of an ended stream; shared, since nobody reads it and making one collects a stack trace. */
const ended = new DOMException('The stream has ended.', 'AbortError')

/** A failure ends the stream without an error, so that the client resumes; an error would cut the connection. */
function sendRun(run: Run, call: Call, options: PacketStreamOptions, sink: TextSink): TextSource {
  const { request, requestId, settings, watchKey } = call
  const onError = (error: unknown): void =>
    settings.onError(error, { requestId, method: request.method, route: options.label })
  const format = typeof options.format === 'object' ? options.format : packetFormats[options.format]
  let [ready, at]: [readonly LogEntry[], number] = [[], 0]
  let isWanted = false
  let isOver = false
  const over = new AbortController()
  const leave = (): void => {
    if (isOver) return
    isOver = true
    silence.stop()
    over.abort(ended)
    tail.leave()
  }
  const silence = watchSilence(settings.heartbeatMs, settings.timer, () => {
    if (!isWanted) return
    isWanted = sink.write(format.heartbeat)
    if (isWanted) silence.start()
  })
  const refuse = (): void => {
    if (isOver) return
    leave()
    sink.write(format.refusal(new InlayError('INVALID_TOKEN')))
    sink.end()
  }
  const resume = (): void => {
    isWanted = true
    while (isWanted && !isOver) {
      if (at === ready.length) {
        const next = tail.take()
        if (next === undefined) {
          leave()
          const rest = format.end()
          if (rest !== '') sink.write(rest)
          return sink.end()
        }
        ;[ready, at] = [next, 0]
        if (next.length === 0) return silence.start()
      }
      silence.end()
      let text = ''
      while (at < ready.length && text.length < chunkChars) {
        text += format.line(ready[at++]!)
      }
      // A slow reader may need them for seconds, and V8 then moves them to its old generation.
      if (at === ready.length) [ready, at] = [[], 0]
      if (text !== '') isWanted = sink.write(text)
    }
  }
  const onReady = (): void => {
    if (isWanted) resume()
  }
  const tail = run.tail?.(options.cursor ?? 0, onReady) ?? tailOf(run, options.cursor ?? 0, { onReady, onError })
  void watchKey(refuse, over.signal)
  return { resume, cancel: leave }
}

/** Reads a run that has no `tail`. */
function tailOf(
  run: Run,
  cursor: number,
  { onReady, onError }: { readonly onReady: () => void; readonly onError: (error: unknown) => void },
): RunTail {
  const left = new AbortController()
  const source = run.read(cursor, left.signal)[Symbol.asyncIterator]()
  let ready: readonly LogEntry[] = []
  let isOver = false
  let isReading = false
  const take = (step: IteratorResult<readonly LogEntry[]>): void => {
    isReading = false
    if (step.done) isOver = true
    else ready = step.value
    onReady()
  }
  const fail = (error: unknown): void => {
    if (!left.signal.aborted) onError(error)
    take({ done: true, value: undefined })
  }
  return {
    take: () => {
      const taken = ready
      ready = []
      if (taken.length > 0) return taken
      if (isOver) return undefined
      if (!isReading) source.next().then(take, fail)
      isReading = true
      return taken
    },
    leave: () => {
      isOver = true
      left.abort()
      source.return?.().catch(() => {})
    },
  }
}

/** Lines that end a stream when its reader loses access. They have no number, as the run continues. */
function refusal({ message, code }: InlayError): StreamLine[] {
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
  return [
    { placement, obj: { type: 'error', exception: message, error_code: code, is_retryable: false } },
    { error: message, stack_trace: null, error_code: code, is_retryable: false, details: null },
  ]
}

export interface SilenceWatch {
  /** Starts waiting: a reader wants data. */
  start(): void
  /** Data was sent. */
  end(): void
  /** Pauses the watch until the next `start`. */
  stop(): void
}

/**
 * Creates a watch that fires when nothing was sent for `timeoutMs` while a reader waits. Uses one timer that is moved
 * when it fires: setting one per line costs more than sending it.
 */
export function watchSilence(timeoutMs: number, timer: Timer, onSilence: () => void): SilenceWatch {
  let cancel: (() => void) | undefined
  // Time of the last data since the timer was set.
  let endedAt: number | undefined
  const start = (delayMs = timeoutMs): void => {
    if (cancel !== undefined) return
    endedAt = undefined
    cancel = timer(delayMs, () => {
      cancel = undefined
      if (endedAt === undefined) onSilence()
      else start(Math.max(1, endedAt + timeoutMs - performance.now()))
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
