import { httpReranker } from '@inlay/drivers/http-reranker'
import type { Reranker } from '@inlay/knowledge'
import { rerankerConformance, type RerankMood } from '@inlay/conformance'
import { InlayError } from '@inlay/protocol'
import { afterEach, describe, test } from 'vitest'
import { testMutants } from '../../mutants.ts'
import { startRerank, type RerankStandIn } from '../../stand-in/rerank.ts'

const standIns: RerankStandIn[] = []
afterEach(async () => {
  for (const standIn of standIns.splice(0)) await standIn.close()
})

describe.each(['cohere', 'jina', 'tei'] as const)('httpReranker as %s speaks', (protocol) => {
  const tests = rerankerConformance(async (mood) => {
    const standIn = await startRerank()
    standIns.push(standIn)
    if (mood === 'failing') standIn.mishaps.push({ status: 500 }, { status: 500 })
    if (mood === 'silent') standIn.mishaps.push({ hangs: true })
    const shared = { baseUrl: standIn.baseUrls[protocol], sleep: async () => {} }
    return httpReranker(protocol === 'tei' ? { protocol, ...shared } : { protocol, model: 'stand-in', ...shared })
  })
  for (const [title, run] of tests) test(title, run)
})

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
const judge = (query: string, text: string): number => {
  const words = new Set(wordsOf(text))
  return wordsOf(query).filter((word) => words.has(word)).length
}

type Rerank = Reranker['rerank']

const serving =
  (mood: RerankMood): Rerank =>
  async (query, texts, signal) => {
    signal?.throwIfAborted()
    if (mood === 'failing') throw new InlayError('API_ERROR', { message: 'The model broke.' })
    const { promise: stopped, reject } = Promise.withResolvers<never>()
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    const answer = new Promise<void>((resolve) => (mood === 'silent' ? undefined : setImmediate(resolve)))
    await Promise.race([stopped, answer])
    return texts.map((text) => judge(query, text))
  }

/** Changes the scores of the sound reranker. */
const scoring =
  (change: (scores: number[], texts: readonly string[]) => readonly unknown[]) =>
  (mood: RerankMood): Rerank =>
  async (query, texts, signal) =>
    // Input that a driver without types may return.
    change([...(await serving(mood)(query, texts, signal))], texts) as readonly number[]

let shared: readonly string[] = []
let sharedQuery = ''
let firstQuery: string | undefined
const byText = new Map<string, number>()

testMutants<(mood: RerankMood) => Rerank>(
  'reranker',
  (rerankOf) => rerankerConformance((mood) => ({ rerank: rerankOf(mood) }), { patienceMs: 50 }),
  {
    sound: serving,
    mutants: {
      'gives scores in the order of the best': scoring((scores) => scores.toSorted((a, b) => b - a)),
      'gives scores backwards': scoring((scores) => scores.toReversed()),
      'gives distances': scoring((scores) => scores.map((score) => -score)),
      'gives ranks': scoring((scores) => scores.map((score) => scores.filter((other) => other > score).length)),
      'leaves the last text out': scoring((scores) => scores.slice(0, -1)),
      'judges ten texts alone': scoring((scores) => scores.slice(0, 10)),
      'fills up with zeros after a hundred': scoring((scores) => scores.map((score, at) => (at < 100 ? score : 0))),
      'numbers each request of a hundred from its own start': scoring((scores) =>
        scores.map((_, at) => scores[at % 100]),
      ),
      'gives text': scoring((scores) => scores.map(String)),
      'divides by nothing': scoring((scores) => {
        const best = Math.max(...scores)
        return scores.map((score) => score / best)
      }),
      'gives null for an empty text': scoring((scores, texts) => scores.map((score, at) => (texts[at] ? score : null))),
      'fails on no text': scoring((scores) => {
        if (scores.length === 0) throw new Error('No documents.')
        return scores
      }),
      'gives one score for every text': scoring((scores) => scores.map(() => 0.5)),
      'takes texts off the list': (mood) => async (query, texts, signal) => {
        const scores = await serving(mood)(query, [...texts], signal)
        ;(texts as string[]).reverse()
        return scores
      },
      'mixes calls up': (mood) => async (query, texts, signal) => {
        shared = texts
        await new Promise(setImmediate)
        return serving(mood)(query, shared, signal)
      },
      'takes the query of another call': (mood) => async (query, texts, signal) => {
        sharedQuery = query
        await new Promise(setImmediate)
        return serving(mood)(sharedQuery, texts, signal)
      },
      'judges by the first query for ever': (mood) => (query, texts, signal) =>
        serving(mood)((firstQuery ??= query), texts, signal),
      'remembers scores by their text': (mood) => async (query, texts, signal) => {
        const scores = await serving(mood)(query, texts, signal)
        return scores.map((score, at) => {
          const known = byText.get(texts[at]!) ?? score
          byText.set(texts[at]!, known)
          return known
        })
      },
      'judges 64 texts at a time by the first': scoring((scores) => scores.map((_, at) => scores[at - (at % 64)])),
      'judges the text after': scoring((scores) => scores.map((score, at) => scores[at + 1] ?? score)),
      'hides a failure behind zeros': (mood) => (query, texts, signal) =>
        serving(mood)(query, texts, signal).catch((error: unknown) => {
          signal?.throwIfAborted()
          return error instanceof InlayError ? texts.map(() => 0) : Promise.reject(error)
        }),
      'throws a bare string': (mood) => (query, texts, signal) =>
        mood === 'failing' ? Promise.reject('500') : serving(mood)(query, texts, signal),
      'repeats the query in its failure': (mood) => (query, texts, signal) =>
        mood === 'failing'
          ? Promise.reject(new InlayError('API_ERROR', { message: `No scores for ${query}` }))
          : serving(mood)(query, texts, signal),
      'looks at its signal only before it asks': (mood) => async (query, texts, signal) => {
        signal?.throwIfAborted()
        return serving(mood)(query, texts)
      },
      'ignores its signal': (mood) => (query, texts) => serving(mood)(query, texts),
      'throws an error of its own when stopped': (mood) => (query, texts, signal) =>
        serving(mood)(query, texts, signal).catch((error: unknown) =>
          Promise.reject(signal?.aborted ? new Error('aborted') : error),
        ),
    },
  },
)
