import { InlayError } from '@inlay/protocol'

/** Counts the runs of each caller that are under way in this process. */
export interface RunLimits {
  /**
   * Counts one in until the function given back is called, once.
   * @throws RATE_LIMITED when the caller has as many as it may
   */
  enter(callerId: string): () => void
}

/** What is a good time to ask again: most answers take a few seconds. */
const retryAfterSeconds = 5

/** @param most runs of one caller at the same time, at least 1 */
export function createRunLimits(most: number): RunLimits {
  const counts = new Map<string, number>()
  return {
    enter: (callerId) => {
      const count = counts.get(callerId) ?? 0
      if (count >= most) {
        throw new InlayError('RATE_LIMITED', {
          message: `${count} answers are being made for this caller: send the message once one of them has ended.`,
          data: { retryAfterSeconds },
        })
      }
      counts.set(callerId, count + 1)
      return () => {
        const left = (counts.get(callerId) ?? 1) - 1
        if (left > 0) counts.set(callerId, left)
        else counts.delete(callerId)
      }
    },
  }
}
