import { isInlayError } from '@inlay/protocol'

/** What came of items that were worked on together and, where that failed, apart. */
export interface Isolated<Item> {
  readonly done: readonly Item[]
  readonly failed: readonly { readonly item: Item; readonly error: unknown }[]
}

/**
 * Runs work on all items; when it fails, on halves of them, until those are found that fail by themselves. An error
 * that is retryable says nothing about the items: it ends the search and is thrown.
 */
export async function isolate<Item>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<void>,
): Promise<Isolated<Item>> {
  try {
    await run(items)
    return { done: items, failed: [] }
  } catch (error) {
    if (isInlayError(error) && error.retryable) throw error
    if (items.length <= 1) return { done: [], failed: items.map((item) => ({ item, error })) }
    const middle = Math.ceil(items.length / 2)
    const left = await isolate(items.slice(0, middle), run)
    const right = await isolate(items.slice(middle), run)
    return { done: [...left.done, ...right.done], failed: [...left.failed, ...right.failed] }
  }
}
