import type { LogEntry, Run } from '@inlay/agent'
import { encodeLine, frameLine, heartbeatLine, streamContentType } from '@inlay/protocol'
import { reply, type Reply } from '../http/replies.ts'
import type { Timer } from '../http/settings.ts'

/** How a run is written to a socket. */
export interface PacketStreamOptions {
  readonly format: 'sse' | 'lines'
  /** Lines numbered above this are sent; 0 sends all. */
  readonly cursor?: number
  /** Silence after which a heartbeat is sent, in milliseconds. */
  readonly heartbeatMs: number
  readonly timer: Timer
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
  return reply(new ReadableStream<Uint8Array>(new RunFollower(run, options), { highWaterMark: 0 }), {
    headers: {
      'content-type': streamContentType,
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  })
}

/** Brings the lines of a run to a stream. */
class RunFollower implements UnderlyingDefaultSource<Uint8Array> {
  readonly #options: PacketStreamOptions
  readonly #left = new AbortController()
  readonly #source: AsyncIterator<readonly LogEntry[]>
  readonly #silence: SilenceWatch
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #ready: readonly LogEntry[] = []
  #at = 0
  /** The reader waits for a chunk. */
  #isWanted = false
  /** The log was asked for more lines. */
  #isReading = false

  constructor(run: Run, options: PacketStreamOptions) {
    this.#options = options
    this.#source = run.read(options.cursor ?? 0, this.#left.signal)[Symbol.asyncIterator]()
    this.#silence = watchSilence(options.heartbeatMs, options.timer, () => {
      if (this.#isWanted) this.#send(frameLine(encodeLine(heartbeatLine), options))
    })
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller
    // Headers go with the first chunk, and a run that is followed at its end may be silent for a while.
    controller.enqueue(new Uint8Array(0))
  }

  /** Enqueues one chunk, as soon as there is something. Gives no promise: one for each line costs as much as the line. */
  pull(): void {
    this.#isWanted = true
    if (this.#at === this.#ready.length) {
      this.#silence.start()
      if (this.#isReading) return
      this.#isReading = true
      this.#source.next().then(
        (step) => this.#take(step),
        (error: unknown) => this.#fail(error),
      )
      return
    }
    this.#silence.end()
    const { format } = this.#options
    let text = ''
    while (this.#at < this.#ready.length && text.length < chunkChars) {
      const { json, sequence } = this.#ready[this.#at++]!
      text += frameLine(json, { format, sequence })
    }
    this.#send(text)
  }

  async cancel(): Promise<void> {
    this.#silence.stop()
    this.#left.abort()
    await this.#source.return?.()
  }

  #send(text: string): void {
    this.#isWanted = false
    this.#controller?.enqueue(this.#encoder.encode(text))
  }

  #take(step: IteratorResult<readonly LogEntry[]>): void {
    this.#isReading = false
    if (this.#left.signal.aborted) return
    if (step.done === true) {
      this.#silence.stop()
      this.#controller?.close()
      return
    }
    this.#ready = step.value
    this.#at = 0
    if (this.#isWanted) this.pull()
  }

  /** An error in the stream would cut the connection; a closed one lets the client resume from its cursor. */
  #fail(error: unknown): void {
    if (this.#left.signal.aborted) return
    this.#options.onError(error)
    this.#take({ done: true, value: undefined })
  }
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
