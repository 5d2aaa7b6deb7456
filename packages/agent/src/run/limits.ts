import { InlayError } from '@inlay/protocol'

/** Counts the runs of each caller that are under way in this process. */
export interface RunPlaces {
  /**
   * Counts one in until the function given back is called, once.
   * @throws RATE_LIMITED when the caller has as many as it may
   */
  enter(callerId: string): () => void
}

/** What is a good time to ask again: most answers take a few seconds. */
const retryAfterSeconds = 5

/** @param most runs of one caller at the same time, at least 1 */
export function createRunPlaces(most: number): RunPlaces {
  const taken = new Map<string, number>()
  return {
    enter: (callerId) => {
      const count = taken.get(callerId) ?? 0
      if (count >= most) {
        throw new InlayError('RATE_LIMITED', {
          message: `${count} answers are being made for this caller: send the message once one of them has ended.`,
          data: { retryAfterSeconds },
        })
      }
      taken.set(callerId, count + 1)
      return () => {
        const left = (taken.get(callerId) ?? 1) - 1
        if (left > 0) taken.set(callerId, left)
        else taken.delete(callerId)
      }
    },
  }
}
