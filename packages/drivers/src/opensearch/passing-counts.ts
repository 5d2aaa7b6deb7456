import { createHash } from 'node:crypto'

/** Cached counts of the rows that match a filter, averaged per shard. They only affect how a search is run. */
export interface PassingCounts {
  /** Counts at most once a minute. @param filter key of the filter */
  of(filter: string, count: () => Promise<number>): Promise<number>
}

const ageMs = 60_000
const maxFilters = 1_000

/** Caches counts for a minute. */
export function createPassingCounts(): PassingCounts {
  const counts = new Map<string, { readonly rows: number; readonly until: number }>()
  return {
    async of(filter, count) {
      // Hashed, since a filter may contain thousands of documents.
      const key = createHash('sha256').update(filter).digest('base64')
      const known = counts.get(key)
      if (known && known.until > Date.now()) return known.rows
      const rows = await count()
      if (counts.size >= maxFilters) counts.clear()
      counts.set(key, { rows, until: Date.now() + ageMs })
      return rows
    },
  }
}
