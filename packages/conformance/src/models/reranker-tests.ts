import { isInlayError } from '@inlay/protocol'
import { must, mustAbort, mustEqual, rejectionOf, toTests, type Checks, type ConformanceTest } from '../contract.ts'
import type { Reranker } from '@inlay/knowledge'

/** Behaviour of the model or service behind a reranker: it responds, it fails, or it never responds. */
export type RerankMood = 'well' | 'failing' | 'silent'

/**
 * Returns the reranker to test with that behaviour; undefined if it cannot have it, such as a model in this process.
 */
export type MakeReranker = (mood: RerankMood) => Reranker | undefined | Promise<Reranker | undefined>

const query = 'When do grey herons nest?'
const answer = 'When do grey herons nest? Grey herons nest from March to May.'
const others: readonly string[] = [
  'Invoices are due within thirty days.',
  'The cafeteria is closed on Mondays.',
  'Parking permits can be renewed online.',
]

/**
 * Requirements of every `Reranker`, as a list for any test runner. Reranks about four hundred short texts.
 * @param options `patienceMs`: maximum wait for an aborted call, in milliseconds; default 10 000
 * @example for (const [title, run] of rerankerConformance(make)) test(title, run)
 */
export function rerankerConformance(
  make: MakeReranker,
  { patienceMs = 10_000 }: { readonly patienceMs?: number } = {},
): ConformanceTest[] {
  return toTests(checks, async (check) => check({ make, reranker: await wellFrom(make), patienceMs }))
}

async function wellFrom(make: MakeReranker): Promise<Reranker> {
  const reranker = await make('well')
  must(reranker !== undefined, 'there is a reranker that answers')
  return reranker
}

async function scoresOf(reranker: Reranker, texts: readonly string[], question = query): Promise<readonly number[]> {
  const scores = await reranker.rerank(question, texts)
  must(Array.isArray(scores), 'scores are a list')
  mustEqual(scores.length, texts.length, 'scores')
  for (const score of scores as readonly unknown[])
    must(typeof score === 'number' && Number.isFinite(score), `${String(score)} is a finite number`)
  return scores
}

function mustBeBest(scores: readonly number[], at: number, statement: string): void {
  const best = scores[at] ?? Number.NEGATIVE_INFINITY
  must(
    scores.every((score, other) => other === at || score < best),
    `${statement}: text ${at} is the best of ${scores.join(', ')}`,
  )
}

const checks: Checks<{ readonly make: MakeReranker; readonly reranker: Reranker; readonly patienceMs: number }> = {
  async 'the text that answers the query has the highest score, wherever it stands'({ reranker }) {
    for (let at = 0; at <= others.length; at++) {
      const texts = others.toSpliced(at, 0, answer)
      mustBeBest(await scoresOf(reranker, texts), at, `as one of ${texts.length}`)
    }
  },
  async 'each of more texts than a request takes has the score of its own place'({ reranker }) {
    for (const at of [3, 101, 149]) {
      const texts = Array.from({ length: 150 }, (_, n) => (n === at ? answer : others[n % others.length]!))
      mustBeBest(await scoresOf(reranker, texts), at, 'of 150 texts')
    }
  },
  async 'calls side by side do not mix'({ reranker }) {
    const lists = Array.from({ length: 4 }, (_, at) => others.toSpliced(at, 0, answer).slice(0, at + 1))
    const results = await Promise.all(lists.map((texts) => scoresOf(reranker, texts)))
    for (const [at, scores] of results.entries()) mustBeBest(scores, at, 'beside other calls')
  },
  async 'each call is judged by its own query, beside and after others'({ reranker }) {
    const questions = [query, 'Where can parking permits be renewed online?', query]
    const texts = [answer, ...others]
    const inTurn: (readonly number[])[] = []
    for (const question of questions) inTurn.push(await scoresOf(reranker, texts, question))
    const together = await Promise.all(questions.map((question) => scoresOf(reranker, texts, question)))
    for (const results of [inTurn, together])
      for (const [at, scores] of results.entries()) mustBeBest(scores, at === 1 ? 3 : 0, `for "${questions[at]}"`)
  },
  async 'no text gives no score, and one text gives one'({ reranker }) {
    await scoresOf(reranker, [])
    await scoresOf(reranker, [answer])
  },
  async 'every text has a score: an empty one, a long one, one of any characters'({ reranker }) {
    const texts = ['', ' ', '図書館 🦀', '"; \\ \n\u2028', 'A long text. '.repeat(2_000), answer]
    await scoresOf(reranker, texts)
    await scoresOf(reranker, ['', '', ''])
    await scoresOf(reranker, texts, '図書館 "はいつ" \\ 開きますか 🦀')
  },
  async 'the texts stay as they were given'({ reranker }) {
    const texts = Object.freeze([...others, answer])
    await scoresOf(reranker, texts)
    mustEqual(texts, [...others, answer], 'texts afterwards')
  },
  async 'a service that fails is an InlayError that does not repeat the query, never a list of scores'({ make }) {
    const reranker = await make('failing')
    if (!reranker) return
    const error = await rejectionOf(reranker.rerank(query, [...others, answer]))
    must(isInlayError(error), 'the call rejects with an InlayError')
    must(!error.message.includes('heron'), 'the message holds neither query nor texts')
  },
  async 'a call with a signal that has aborted rejects with its reason'({ reranker, patienceMs }) {
    await mustAbort((signal) => reranker.rerank(query, [answer], signal), { when: ['before'], patienceMs })
    await scoresOf(reranker, [answer])
  },
  async 'a call that is aborted while it waits rejects with the reason'({ make, patienceMs }) {
    for (const mood of ['well', 'silent'] as const) {
      const reranker = await make(mood)
      const texts = [answer, ...others]
      if (reranker) await mustAbort((signal) => reranker.rerank(query, texts, signal), { when: ['while'], patienceMs })
    }
  },
}
