import type { Accepted, Knowledge } from '@inlay/knowledge'
import type { Principal } from '@inlay/protocol'
import { overLimit, type Bound, type UsageLimits } from '@inlay/server'

const retryAfterSeconds = 5
/** How long the count of all processes holds, in milliseconds. */
const countedMs = 1_000

/**
 * The same knowledge, within the limits of documents that callers may ingest in a day and have in the queue. What waits
 * is counted in the database: in the whole queue, and of callers and keys with such a limit.
 */
export function ingestionWithinLimits(
  knowledge: Knowledge,
  limits: UsageLimits,
  onError: (error: unknown) => void,
): Knowledge {
  const queue = { length: 0, countedAt: -Infinity }
  const shares = new Shares(knowledge, limits.waiting, onError)

  async function queueLength(): Promise<number> {
    if (performance.now() - queue.countedAt >= countedMs) {
      queue.countedAt = performance.now()
      queue.length = await knowledge.waiting()
    }
    return queue.length
  }

  async function admitted(caller: Principal | undefined, accept: () => Promise<Accepted>): Promise<Accepted> {
    if (!caller) return accept()
    const counted: Bound[] = []
    for (const bound of await limits.boundsOf(caller, 'waitingDocuments')) {
      const isOfAll = bound.scope === 'tenant'
      const length = await (isOfAll ? queueLength() : shares.lengthOf(bound))
      if (length >= bound.limit) throw overLimit(bound, length, retryAfterSeconds)
      if (!isOfAll) counted.push(bound)
    }
    await limits.take(caller, 'documentsPerDay')
    const accepted = await accept()
    queue.length++
    for (const share of counted) shares.add(share, accepted.documentId)
    return accepted
  }

  return {
    ...knowledge,
    accept: (request, options) => admitted(options?.caller, () => knowledge.accept(request, options)),
    ingestFile: (file, options) => admitted(options?.caller, () => knowledge.ingestFile(file, options)),
    close: () => {
      shares.close()
      return knowledge.close()
    },
  }
}

/** Documents that are looked at in one go: the oldest, which are done first, then those behind. */
const lookedAt = 20
/** When what was taken in is told to other processes, and what is done is forgotten. */
const tidyMs = 1_000

/** Shares of the queue that callers and keys are limited to. */
class Shares {
  readonly #knowledge: Pick<Knowledge, 'status'>
  readonly #waiting: UsageLimits['waiting']
  readonly #onError: (error: unknown) => void
  /** With how many of the oldest were looked at and do wait. */
  readonly #used = new Map<string, { readonly share: Bound; passedOver: number }>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(
    knowledge: Pick<Knowledge, 'status'>,
    waiting: UsageLimits['waiting'],
    onError: (error: unknown) => void,
  ) {
    this.#knowledge = knowledge
    this.#waiting = waiting
    this.#onError = onError
  }

  /** How many documents of it wait; exact once it is full. */
  async lengthOf(share: Bound): Promise<number> {
    const length = await this.#waiting.count(share)
    return length < share.limit ? length : this.#forgetDone(share)
  }

  add(share: Bound, documentId: string): void {
    this.#waiting.add(share, documentId)
    this.#usedOf(share)
    this.#tidyLater()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #usedOf(share: Bound): { readonly share: Bound; passedOver: number } {
    const key = `${share.scope} ${share.owner}`
    const entry = this.#used.get(key) ?? { share, passedOver: 0 }
    this.#used.set(key, entry)
    return entry
  }

  /** @returns how many are left */
  async #forgetDone(share: Bound): Promise<number> {
    const entry = this.#usedOf(share)
    for (;;) {
      const ids = await this.#waiting.list(share, { from: entry.passedOver, most: lookedAt })
      const done: string[] = []
      for (const id of ids) {
        const phase = (await this.#knowledge.status(id))?.phase
        if (phase !== 'pending' && phase !== 'indexing') done.push(id)
      }
      // Some may wait for long, as those of a paused source do.
      entry.passedOver = ids.length < lookedAt ? 0 : entry.passedOver + ids.length - done.length
      if (done.length > 0) await this.#waiting.remove(share, done)
      if (done.length < ids.length || ids.length === 0) return this.#waiting.count(share)
    }
  }

  #tidyLater(): void {
    if (this.#isClosed || this.#used.size === 0 || this.#timer) return
    this.#timer = setTimeout(async () => {
      await this.#tidy().catch(this.#onError)
      this.#timer = undefined
      this.#tidyLater()
    }, tidyMs)
    this.#timer.unref?.()
  }

  async #tidy(): Promise<void> {
    for (const [key, { share }] of this.#used)
      if (!this.#isClosed && (await this.#forgetDone(share)) === 0) this.#used.delete(key)
  }
}
