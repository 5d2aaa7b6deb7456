import { InlayError } from '@inlay/protocol'

/** Counts one time of a caller. RATE_LIMITED with `retryAfterSeconds` when there were too many. */
export type RateLimit = (callerId: string) => void

const [most, windowMs] = [100, 60_000]

/** Limits each caller to a hundred times within any minute, in this process. */
export function createRateLimit(now: () => number): RateLimit {
  // In order of the last call, so that inactive callers are first.
  const taken = new Map<string, readonly number[]>()
  return (callerId) => {
    const time = now()
    const since = time - windowMs
    const recent = (taken.get(callerId) ?? []).filter((at) => at > since)
    const [oldest] = recent
    if (recent.length >= most && oldest !== undefined)
      throw new InlayError('RATE_LIMITED', { data: { retryAfterSeconds: (oldest - since) / 1000, of: 'caller' } })
    taken.delete(callerId)
    taken.set(callerId, [...recent, time])
    for (const [id, times] of taken) {
      if ((times.at(-1) ?? 0) > since) return
      taken.delete(id)
    }
  }
}
