import type { LogEntry, Run } from '@inlay/agent'
import { encodeLine, frameLine, heartbeatLine, streamContentType } from '@inlay/protocol'
import { reply, type Reply } from '../http/replies.ts'
import type { Timer } from '../http/settings.ts'
import { watchSilence } from './silence-watch.ts'

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
  let follower: Follower | undefined
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        follower = follow(run, options, controller)
        // Headers go with the first chunk, and a run that is followed at its end may be silent for a while.
        controller.enqueue(new Uint8Array(0))
      },
      // Gives no promise: one for each line costs as much as the line. A chunk that comes later is enqueued then.
      pull: () => follower?.give(),
      cancel: () => follower?.leave(),
    },
    { highWaterMark: 0 },
  )
}

/** Brings the lines of a run to a stream. */
interface Follower {
  /** Enqueues one chunk, as soon as there is something. */
  give(): void
  leave(): Promise<void>
}

function follow(
  run: Run,
  { format, cursor = 0, heartbeatMs, timer, onError }: PacketStreamOptions,
  controller: ReadableStreamDefaultController<Uint8Array>,
): Follower {
  const left = new AbortController()
  const source = run.read(cursor, left.signal)[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let ready: readonly LogEntry[] = []
  let at = 0
  let isWanted = false
  let isAsking = false

  const silence = watchSilence(heartbeatMs, timer, () => {
    if (isWanted) send(frameLine(encodeLine(heartbeatLine), { format }))
  })
  const send = (text: string): void => {
    isWanted = false
    controller.enqueue(encoder.encode(text))
  }
  const give = (): void => {
    isWanted = true
    if (at < ready.length) {
      silence.end()
      return send(joined())
    }
    silence.begin()
    if (isAsking) return
    isAsking = true
    source.next().then(take, fail)
  }
  const joined = (): string => {
    let text = ''
    while (at < ready.length && text.length < chunkChars) {
      const entry = ready[at++]!
      text += frameLine(entry.json, { format, sequence: entry.sequence })
    }
    return text
  }
  const take = (step: IteratorResult<readonly LogEntry[]>): void => {
    isAsking = false
    if (left.signal.aborted) return
    if (step.done === true) return end()
    ready = step.value
    at = 0
    if (isWanted) give()
  }
  const end = (): void => {
    silence.stop()
    controller.close()
  }
  const fail = (error: unknown): void => {
    if (left.signal.aborted) return
    // An error thrown here would cut the connection; a closed one lets the client resume from its cursor.
    onError(error)
    end()
  }
  return {
    give,
    leave: async () => {
      silence.stop()
      left.abort()
      await source.return?.()
    },
  }
}
