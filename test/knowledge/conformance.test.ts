import type { Embedder, IndexQuery, IndexRow, VectorIndex } from '@inlay/knowledge'
import { embedderConformance, vectorIndexConformance, type ConformanceTest } from '@inlay/conformance'
import { describe, expect, it, test } from 'vitest'
import { testMutants } from '../mutants.ts'
import { plainIndexes, sound, type PlainSteps } from './plain-index.ts'

describe('conformance tests of a vector index', () => {
  for (const [title, run] of vectorIndexConformance(plainIndexes())) test(title, run)

  it('have titles that differ', () => {
    const titles = vectorIndexConformance(plainIndexes()).map(([title]) => title)
    expect(new Set(titles).size).toBe(titles.length)
  })
})

describe('an index that breaks the contract is caught', () => {
  const faults: Record<string, Partial<PlainSteps>> = {
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
  testMutants<Partial<PlainSteps>>('vector index', (change) => vectorIndexConformance(plainIndexes(change)), {
    sound: {},
    mutants: faults,
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
    'gives one row less than there is room for': (index) => ({
      read: async (generation, from, to, options) => index.read(generation, from, to - 1, options),
    }),
    'reads rows in the order of their append': (index) => ({
      read: async (...range) => (await index.read(...range)).toReversed(),
    }),
    'gives hits the words of another': (index) => ({
      search: async (query) => {
        const hits = await index.search(query)
        return hits.map((hit, at) => ({ ...hit, text: hits[(at + 1) % hits.length]!.text }))
      },
    }),
    'gives hits of the search before': (index) => {
      let before: Awaited<ReturnType<VectorIndex['search']>> | undefined
      return {
        search: async (query) => {
          const hits = await index.search(query)
          const stale = before ?? hits
          before = hits
          return stale
        },
      }
    },
    'remembers searches by their words': (index) => {
      const kept = new Map<string, Awaited<ReturnType<VectorIndex['search']>>>()
      return {
        search: async (query) => {
          const key = JSON.stringify([query.text, query.vector && [...query.vector], query.limit])
          const hits = kept.get(key) ?? (await index.search(query))
          kept.set(key, hits)
          return hits
        },
      }
    },
    'empties the list of rows that it is given': (index) => ({
      append: async (rows) => index.append((rows as IndexRow[]).splice(0)),
    }),
    'counts rows that were removed': (index) => {
      let rows = 0
      return {
        append: async (given) => {
          rows += given.length
          await index.append(given)
        },
        figures: async () => ({ ...(await index.figures()), rows }),
      }
    },
    'throws a bare string when stopped': (index) => ({
      search: (query) =>
        index.search(query).catch((error: unknown) => Promise.reject(query.signal?.aborted ? 'aborted' : error)),
    }),
    'looks at the signal only before it searches': (index) => ({
      search: async ({ signal, ...query }) => {
        signal?.throwIfAborted()
        return index.search(query)
      },
    }),
  }
  const suite = (mistaken: (index: VectorIndex) => Partial<VectorIndex>): ConformanceTest[] => {
    const make = plainIndexes()
    return vectorIndexConformance((store) => {
      const index = make(store)
      return { ...index, ...mistaken(index) }
    })
  }
  testMutants<(index: VectorIndex) => Partial<VectorIndex>>('vector index around another', suite, {
    sound: () => ({}),
    mutants: mistakes,
  })
})

describe('an embedder that breaks the contract is caught', () => {
  const honest = (text: string): Float32Array => {
    const vector = new Float32Array(16)
    for (const character of text) vector[character.codePointAt(0)! % 16]! += 1
    return vector
  }
  const pool: Float32Array[] = []
  const byBeginning = new Map<string, Float32Array>()
  const tests = (embed: (texts: readonly string[]) => Float32Array[], id = 'plain/letters@16'): ConformanceTest[] =>
    embedderConformance(() => ({
      id,
      dimensions: 16,
      maxBatchSize: 3,
      async embed(texts, _, signal) {
        signal?.throwIfAborted()
        return embed(texts)
      },
    }))

  const faults: Record<string, (texts: readonly string[]) => Float32Array[]> = {
    'loses the order': (texts) => texts.map(honest).reverse(),
    'leaves one out': (texts) => texts.slice(1).map(honest),
    'gives other lengths': (texts) => texts.map((text) => honest(text).slice(1)),
    'gives no numbers': (texts) => texts.map(() => new Float32Array(16).fill(Number.NaN)),
    'gives plain lists': (texts) => texts.map((text) => [...honest(text)] as never),
    'gives one vector for a call of several': (texts) => texts.slice(0, 1).map(honest),
    'gives one vector too many': (texts) => [...texts, ''].map(honest),
    'sorts its texts': (texts) => texts.toSorted().map(honest),
    'gives infinite numbers': (texts) => texts.map((text) => honest(text).map((value) => value / 0)),
    'gives zeros': (texts) => texts.map(() => new Float32Array(16)),
    'gives all texts one vector': (texts) => texts.map(() => new Float32Array(16).fill(1)),
    'takes texts off the list': (texts) => (texts as string[]).splice(0).map(honest),
    'sorts the list it is given': (texts) => {
      const vectors = texts.map(honest)
      ;(texts as string[]).sort()
      return vectors
    },
    'writes vectors into the same memory': (texts) =>
      texts.map((text, at) => {
        pool[at] ??= new Float32Array(16)
        pool[at].set(honest(text))
        return pool[at]
      }),
    'remembers vectors by the beginning of a text': (texts) =>
      texts.map((text) => {
        const key = text.slice(0, 16)
        if (!byBeginning.has(key)) byBeginning.set(key, honest(text))
        return byBeginning.get(key)!
      }),
    'gives one vector to texts of one length': (texts) => texts.map((text) => new Float32Array(16).fill(text.length)),
    'cuts texts at 20 characters': (texts) => texts.map((text) => honest(text.slice(0, 20))),
    'lets texts colour each other': (texts) => texts.map((_, at) => honest(texts.slice(0, at + 1).join(''))),
  }
  testMutants<(texts: readonly string[]) => Float32Array[]>('embedder', (embed) => tests(embed), {
    sound: (texts) => texts.map(honest),
    mutants: faults,
  })

  it('when its id does not name its dimensions', async () => {
    const broken: string[] = []
    for (const [title, run] of tests((texts) => texts.map(honest), 'plain/letters'))
      await run().catch(() => broken.push(title))
    expect(broken).not.toEqual([])
  })

  type Embed = Embedder['embed']
  let batch: readonly string[] = []
  const calls: Record<string, Embed> = {
    'mixes calls up': async (texts, _use, signal) => {
      signal?.throwIfAborted()
      batch = texts
      await Promise.resolve()
      return texts.map((_, at) => honest(batch[at] ?? ''))
    },
    'takes 32 texts where it says 64': async (texts, _use, signal) => {
      signal?.throwIfAborted()
      return texts.slice(0, 32).map(honest)
    },
    'numbers each 32 texts from their own start': async (texts, _use, signal) => {
      signal?.throwIfAborted()
      return texts.map((_, at) => honest(texts[at % 32]!))
    },
    'throws a bare string when stopped': async (texts, _use, signal) => {
      if (signal?.aborted) throw 'aborted'
      return texts.map(honest)
    },
    'throws an error of its own when stopped': async (texts, _use, signal) => {
      if (signal?.aborted) throw new Error('fetch failed')
      return texts.map(honest)
    },
  }
  it.each(Object.entries(calls))('when it %s', async (_mistake, embed) => {
    const broken: string[] = []
    const embedder: Embedder = { id: 'plain/letters@16', dimensions: 16, maxBatchSize: 64, embed }
    for (const [title, run] of embedderConformance(() => embedder)) await run().catch(() => broken.push(title))
    expect(broken).not.toEqual([])
  })
})
