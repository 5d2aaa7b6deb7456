import { InlayError } from '@inlay/protocol'
import { unrefTimer } from '@inlay/scheduling'
import type { FailedRequest } from './settings.ts'

const tickMs = 100
/** A main thread that serves nobody else for longer is reported. */
const stallMs = 1000
const maxNamed = 3

interface WatchedRequest {
  readonly request: FailedRequest
  readonly beganAt: number
  endedAt?: number
}

/** Notices by a late timer that something held the main thread. The timer only runs while requests are handled. */
export interface StallWatch {
  /** @returns a function that tells that the request is handled */
  watch(request: FailedRequest): () => void
}

/**
 * Reports which requests were being handled when computing held the main thread for over a second.
 * @param report receives the first of these requests
 */
export function createStallWatch(report: (error: InlayError, request: FailedRequest) => void): StallWatch {
  /** Handled now, or until the last tick. */
  const requests = new Set<WatchedRequest>()
  let dueAt = 0
  let busyAt = 0
  let ticks: ReturnType<typeof setInterval> | undefined
  const tick = (): void => {
    const now = performance.now()
    const lateMs = now - dueAt
    // A process that the machine leaves no time is late without holding anything.
    const computedMs = busyMs() - busyAt
    busyAt += computedMs
    // Whoever held the thread did so when the tick was due, and had not ended. Old requests mostly wait for something.
    const suspects =
      Math.min(lateMs, computedMs) < stallMs
        ? []
        : [...requests].filter(({ beganAt, endedAt = Infinity }) => beganAt <= dueAt && endedAt >= dueAt).toReversed()
    for (const watched of requests) if (watched.endedAt !== undefined) requests.delete(watched)
    if (requests.size === 0) {
      clearInterval(ticks)
      ticks = undefined
    }
    dueAt = now + tickMs
    if (suspects[0]) {
      const named = suspects.map(({ request }) => request)
      report(stall(lateMs, named), suspects[0].request)
    }
  }
  return {
    watch(request) {
      const watched: WatchedRequest = { request, beganAt: performance.now() }
      requests.add(watched)
      if (ticks === undefined) {
        dueAt = watched.beganAt + tickMs
        busyAt = busyMs()
        ticks = setInterval(tick, tickMs)
        unrefTimer(ticks)
      }
      return () => (watched.endedAt = performance.now())
    },
  }
}

/** Processor time of this thread, or of the process where the runtime does not tell. */
function busyMs(): number {
  if (typeof process === 'undefined') return performance.now()
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}

function stall(durationMs: number, requests: readonly FailedRequest[]): InlayError {
  const named = requests.slice(0, maxNamed).map(({ method, route, requestId }) => `${method} ${route} (${requestId})`)
  const others = requests.length > maxNamed ? ` and ${requests.length - maxNamed} more` : ''
  const message = `The main thread was held for ${Math.round(durationMs)} ms, so nothing else was served. Handled meanwhile: ${named.join(', ')}${others}.`
  return new InlayError('INTERNAL_ERROR', { message, data: { isExpected: true } })
}
