import type { Embedder } from '@inlay/knowledge'

/** An embedder that counts its work. */
export interface FakeEmbedder extends Embedder {
  /** The texts of each call. */
  readonly calls: string[][]
}

/** How it misbehaves. */
export interface FakeEmbedderOptions {
  readonly batch?: number
  /** Runs before an answer; throws to fail the call, or gives what is answered instead of the right vectors. */
  readonly answer?: (
    texts: readonly string[],
    signal?: AbortSignal,
  ) => Float32Array[] | void | Promise<Float32Array[] | void>
}

/** Makes one whose vectors count letters: equal texts are near, different ones mostly not. */
export function fakeEmbedder({ batch = 16, answer }: FakeEmbedderOptions = {}): FakeEmbedder {
  const calls: string[][] = []
  return {
    id: 'fake/letters@8',
    dimensions: 8,
    maxBatchSize: batch,
    calls,
    embed: async (texts, _use, signal) => {
      calls.push([...texts])
      return (await answer?.(texts, signal)) ?? texts.map(toVector)
    },
  }
}

function toVector(text: string): Float32Array {
  const vector = new Float32Array(8)
  for (const letter of text) vector[letter.codePointAt(0)! % 8]! += 1
  return vector
}
