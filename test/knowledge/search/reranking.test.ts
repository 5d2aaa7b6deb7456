import type { Hit, Recency, Reranker } from '@inlay/knowledge'
import { describe, expect, test } from 'vitest'
import { rank } from '@inlay/knowledge/internal/search/reranking'
import { makeKnowledge, request, startKnowledge, type TestKnowledge } from '../setup.ts'

/** A reranker that finds texts better the more often they say "good". */
function fakeReranker(change: (scores: number[]) => readonly number[] = (scores) => scores): Reranker & {
  calls: { query: string; texts: readonly string[] }[]
} {
  const calls: { query: string; texts: readonly string[] }[] = []
  return {
    calls,
    rerank: async (query, texts) => {
      calls.push({ query, texts })
      return change(texts.map((text) => text.split('good').length / 100))
    },
  }
}

type Options = Parameters<typeof makeKnowledge>[0]

/** Documents whose only difference for the index is how many of the query's words they have. */
async function makeLibrary(options: Options, texts: Record<string, string>): Promise<TestKnowledge> {
  const fixture = await makeKnowledge(options)
  for (const [id, text] of Object.entries(texts)) await fixture.knowledge.accept(request({ id, text }))
  // All in one claim: of hits that are equally good, the one indexed first comes first.
  await fixture.knowledge.start()
  await fixture.knowledge.whenIdle()
  return fixture
}

const search = async (
  { knowledge }: TestKnowledge,
  text: string,
  options: { limit?: number; recency?: Recency | null; signal?: AbortSignal } = {},
): Promise<string[]> =>
  (await knowledge.search({ text, limit: 10, ...options })).map(({ document }) => document.document_id)

const texts = { most: 'one two three', some: 'one two good', least: 'one good good' }

describe('a reranker', () => {
  test('puts what the index found in a better order, by title, text and metadata', async () => {
    const reranker = fakeReranker()
    expect(await search(await makeLibrary({}, texts), 'one two three')).toEqual(['most', 'some', 'least'])
    const library = await makeLibrary({ reranker }, texts)
    expect(await search(library, 'one two three')).toEqual(['least', 'some', 'most'])
    expect(reranker.calls).toEqual([
      {
        query: 'one two three',
        texts: ['A document\n\none two three', 'A document\n\none two good', 'A document\n\none good good'],
      },
    ])
    const [{ document } = { document: undefined }] = await library.knowledge.search({ text: 'one two three', limit: 1 })
    expect(document).toMatchObject({ document_id: 'least', score: 0.03 })
  })

  test('judges the best hits, more of them than are asked for; the others follow in their order', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 80 }, (_, at) => [`${at}`, `one ${'good '.repeat(at)}${at < 60 ? 'two' : ''}`]),
    )
    const reranker = fakeReranker()
    const library = await makeLibrary({ reranker, ranking: { maxRerankedHits: 30 } }, many)
    expect(await search(library, 'one two', { limit: 3 })).toEqual(['29', '28', '27'])
    expect(reranker.calls[0]!.texts).toHaveLength(30)
    const scores = (await library.knowledge.search({ text: 'one two', limit: 80 })).map(
      ({ document }) => document.score!,
    )
    expect(scores).toHaveLength(80)
    expect(scores).toEqual(scores.toSorted((left, right) => right - left))
  })

  test('may answer with logits: the order counts, and scores lie between 0 and 1', async () => {
    const reranker = fakeReranker((scores) => scores.map((score) => score * 1000 - 20))
    const library = await makeLibrary({ reranker }, texts)
    expect(await search(library, 'one two three')).toEqual(['least', 'some', 'most'])
    for (const { document } of await library.knowledge.search({ text: 'one two three', limit: 9 })) {
      expect(document.score).toBeGreaterThan(0)
      expect(document.score).toBeLessThan(1)
    }
  })

  test.each<[string, Reranker]>([
    ['fails', { rerank: () => Promise.reject(new Error('down')) }],
    [
      'throws',
      {
        rerank: () => {
          throw new Error('down')
        },
      },
    ],
    ['answers with too few numbers', fakeReranker((scores) => scores.slice(1))],
    ['answers with no numbers', fakeReranker((scores) => scores.map(() => Number.NaN))],
    ['hangs', { rerank: () => new Promise(() => {}) }],
  ])('that %s leaves the order of the index, and is reported', async (_, reranker) => {
    const library = await makeLibrary({ reranker, ranking: { rerankTimeoutMs: 20 } }, texts)
    expect(await search(library, 'one two three')).toEqual(['most', 'some', 'least'])
    expect(library.errors).toHaveLength(1)
    expect(library.errors[0]).toMatchObject({ message: expect.stringMatching(/^The reranker/) })
  })

  test('is not asked about nothing, nor about a single hit', async () => {
    const reranker = fakeReranker()
    const library = await makeLibrary({ reranker }, { a: 'one' })
    expect(await search(library, 'nowhere')).toEqual([])
    expect(await search(library, 'one')).toEqual(['a'])
    expect(reranker.calls).toEqual([])
  })

  test('is left alone when the caller goes', async () => {
    const controller = new AbortController()
    const reranker: Reranker = {
      rerank: (_query, _texts, signal) => {
        controller.abort(new Error('gone'))
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    const library = await makeLibrary({ reranker }, texts)
    await expect(search(library, 'one two three', { signal: controller.signal })).rejects.toThrow('gone')
    expect(library.errors).toEqual([])
  })
})

