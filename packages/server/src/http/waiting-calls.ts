/** Counts the calls of each caller that wait for their documents. */
export interface WaitingCalls {
  /** Counts one in until the function given back is called, once; undefined when no more may wait. */
  enter(callerId: string): (() => void) | undefined
}

/** @param most calls of one caller that may wait at the same time in this process */
export function createWaitingCalls(most: number): WaitingCalls {
  const waiting = new Map<string, number>()
  return {
    enter: (callerId) => {
      const count = waiting.get(callerId) ?? 0
      if (count >= most) return undefined
      waiting.set(callerId, count + 1)
      return () => {
        const left = (waiting.get(callerId) ?? 1) - 1
        if (left > 0) waiting.set(callerId, left)
        else waiting.delete(callerId)
      }
    },
  }
}
