/** Longest wait granted, in seconds: proxies give up on a silent connection at about this time. */
const longestWaitSeconds = 600

/** Whether `Prefer: return=representation` asks for the record itself where existing clients expect less. */
export function wantsRepresentation(request: Request): boolean {
  return /(?:^|[,;])\s*return\s*=\s*"?representation"?\s*(?:[,;]|$)/i.test(request.headers.get('prefer') ?? '')
}

/**
 * The wait asked for by `Prefer: wait=N` (RFC 7240), in milliseconds and at most ten minutes; undefined when the header
 * asks for none or for something unreadable, which a server has to ignore.
 */
export function waitOf(request: Request): number | undefined {
  const header = request.headers.get('prefer')
  if (header === null) return undefined
  for (const preference of header.split(/[,;]/)) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*$/i.exec(preference)?.[1]
    if (seconds !== undefined) return Math.min(Number(seconds), longestWaitSeconds) * 1000
  }
  return undefined
}

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
