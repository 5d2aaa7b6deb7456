import type { Hit, IndexFilter, IndexQuery, IndexRow, TimeRange, VectorIndex } from '@inlay/knowledge'
import { embedderConformance, vectorIndexConformance, type ConformanceTest } from '@inlay/knowledge/conformance'
import { InlayError } from '@inlay/protocol'
import { describe, expect, it, test } from 'vitest'

/** The plainest index there can be; changes of it fail one test each. */
interface Faults {
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

const sound: Faults = {
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

function plainIndexes(faults: Partial<Faults> = {}): (store: string) => VectorIndex {
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
    const toHit = (row: IndexRow, score: number): Hit => ({ ...row, score, vector: undefined })
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
      async search({ text = '', vector, filter = {}, limit, signal }) {
        use()
        signal?.throwIfAborted()
        if (vector) check(vector)
        const words = wordsOf(text).slice(0, 50)
        await Promise.resolve()
        signal?.throwIfAborted()
        const score = (row: IndexRow): number =>
          (does.match(row, words) / Math.max(1, words.length)) * (vector ? 0.5 : 1) +
          (vector ? does.nearness(row, vector) * (words.length > 0 ? 0.5 : 1) : 0)
        const hits = store.rows.filter((row) => does.passes(row, filter)).map((row) => toHit(row, score(row)))
        return does.pick(vector ? hits : hits.filter((hit) => hit.score > 0), limit)
      },
      async read(generation, from, to, options) {
        use()
        const rows = store.rows.filter(
          (row) => row.generation === generation && row.position >= from && row.position <= to,
        )
        return rows
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

describe('conformance tests of a vector index', () => {
  for (const [title, run] of vectorIndexConformance(plainIndexes())) test(title, run)

  it('have titles that differ', () => {
    const titles = vectorIndexConformance(plainIndexes()).map(([title]) => title)
    expect(new Set(titles).size).toBe(titles.length)
  })
})

describe('an index that breaks the contract is caught', () => {
  const faults: Record<string, Partial<Faults>> = {
    'limits before it filters': {
      passes: () => true,
    },
    'takes an empty list for no filter': {
      passes: (row, filter) =>
        sound.passes(row, { ...filter, pairs: filter.pairs?.length === 0 ? undefined : filter.pairs }),
    },
    'joins tags of different keys by any': {
      passes: (row, { tags, ...filter }) => sound.passes(row, tags ? { ...filter, tags: [tags.flat()] } : filter),
    },
    'takes undated rows into a range': {
      passes: (row, filter) => sound.passes({ ...row, createdAt: row.createdAt ?? 1000 }, filter),
    },
    'leaves out the end of a range': {
      passes: (row, filter) => sound.passes(row, filter) && row.createdAt !== filter.createdAt?.end,
    },
    'gives distances instead of scores': { nearness: (row, vector) => 1 - sound.nearness(row, vector) },
    'scores above 1': { nearness: (row, vector) => 2 * sound.nearness(row, vector) },
    'does not sort': { pick: (hits, limit) => hits.slice(0, limit) },
    'knows no limit': { pick: (hits) => sound.pick(hits, 1000) },
    'removes whole documents': {
      remove: (rows, generations) => {
        const gone = new Set(rows.filter((row) => generations.includes(row.generation)).map((row) => row.documentId))
        return rows.filter((row) => !gone.has(row.documentId))
      },
    },
    'removes nothing': { remove: (rows) => rows },
    'doubles rows': { append: (rows, more) => [...rows, ...more] },
    'overwrites what was there': { append: (_, more) => [...more] },
    'takes vectors of any length': { fits: () => true },
    'takes any space': { mayOpen: () => true },
    'works on after it was closed': { isClosed: () => false },
    'minds case': { match: (row, words) => words.filter((word) => row.text.includes(word)).length },
  }
  for (const [name, fault] of Object.entries(faults))
    it(`when it ${name}`, async () => {
      expect(await brokenBy(vectorIndexConformance(plainIndexes(fault)))).not.toEqual([])
    })
})

const searching =
  (change: (query: IndexQuery) => IndexQuery) =>
  (index: VectorIndex): Partial<VectorIndex> => ({ search: (query) => index.search(change(query)) })

const appending =
  (change: (row: IndexRow) => IndexRow) =>
  (index: VectorIndex): Partial<VectorIndex> => ({ append: (rows) => index.append(rows.map(change)) })

const withoutPairs = (query: IndexQuery): IndexQuery => ({ ...query, filter: { ...query.filter, pairs: undefined } })

describe('an index around a sound one is found out when it', () => {
  const mistakes: Record<string, (index: VectorIndex) => Partial<VectorIndex>> = {
    'ignores the whole filter beside words and a vector': searching((query) =>
      query.text !== undefined && query.vector ? { ...query, filter: undefined } : query,
    ),
    'ignores pairs in vector search': searching((query) =>
      query.vector && query.text === undefined ? withoutPairs(query) : query,
    ),
    'ignores pairs beside words and a vector': searching((query) =>
      query.vector && query.text !== undefined ? withoutPairs(query) : query,
    ),
    'removes only the first of several generations': (index) => ({
      remove: (generations) => index.remove(generations.slice(0, 1)),
    }),
    'gives thirty hits at most': searching((query) => ({ ...query, limit: Math.min(30, query.limit) })),
    'reads ten rows at most': (index) => ({ read: async (...range) => (await index.read(...range)).slice(0, 10) }),
    'cuts texts at 2,000 characters': appending((row) => ({ ...row, text: row.text.slice(0, 2000) })),
    'fails on appends of more than 500 rows': (index) => ({
      append: async (rows) => {
        if (rows.length > 500) throw new Error('too many rows')
        await index.append(rows)
      },
    }),
    'takes the date 0 for none': appending((row) => ({
      ...row,
      createdAt: row.createdAt || null,
      ownUpdatedAt: row.ownUpdatedAt || null,
    })),
    'takes a bound of 0 for none': searching(({ filter = {}, ...query }) => {
      const { start, end } = filter.createdAt ?? {}
      const createdAt = filter.createdAt && { start: start || undefined, end: end || undefined }
      return { ...query, filter: { ...filter, ...(createdAt ? { createdAt } : {}) } }
    }),
    'looks at the signal only before it searches': (index) => ({
      search: async ({ signal, ...query }) => {
        signal?.throwIfAborted()
        return index.search(query)
      },
    }),
  }
  test.each(Object.entries(mistakes))('%s', async (_, mistaken) => {
    const make = plainIndexes()
    const wrong = (store: string): VectorIndex => {
      const index = make(store)
      return { ...index, ...mistaken(index) }
    }
    expect(await brokenBy(vectorIndexConformance(wrong))).not.toEqual([])
  })
})

describe('an embedder that breaks the contract is caught', () => {
  const honest = (text: string): Float32Array => {
    const vector = new Float32Array(16)
    for (const character of text) vector[character.codePointAt(0)! % 16]! += 1
    return vector
  }
  const tests = (embed: (texts: readonly string[]) => Float32Array[], id = 'plain/letters@16'): ConformanceTest[] =>
    embedderConformance(() => ({
      id,
      dimensions: 16,
      batch: 3,
      async embed(texts, _, signal) {
        signal?.throwIfAborted()
        return embed(texts)
      },
    }))

  it('unless it breaks none', async () => {
    expect(await brokenBy(tests((texts) => texts.map(honest)))).toEqual([])
  })

  const faults: Record<string, (texts: readonly string[]) => Float32Array[]> = {
    'loses the order': (texts) => texts.map(honest).reverse(),
    'leaves one out': (texts) => texts.slice(1).map(honest),
    'gives other lengths': (texts) => texts.map((text) => honest(text).slice(1)),
    'gives no numbers': (texts) => texts.map(() => new Float32Array(16).fill(Number.NaN)),
    'gives zeros': (texts) => texts.map(() => new Float32Array(16)),
    'gives all texts one vector': (texts) => texts.map(() => new Float32Array(16).fill(1)),
    'lets texts colour each other': (texts) => texts.map((_, at) => honest(texts.slice(0, at + 1).join(''))),
  }
  for (const [name, embed] of Object.entries(faults))
    it(`when it ${name}`, async () => {
      expect(await brokenBy(tests(embed))).not.toEqual([])
    })

  it('when its id does not name its dimensions', async () => {
    expect(await brokenBy(tests((texts) => texts.map(honest), 'plain/letters'))).not.toEqual([])
  })
})

/** Titles of the tests that fail. */
async function brokenBy(tests: readonly ConformanceTest[]): Promise<string[]> {
  const broken: string[] = []
  for (const [title, run] of tests) await run().catch(() => broken.push(title))
  return broken
}
