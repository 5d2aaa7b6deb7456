import type { Hit, IndexFilter, IndexQuery, IndexRow, TimeRange, VectorIndex } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'

/** The plainest index there can be; changes of it fail one test each. */
export interface PlainSteps {
  match(row: IndexRow, words: readonly string[]): number
  passes(row: IndexRow, filter: IndexFilter): boolean
  nearness(row: IndexRow, vector: Float32Array): number
  pick(hits: Hit[], limit: number): Hit[]
  remove(rows: IndexRow[], generations: readonly string[]): IndexRow[]
  append(rows: IndexRow[], more: readonly IndexRow[]): IndexRow[]
  fits(vector: Float32Array | undefined, dimensions: number | undefined): boolean
  mayOpen(stored: string | undefined, space: string, rows: number): boolean
  isClosed(closed: boolean): boolean
}

const stem = (word: string): string => word.replace(/(ing|ion|s|e)$/, '').replace(/at$/, '')
const stopWords = new Set(['the', 'of', 'a', 'in', 'is'])
const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{Alphabetic}\p{N}]+/gu) ?? []).filter((word) => !stopWords.has(word)).map(stem)

/** Up to one letter left out, added or replaced. */
function isAlike(a: string, b: string): boolean {
  if (a === b) return true
  if (a.length < 5 || Math.abs(a.length - b.length) > 1) return false
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const rest = (word: string, skip: number): string => word.slice(at + skip)
  return rest(a, 1) === rest(b, 1) || rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1)
}

const within = (time: number | null, range?: TimeRange): boolean =>
  !range || (time !== null && time >= (range.start ?? -Infinity) && time <= (range.end ?? Infinity))

/** Steps that keep the contract. */
export const sound: PlainSteps = {
  match(row, words) {
    const held = new Set(wordsOf(row.searchText))
    const rarity = (word: string): number => 1 / (1 + (word === 'river' ? 1 : 0))
    return words.reduce((sum, word) => sum + ([...held].some((other) => isAlike(word, other)) ? rarity(word) : 0), 0)
  },
  passes: (row, filter) =>
    (!filter.sources || filter.sources.includes(row.source)) &&
    (!filter.documentIds || filter.documentIds.includes(row.documentId)) &&
    (!filter.pairs || filter.pairs.some((pair) => row.pairs.includes(pair))) &&
    (!filter.tags || filter.tags.every((any) => any.some((tag) => row.tags.includes(tag)))) &&
    within(row.createdAt, filter.createdAt) &&
    within(row.ownUpdatedAt, filter.ownUpdatedAt) &&
    Math.max(row.updatedAt, row.createdAt ?? -Infinity) >= (filter.updatedOrCreatedSince ?? -Infinity),
  nearness: (row, vector) =>
    Math.max(
      0,
      row.vector!.reduce((sum, value, at) => sum + value * vector[at]!, 0),
    ),
  pick: (hits, limit) => hits.sort((a, b) => b.score - a.score).slice(0, limit),
  remove: (rows, generations) => rows.filter((row) => !generations.includes(row.generation)),
  append: (rows, more) => [
    ...rows,
    ...more.filter((row) => !rows.some((old) => old.generation === row.generation && old.position === row.position)),
  ],
  fits: (vector, dimensions) => vector?.length === dimensions && (vector?.every(Number.isFinite) ?? true),
  mayOpen: (stored, space, rows) => stored === undefined || stored === space || rows === 0,
  isClosed: (closed) => closed,
}

const toHit = (row: IndexRow, score: number): Hit => ({ ...row, score, vector: undefined })

function hitsOf(does: PlainSteps, rows: readonly IndexRow[], query: IndexQuery): Hit[] {
  const { text = '', vector, filter = {}, limit } = query
  const words = wordsOf(text).slice(0, 50)
  const score = (row: IndexRow): number =>
    (does.match(row, words) / Math.max(1, words.length)) * (vector ? 0.5 : 1) +
    (vector ? does.nearness(row, vector) * (words.length > 0 ? 0.5 : 1) : 0)
  const hits = rows.filter((row) => does.passes(row, filter)).map((row) => toHit(row, score(row)))
  return does.pick(vector ? hits : hits.filter((hit) => hit.score > 0), limit)
}

/** Indexes in memory; those of one name share their rows. */
export function plainIndexes(faults: Partial<PlainSteps> = {}): (store: string) => VectorIndex {
  const does = { ...sound, ...faults }
  const stores = new Map<string, { rows: IndexRow[]; space?: string }>()
  return (name) => {
    if (!stores.has(name)) stores.set(name, { rows: [] })
    const store = stores.get(name)!
    let dimensions: number | undefined
    let closed = false
    const use = (): void => {
      if (does.isClosed(closed)) throw new InlayError('CLOSED')
    }
    const check = (vector: Float32Array | undefined): void => {
      if (!does.fits(vector, dimensions)) throw new InlayError('INDEX_MISMATCH')
    }
    return {
      async open(space) {
        use()
        if (!does.mayOpen(store.space, space?.id ?? '', store.rows.length)) throw new InlayError('INDEX_MISMATCH')
        store.space = space?.id ?? ''
        dimensions = space?.dimensions
      },
      async append(rows) {
        use()
        for (const row of rows) check(row.vector)
        store.rows = does.append(store.rows, rows)
      },
      async remove(generations) {
        use()
        store.rows = does.remove(store.rows, generations)
      },
      async search(query) {
        use()
        query.signal?.throwIfAborted()
        if (query.vector) check(query.vector)
        await Promise.resolve()
        query.signal?.throwIfAborted()
        return hitsOf(does, store.rows, query)
      },
      async read(generation, from, to, options) {
        use()
        return store.rows
          .filter((row) => row.generation === generation && row.position >= from && row.position <= to)
          .sort((a, b) => a.position - b.position)
          .map((row) => ({ ...toHit(row, 0), ...(options?.vectors && row.vector ? { vector: row.vector } : {}) }))
      },
      async maintain() {
        use()
        return { rows: store.rows.length, unindexedRows: 0 }
      },
      async figures() {
        use()
        return { rows: store.rows.length, unindexedRows: 0 }
      },
      async close() {
        closed = true
      },
    }
  }
}
