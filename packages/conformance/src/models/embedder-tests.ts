import { must, mustAbort, mustEqual, toTests, type Checks, type ConformanceTest } from '../contract.ts'
import type { Embedder } from '@inlay/knowledge'

/** Returns the embedder to test, ready for use. */
export type MakeEmbedder = () => Embedder | Promise<Embedder>

const texts = [
  'A heron waits in the reeds.',
  'A heron waits in the reeds while invoices are paid.',
  'Invoices are due within 30 days.',
  '図書館は九時に開きます。',
  'x',
  '🦀 "odd" \\ \n',
]

/**
 * Requirements of every `Embedder`, as a list for any test runner. Requests up to two hundred vectors.
 * @example for (const [title, run] of embedderConformance(make)) test(title, run)
 */
export function embedderConformance(make: MakeEmbedder): ConformanceTest[] {
  return toTests(checks, async (check) => check(await make()))
}

const checks: Checks<Embedder> = {
  async 'the id names the space and ends with its dimensions'({ id, dimensions, maxBatchSize }) {
    must(Number.isInteger(dimensions) && dimensions > 0, 'dimensions are a positive whole number')
    must(id.endsWith(`@${dimensions}`), 'the id ends with "@" and the dimensions')
    must(maxBatchSize >= 1, 'at least one text fits a call')
  },
  async 'no texts give no vectors'(embedder) {
    mustEqual(await embedder.embed([], 'document'), [], 'vectors')
  },
  async 'each text gives one vector of the declared length, of finite numbers, not all zero'(embedder) {
    for (const use of ['document', 'query'] as const) {
      const vectors = await inCalls(embedder, texts, use)
      mustEqual(vectors.length, texts.length, 'vectors')
      for (const vector of vectors) {
        must(vector instanceof Float32Array, 'a vector is a Float32Array')
        mustEqual(vector.length, embedder.dimensions, 'length')
        must(vector.every(Number.isFinite), 'every number is finite')
        must(
          vector.some((value) => value !== 0),
          'not all are zero',
        )
      }
    }
  },
  async 'vectors come in the order of their texts, and the same text gives the same vector in any company'(embedder) {
    const together = await inCalls(embedder, texts, 'document')
    const backwards = (await inCalls(embedder, [...texts].reverse(), 'document')).reverse()
    for (const [at, text] of texts.entries()) {
      const [alone] = await embedder.embed([text], 'document')
      must(nearness(together[at]!, alone!) > 0.999, 'alone as in company')
      must(nearness(together[at]!, backwards[at]!) > 0.999, 'first as last')
      for (const [other] of texts.entries())
        if (other !== at) must(nearness(together[at]!, together[other]!) < 0.9999, 'other texts differ')
    }
  },
  async 'as many texts as a call takes come back in order'(embedder) {
    const many = Array.from({ length: Math.min(embedder.maxBatchSize, 100) }, (_, n) => texts[n % texts.length]!)
    const vectors = await embedder.embed(many, 'document')
    mustEqual(vectors.length, many.length, 'vectors')
    for (const [at, vector] of vectors.entries())
      must(nearness(vector, vectors[at % texts.length]!) > 0.999, 'equal texts have equal vectors')
  },
  async 'calls side by side do not mix'(embedder) {
    const alone = await inCalls(embedder, texts, 'document')
    const together = await Promise.all(texts.map((text) => embedder.embed(Object.freeze([text]), 'document')))
    for (const [at, vectors] of together.entries())
      must(nearness(vectors[0]!, alone[at]!) > 0.999, 'a text beside others as alone')
  },
  async 'an aborted call rejects with the reason of its signal'(embedder) {
    await mustAbort((signal) => embedder.embed([texts[0]!], 'query', signal), { when: ['before'] })
  },
}

async function inCalls(embedder: Embedder, all: readonly string[], use: 'document' | 'query'): Promise<Float32Array[]> {
  const vectors: Float32Array[] = []
  for (let at = 0; at < all.length; at += embedder.maxBatchSize)
    vectors.push(...(await embedder.embed(Object.freeze(all.slice(at, at + embedder.maxBatchSize)), use)))
  return vectors
}

/** Cosine of the angle between two vectors. */
function nearness(a: Float32Array, b: Float32Array): number {
  let [dot, aa, bb] = [0, 0, 0]
  for (const [at, x] of a.entries()) {
    const y = b[at] ?? 0
    dot += x * y
    aa += x * x
    bb += y * y
  }
  return dot / Math.sqrt(aa * bb)
}