describe('recency', () => {
  const day = 86_400_000
  const now = Date.UTC(2026, 5, 1)
  const hit = (id: string, score: number, ageDays: number): Hit => ({
    documentId: id,
    generation: id,
    position: 0,
    text: id,
    chunkMetadata: '{"s":"","m":{}}',
    source: 'file',
    updatedAt: now - ageDays * day,
    score,
  })
  const ranked = async (hits: Hit[], recency: Recency): Promise<[string, number][]> =>
    (await rank(hits, { text: 'x', recency }, { now: () => now, onError: () => {} })).map(({ documentId, score }) => [
      documentId,
      score,
    ])

  test('multiplies each score by (1 - weight) + weight * 2^(-age / half-life)', async () => {
    const hits = [hit('old', 0.8, 3650), hit('month', 0.8, 30), hit('today', 0.5, 0), hit('tomorrow', 0.5, -1)]
    const results = new Map(await ranked(hits, { halfLifeDays: 30, weight: 0.4 }))
    expect(results.get('old')).toBeCloseTo(0.8 * 0.6, 6)
    expect(results.get('month')).toBeCloseTo(0.8 * (0.6 + 0.2), 6)
    expect(results.get('today')).toBeCloseTo(0.5, 6)
    expect(results.get('tomorrow')).toBeCloseTo(0.5, 6)
    expect([...results.keys()]).toEqual(['month', 'today', 'tomorrow', 'old'])
  })

  test('is off unless asked for by the knowledge or the search; a search may go without', async () => {
    const documents = [
      // Of one title, the newer would replace the older.
      request({
        id: 'old',
        semantic_identifier: 'Herons',
        text: 'one two',
        doc_updated_at: '2016-01-01T00:00:00.000Z',
      }),
      request({ id: 'new', semantic_identifier: 'Owls', text: 'one', doc_updated_at: '2026-05-31T00:00:00.000Z' }),
    ]
    const make = async (options: Options): Promise<TestKnowledge> => {
      const fixture = await startKnowledge({ now: () => now, ...options })
      for (const document of documents) await fixture.knowledge.accept(document)
      await fixture.knowledge.whenIdle()
      return fixture
    }
    const strong = { halfLifeDays: 30, weight: 0.9 }
    const plain = await make({})
    expect(await search(plain, 'one two')).toEqual(['old', 'new'])
    expect(await search(plain, 'one two', { recency: strong })).toEqual(['new', 'old'])
    const recent = await make({ ranking: { recency: strong } })
    expect(await search(recent, 'one two')).toEqual(['new', 'old'])
    expect(await search(recent, 'one two', { recency: null })).toEqual(['old', 'new'])
  })

  test('weighs documents without a date by when they were accepted', async () => {
    const clock = { now }
    const fixture = await startKnowledge({ now: () => clock.now })
    await fixture.knowledge.accept(request({ id: 'first', text: 'one' }), { waitMs: 60_000 })
    clock.now += 365 * day
    await fixture.knowledge.accept(request({ id: 'second', text: 'one' }), { waitMs: 60_000 })
    expect(await search(fixture, 'one', { recency: { halfLifeDays: 30 } })).toEqual(['second', 'first'])
  })

  test.each([{ halfLifeDays: 0 }, { halfLifeDays: Number.NaN }, { halfLifeDays: 1, weight: 2 }])(
    'of %j is refused',
    async (recency) => {
      await expect(ranked([hit('a', 1, 0)], recency)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    },
  )
})
