import type { Embedder } from '../contracts.ts'
import type { Law } from './law.ts'

/** Gives the embedder under test, ready for use. */
export type MakeEmbedder = () => Embedder | Promise<Embedder>

/** What every `Embedder` must hold, as a plain list any test runner can loop over. */
export function embedderLaws(make: MakeEmbedder): Law[] {
  return [
    [
      'no texts give no vectors',
      async () => {
        const vectors = await (await make()).embed([], 'document')
        if (vectors.length > 0) throw new Error('Vectors came back for no texts.')
      },
    ],
  ]
}
