import type { LogEntry, Run } from '@inlay/agent'
import { encodeLine, frameLine, heartbeatLine, streamContentType } from '@inlay/protocol'
import { reply, type Reply } from './replies.ts'
import type { Timer } from './server-settings.ts'

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
  return reply(packetStream(run, options), {
    headers: {
      'content-type': streamContentType,
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  })
}

function packetStream(run: Run, options: PacketStreamOptions): ReadableStream<Uint8Array> {
  const { format, heartbeatMs, timer } = options
  const left = new AbortController()
  const source = run.read(options.cursor ?? 0, left.signal)[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  const heartbeat = encoder.encode(frameLine(encodeLine(heartbeatLine), { format }))
  let waiting: readonly LogEntry[] = []
  let at = 0
  let next: Promise<IteratorResult<readonly LogEntry[]>> | undefined

  function joined(): Uint8Array {
    let text = ''
    while (at < waiting.length && text.length < chunkChars) {
      const entry = waiting[at++]!
      text += frameLine(entry.json, { format, sequence: entry.sequence })
    }
    return encoder.encode(text)
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Headers go with the first chunk, and a run that is followed at its end may be silent for a while.
        controller.enqueue(new Uint8Array(0))
      },
      async pull(controller) {
        try {
          while (at >= waiting.length) {
            next ??= source.next()
            const step = await orSilence(next, heartbeatMs, timer)
            if (step === undefined) return controller.enqueue(heartbeat)
            next = undefined
            if (step.done === true) return controller.close()
            waiting = step.value
            at = 0
          }
          controller.enqueue(joined())
        } catch (error) {
          if (left.signal.aborted) return
          // An error thrown here would cut the connection; a closed one lets the client resume from its cursor.
          options.onError(error)
          controller.close()
        }
      },
      async cancel() {
        left.abort()
        await source.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/** What comes first: the value, or undefined after a silence. */
function orSilence<Value>(value: Promise<Value>, silenceMs: number, timer: Timer): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = timer(silenceMs, () => resolve(undefined))
    value.then(
      (settled) => {
        cancel()
        resolve(settled)
      },
      (error: unknown) => {
        cancel()
        reject(error instanceof Error ? error : new Error('The run could not be read.', { cause: error }))
      },
    )
  })
}
