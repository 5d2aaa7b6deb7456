import type { Embedder } from 'inlay'

/** Counts letters: no model at all, but a whole embedder. */
export const letterEmbedder: Embedder = {
  id: 'shop/letters@32',
  dimensions: 32,
  batch: 64,
  async embed(texts, _use, signal) {
    signal?.throwIfAborted()
    return texts.map((text) => {
      const vector = new Float32Array(32)
      for (const letter of text) vector[letter.codePointAt(0)! % 32]! += 1
      return vector
    })
  },
}

import { embedderConformance } from 'inlay/conformance'

for (const [title, run] of embedderConformance(() => letterEmbedder)) test(title, run)

import type { Reranker } from 'inlay'

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** Scores a text by how many words of the query it has. */
export const wordReranker: Reranker = {
  async rerank(query, texts, signal) {
    signal?.throwIfAborted()
    const asked = new Set(wordsOf(query))
    // A model would work here, and end when the signal aborts.
    await new Promise((resolve) => setImmediate(resolve))
    signal?.throwIfAborted()
    return texts.map((text) => new Set(wordsOf(text).filter((word) => asked.has(word))).size)
  },
}

import { rerankerConformance } from 'inlay/conformance'

const tests = rerankerConformance((mood) => (mood === 'well' ? wordReranker : undefined))
for (const [title, run] of tests) test(title, run)
