import type { Embedder } from '@inlay/knowledge'

/** The embedder that the fixtures of this folder were written with: vectors that count letters. Never change it. */
export const letterEmbedder: Embedder = {
  id: 'fixture/letters@8',
  dimensions: 8,
  maxBatchSize: 16,
  embed: (texts) =>
    Promise.resolve(
      texts.map((text) => {
        const vector = new Float32Array(8)
        for (const letter of text) vector[letter.codePointAt(0)! % 8]! += 1
        return vector
      }),
    ),
}
