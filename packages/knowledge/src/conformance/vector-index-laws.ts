import type { VectorIndex } from '../contracts.ts'
import type { Law } from './law.ts'

/** A new handle, not opened yet. Handles of one store name share their rows, also after all were closed. */
export type MakeVectorIndex = (store: string) => VectorIndex | Promise<VectorIndex>

/** What every `VectorIndex` must hold, as a plain list any test runner can loop over. */
export function vectorIndexLaws(make: MakeVectorIndex): Law[] {
  return [
    [
      'a closed index can be closed again',
      async () => {
        const index = await make('closed')
        await index.open()
        await index.close()
        await index.close()
      },
    ],
  ]
}
