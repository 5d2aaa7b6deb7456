import type { VectorIndex } from '@inlay/knowledge'

/**
 * Returns a new handle that is not opened yet. Handles with the same store name share their rows, even after all were
 * closed.
 */
export type MakeVectorIndex = (store: string) => VectorIndex | Promise<VectorIndex>

export type IndexSpace = NonNullable<Parameters<VectorIndex['open']>[0]>

/** Opens an index for one test and closes it, even if the test fails. */
export type WithIndex = (
  store: string,
  work: (index: VectorIndex) => Promise<void>,
  space?: IndexSpace,
) => Promise<void>

/** Indexes of tests that need several, or one that is not open. */
export interface IndexHandles {
  readonly make: MakeVectorIndex
  readonly withIndex: WithIndex
}

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
