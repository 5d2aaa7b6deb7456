import { checkRequired, isObject } from '@inlay/protocol'
import type { Hit, IndexRow, VectorIndex } from '@inlay/knowledge'
import { mapConcurrent } from '@inlay/scheduling'
import { checkVector, createOpenState, type Space } from '../hybrid-search/open-state.ts'
import { guarded } from './failures.ts'
import { idOf, putRows, removeRows, vectorsOf } from './points.ts'
import { searchBoth } from './search.ts'
import { claimSpace, isOfRows, spaceIn, withoutMark } from './space-mark.ts'
import type { VectorCollection, VectorStore } from './store.ts'

export type { NearPoint, VectorCollection, VectorPoint, VectorRow, VectorStore } from './store.ts'

export interface VectorStoreIndexOptions {
  /** Opens a collection of the store. */
  readonly vectors: (collection: VectorCollection) => VectorStore | Promise<VectorStore>
  /** Index for rows and keywords: `lancedbIndex`, `pgvectorIndex` or any other index, empty and not opened yet. */
  readonly words: VectorIndex
  /** Weight of the vectors in searches that also have text, 0 to 1. Default: estimated for each query. */
  readonly vectorShare?: number
}

interface Open {
  readonly space: Space | undefined
  readonly store: VectorStore | undefined
}

/**
 * An index over a store for vectors only: rows and keywords are in another index, which is opened without vectors. Hits
 * of the store are read from that index, so a row that was deleted is never found by its vector.
 * @example vectorStoreIndex({ words: lancedbIndex({ folder: 'words' }), vectors: ({ name }) => myStore(name) })
 */
export function vectorStoreIndex(options: VectorStoreIndexOptions): VectorIndex {
  checkRequired('vectorStoreIndex', options, 'vectorShare', {
    vectors: ['a function that opens a collection', (value) => typeof value === 'function'],
    words: ['a vector index that searches words, such as lancedbIndex()', isObject],
  })
  return createIndex(options, 'chunks')
}

function createIndex(options: VectorStoreIndexOptions, name: string): VectorIndex {
  const { words, vectorShare: share } = options
  const state = createOpenState<Open>()
  return {
    async open(space) {
      state.refuseClosed()
      await words.open()
      await claimSpace(words, space)
      state.set({ space, store: await openStore(options, name, space) })
    },
    append: async (rows) => append(state.get(), words, rows),
    remove: async (generations) => remove(state.get(), words, generations),
    async search(query) {
      const { space, store } = state.get()
      const { vector, signal } = query
      signal?.throwIfAborted()
      if (!vector) return words.search(query)
      checkVector(vector, space)
      // Opened with a space, otherwise the check above fails.
      return searchBoth({ query: { ...query, vector }, store: store!, words, share })
    },
    async read(generation, from, to, wanted) {
      const { store } = state.get()
      const rows = await words.read(generation, from, to)
      return wanted?.vectors && store ? withVectors(store, rows) : rows
    },
    maintain: async (upkeep) => {
      state.get()
      return withoutMark(await words.maintain(upkeep))
    },
    figures: async () => {
      state.get()
      return withoutMark(await words.figures())
    },
    async close() {
      const last = state.peek()
      state.close()
      await words.close()
      await last?.store?.close()
    },
    ...placeOf(options, name, {
      async drop() {
        if (!state.isClosed) await clearVectors(options, name)
        state.close()
        await words.drop?.()
      },
    }),
  }
}

/** Capabilities of an index besides search, limited to those of the keyword index. */
function placeOf(
  options: VectorStoreIndexOptions,
  name: string,
  { drop }: Required<Pick<VectorIndex, 'drop'>>,
): Pick<VectorIndex, 'staging' | 'inspect' | 'eachGeneration' | 'mark' | 'drop'> {
  const { words } = options
  return {
    ...(words.staging && {
      staging: (number) => createIndex({ ...options, words: words.staging!(number) }, `${name}-${number}`),
    }),
    ...(words.inspect && { inspect: (look) => words.inspect!(look) }),
    ...(words.eachGeneration && {
      eachGeneration: (listener, signal) => words.eachGeneration!((all) => listener(all.filter(isOfRows)), signal),
    }),
    ...(words.mark && { mark: (identity) => words.mark!(identity) }),
    ...(words.drop && { drop }),
  }
}

async function openStore(
  options: VectorStoreIndexOptions,
  name: string,
  space: Space | null | undefined,
): Promise<VectorStore | undefined> {
  return guarded(async () => (space ? options.vectors({ name, dimensions: space.dimensions }) : undefined))
}

async function clearVectors(options: VectorStoreIndexOptions, name: string): Promise<void> {
  await options.words.open()
  const store = await openStore(options, name, await spaceIn(options.words))
  await guarded(async () => store?.clear())
  await store?.close()
}

async function append({ space, store }: Open, words: VectorIndex, rows: readonly IndexRow[]): Promise<void> {
  for (const { vector } of rows) checkVector(vector, space)
  // Before the rows: a vector without a row is never returned.
  if (store) await putRows(store, rows)
  await words.append(rows.map(withoutVector))
}

const maxReads = 8

async function remove({ store }: Open, words: VectorIndex, generations: readonly string[]): Promise<void> {
  // Before the rows, which are needed to find the ids of the vectors.
  if (store)
    await mapConcurrent(generations, maxReads, async (generation) =>
      removeRows(store, await words.read(generation, 0, 2 ** 31 - 1)),
    )
  await words.remove(generations)
}

async function withVectors(store: VectorStore, rows: readonly Hit[]): Promise<Hit[]> {
  const vectors = await vectorsOf(store, rows)
  return rows.map((row) => {
    const vector = vectors.get(idOf(row))
    return vector ? { ...row, vector } : row
  })
}

function withoutVector(given: IndexRow): IndexRow {
  const { vector: _vector, ...row } = given
  return row
}
