/** Works on items several at a time. @returns results in the order of the items; rejects with the first failure */
export async function sideBySide<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const rest = items.entries()
  const lane = async (): Promise<void> => {
    for (const [at, item] of rest) results[at] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, lane))
  return results
}
