import type { Knowledge } from '@inlay/knowledge'
import type { Principal } from '@inlay/protocol'
import { overLimit, type UsageLimits } from '@inlay/server'

/** Bounds how many documents of a caller, a key or all callers wait to be indexed. */
export interface QueueShare {
  /**
   * Says that a caller wants to add a document.
   * @returns a function to be told its id, once it is accepted
   * @throws RATE_LIMITED when too many wait
   */
  enter(caller: Principal): Promise<(documentId: string) => void>
}

/** Documents that are looked at anew when a limit is reached: the oldest, which are done first. */
const lookedAt = 20
const retryAfterSeconds = 5

/**
 * Counts documents that came through this process; another process counts its own. A document is forgotten once it is
 * found to be done, which is only looked at when a limit is reached.
 */
export function createQueueShare(
  knowledge: Pick<Knowledge, 'status'>,
  limits: Pick<UsageLimits, 'boundsOf'>,
): QueueShare {
  const waiting = new Map<string, Set<string>>()

  async function forgetDone(ids: Set<string>): Promise<void> {
    for (const id of [...ids].slice(0, lookedAt)) {
      const phase = (await knowledge.status(id))?.phase
      if (phase !== 'pending' && phase !== 'indexing') ids.delete(id)
    }
  }

  return {
    async enter(caller) {
      const bounds = await limits.boundsOf(caller, 'waitingDocuments')
      const counted: Set<string>[] = []
      for (const bound of bounds) {
        const key = `${bound.scope} ${bound.owner}`
        const ids = waiting.get(key) ?? new Set()
        waiting.set(key, ids)
        for (let size = ids.size; ids.size >= bound.limit; size = ids.size) {
          await forgetDone(ids)
          if (ids.size < size) continue
          if (ids.size === 0) waiting.delete(key)
          throw overLimit(bound, ids.size, retryAfterSeconds)
        }
        counted.push(ids)
      }
      return (id) => counted.forEach((ids) => ids.add(id))
    },
  }
}
