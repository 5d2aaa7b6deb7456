import type { VectorIndex } from '@inlay/knowledge'

/** A new handle, not opened yet. Handles of one store name share their rows, also after all of them were closed. */
export type MakeVectorIndex = (store: string) => VectorIndex | Promise<VectorIndex>

/** Opens an index of its own for one test and closes it, whatever becomes of it. */
export type WithIndex = (
  store: string,
  work: (index: VectorIndex) => Promise<void>,
  space?: { id: string; dimensions: number },
) => Promise<void>

/** Opens indexes for tests and closes them, whatever becomes of the test. */
export function withIndexOf(make: MakeVectorIndex): WithIndex {
  return async (store, work, space) => {
    const index = await make(store)
    try {
      await index.open(space)
      await work(index)
    } finally {
      await index.close()
    }
  }
}
