/** Values by key that count for a while: other processes change an index too. */
export interface RecentValues<Value> {
  /** The value of a key. Concurrent calls share what `find` gives; a failure is not kept. */
  of(key: string, find: () => Promise<Value>): Promise<Value>
  forget(): void
}

export function createRecentValues<Value>(ageMs: number, maxKeys: number): RecentValues<Value> {
  const known = new Map<string, { readonly value: Promise<Value>; readonly until: number }>()
  return {
    of(key, find) {
      const last = known.get(key)
      if (last && last.until > Date.now()) return last.value
      if (known.size >= maxKeys) known.clear()
      const value = find()
      known.set(key, { value, until: Date.now() + ageMs })
      value.catch(() => known.delete(key))
      return value
    },
    forget: () => known.clear(),
  }
}
