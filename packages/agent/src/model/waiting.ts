/** Waits; rejects with the signal's reason as soon as it aborts. */
export async function waitFor(delayMs: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, delayMs)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}

/** Rejects as soon as the signal aborts; the work goes on unheard. */
export function unlessAborted<Result>(work: PromiseLike<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    work.then(resolve, reject).then(() => signal.removeEventListener('abort', abort))
  })
}

/** Maps items in order, at most `limit` at the same time. Rejects with the first error; nothing new starts after it. */
export async function mapConcurrent<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const queue = items.entries()
  let hasFailed = false
  const run = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (hasFailed) return
      results[index] = await work(item, index).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, run))
  return results
}

/** Resolves once the event loop has served what was waiting, such as incoming requests. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    // Not a web API, but every server runtime has it; a timer costs a millisecond.
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve)
  })
}
