import type { Accepted, Knowledge } from '@inlay/knowledge'
import type { Principal } from '@inlay/protocol'
import { overLimit, type UsageLimits } from '@inlay/server'

/** Documents that are looked at anew when a limit is reached: the oldest, which are done first. */
const lookedAt = 20
const retryAfterSeconds = 5

/** How long the count of all processes holds, in milliseconds. */
const countedMs = 1_000

/**
 * The same knowledge, within the limits of documents that callers may ingest in a day and have in the queue. What waits
 * in the whole queue is counted in the database. Of a caller it counts documents that came through this process; another
 * process counts its own. A document is forgotten once it is found to be done, which is only looked at when a limit is
 * reached.
 */
export function ingestionWithinLimits(knowledge: Knowledge, limits: UsageLimits): Knowledge {
  const waiting = new Map<string, Set<string>>()
  const queue = { length: 0, countedAt: -Infinity }

  async function queueLength(): Promise<number> {
    if (performance.now() - queue.countedAt >= countedMs) {
      queue.countedAt = performance.now()
      queue.length = await knowledge.waiting()
    }
    return queue.length
  }

  async function forgetDone(ids: Set<string>): Promise<void> {
    for (const id of [...ids].slice(0, lookedAt)) {
      const phase = (await knowledge.status(id))?.phase
      if (phase !== 'pending' && phase !== 'indexing') ids.delete(id)
    }
  }

  async function admitted(caller: Principal | undefined, accept: () => Promise<Accepted>): Promise<Accepted> {
    if (!caller) return accept()
    const counted: Set<string>[] = []
    for (const bound of await limits.boundsOf(caller, 'waitingDocuments')) {
      if (bound.scope === 'tenant') {
        const length = await queueLength()
        if (length >= bound.limit) throw overLimit(bound, length, retryAfterSeconds)
        continue
      }
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
    await limits.take(caller, 'documentsPerDay')
    const accepted = await accept()
    queue.length++
    for (const ids of counted) ids.add(accepted.documentId)
    return accepted
  }

  return {
    ...knowledge,
    accept: (request, options) => admitted(options?.caller, () => knowledge.accept(request, options)),
    ingestFile: (file, options) => admitted(options?.caller, () => knowledge.ingestFile(file, options)),
  }
}
