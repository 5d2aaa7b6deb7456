import { InlayError } from '@inlay/protocol'

/** Limits how often each caller does something. */
export interface RateLimit {
  /** Counts one time. RATE_LIMITED with `retryAfterSeconds` when there were too many. */
  take(callerId: string): void
}

/** Makes a limit of `most` times within any `windowMs` milliseconds, in this process. */
export function createRateLimit(options: {
  readonly most: number
  readonly windowMs: number
  readonly now: () => number
}): RateLimit {
  const { most, windowMs, now } = options
  // In order of the last call, so that inactive callers are first.
  const taken = new Map<string, readonly number[]>()
  const sweep = (time: number): void => {
    for (const [id, times] of taken) {
      if ((times.at(-1) ?? 0) > time - windowMs) return
      taken.delete(id)
    }
  }
  return {
    take: (callerId) => {
      const time = now()
      const recent = (taken.get(callerId) ?? []).filter((at) => at > time - windowMs)
      const oldest = recent[0]
      if (recent.length >= most && oldest !== undefined) {
        const retryAfterSeconds = (oldest + windowMs - time) / 1000
        throw new InlayError('RATE_LIMITED', { data: { retryAfterSeconds, of: 'caller' } })
      }
      taken.delete(callerId)
      taken.set(callerId, [...recent, time])
      sweep(time)
    },
  }
}
