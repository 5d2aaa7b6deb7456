import type { Accepted, Knowledge } from '@inlay/knowledge'
import { overLimit, type Bound, type Reservation, type UsageLimits } from '@inlay/server'

const retryAfterSeconds = 5

type TakenIn = Pick<NonNullable<Parameters<Knowledge['accept']>[1]>, 'caller' | 'onStored'>

/**
 * Applies the limits on documents per day and on documents in the queue. Waiting documents are counted in the database:
 * for the whole queue, and for callers and keys with such a limit.
 */
export function ingestionWithinLimits(
  knowledge: Knowledge,
  limits: UsageLimits,
  onError: (error: unknown) => void,
): Knowledge {
  const shares = new Shares(knowledge, limits.waiting, onError)

  async function admitted<Options extends TakenIn>(
    options: Options | undefined,
    accept: (options: Options | undefined) => Promise<Accepted>,
  ): Promise<Accepted> {
    const { caller } = options ?? {}
    if (!caller) return accept(options)
    const places: Place[] = []
    try {
      for (const bound of await limits.boundsOf(caller, 'waitingDocuments')) places.push(await shares.reserve(bound))
      await limits.take(caller, 'documentsPerDay')
      const onStored = (documentId: string): void => {
        for (const place of places.splice(0)) shares.settle(place, documentId)
        options?.onStored?.(documentId)
      }
      return await accept({ ...options!, onStored })
    } finally {
      for (const place of places) shares.settle(place)
    }
  }

  return {
    ...knowledge,
    accept: (request, options) => admitted(options, (given) => knowledge.accept(request, given)),
    changeDocument: (documentId, change, options) =>
      // No limit keeps a document where it may not be seen any more.
      change.metadata
        ? admitted<TakenIn>(options, async (given) => {
            const accepted = await knowledge.changeDocument(documentId, change, given)
            given?.onStored?.(documentId)
            return accepted
          })
        : knowledge.changeDocument(documentId, change, options),
    ingestFile: (file, options) => admitted(options, (given) => knowledge.ingestFile(file, given)),
    close: () => {
      shares.close()
      return knowledge.close()
    },
  }
}

interface Place {
  readonly share: Bound
  readonly reservation: Reservation
}

/** Number of documents checked at once, from the oldest, which are indexed first. */
const lookedAt = 20
/** Interval at which indexed documents are removed from the counts. */
const tidyMs = 1_000

class Shares {
  readonly #knowledge: Pick<Knowledge, 'status' | 'waiting'>
  readonly #waiting: UsageLimits['waiting']
  readonly #onError: (error: unknown) => void
  /** Number of the oldest documents that were checked and are still waiting, by share. */
  readonly #used = new Map<string, { readonly share: Bound; passedOver: number }>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(
    knowledge: Pick<Knowledge, 'status' | 'waiting'>,
    waiting: UsageLimits['waiting'],
    onError: (error: unknown) => void,
  ) {
    this.#knowledge = knowledge
    this.#waiting = waiting
    this.#onError = onError
  }

  /** @throws RATE_LIMITED if the share is full */
  async reserve(share: Bound): Promise<Place> {
    const isOfAll = share.scope === 'tenant'
    const countMore = isOfAll ? this.#knowledge.waiting : undefined
    let { reservation, used } = await this.#waiting.reserve(share, share.limit, countMore)
    if (!reservation && !isOfAll) {
      await this.#forgetDone(share)
      ;({ reservation, used } = await this.#waiting.reserve(share, share.limit))
    }
    if (reservation) return { share, reservation }
    throw overLimit(share, used, retryAfterSeconds)
  }

  /** Gives a place back. @param documentId id of the document that waits from now on */
  settle({ share, reservation }: Place, documentId?: string): void {
    // The queue itself counts all waiting documents.
    const isCounted = share.scope !== 'tenant' && documentId !== undefined
    void this.#waiting.settle(reservation, isCounted ? documentId : undefined).catch(this.#onError)
    if (!isCounted) return
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

  /** @returns the number of remaining documents */
  async #forgetDone(share: Bound): Promise<number> {
    const entry = this.#usedOf(share)
    for (;;) {
      const ids = await this.#waiting.list(share, { from: entry.passedOver, most: lookedAt })
      const done: string[] = []
      for (const id of ids) {
        const phase = (await this.#knowledge.status(id))?.phase
        if (phase !== 'pending' && phase !== 'indexing') done.push(id)
      }
      // Some may wait for long, such as those of a paused pair.
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
