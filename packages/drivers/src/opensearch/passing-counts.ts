import { createHash } from 'node:crypto'

/** How many rows of one part of an index passed a filter lately; only how a search is run depends on it. */
export interface PassingCounts {
  /** Counts at most once a minute. @param filter names the filter */
  of(filter: string, count: () => Promise<number>): Promise<number>
}

const ageMs = 60_000
const mostFilters = 1_000

/** Remembers counts for a minute. */
export function createPassingCounts(): PassingCounts {
  const counts = new Map<string, { readonly rows: number; readonly until: number }>()
  return {
    async of(filter, count) {
      // A filter may name thousands of documents.
      const key = createHash('sha256').update(filter).digest('base64')
      const known = counts.get(key)
      if (known && known.until > Date.now()) return known.rows
      const rows = await count()
      if (counts.size >= mostFilters) counts.clear()
      counts.set(key, { rows, until: Date.now() + ageMs })
      return rows
    },
  }
}
