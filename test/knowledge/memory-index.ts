import type { Hit, IndexQuery, IndexRow, VectorIndex } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import { sound } from './plain-index.ts'

/** An index in memory, with a look inside. Several handles may share one store, as processes share a folder. */
export interface MemoryIndex extends VectorIndex {
  readonly store: MemoryStore
}

/** Shared by the handles of one index. */
export interface MemoryStore {
  rows: IndexRow[]
  commits: number
  maintained: number
  /** The identity of the last `mark`. */
  identity: string | undefined
  /** Whether reading it fails. */
  isDamaged: boolean
  /** Stores of the indexes beside it, by number. */
  readonly beside: Map<number, MemoryStore>
}

/** Makes an empty store. */
export function createStore(): MemoryStore {
  return { rows: [], commits: 0, maintained: 0, identity: undefined, isDamaged: false, beside: new Map() }
}

/** Makes a handle of a store: matches whole words, ranks by how many of them match, needs no upkeep. */
export function memoryIndex(store: MemoryStore = createStore()): MemoryIndex {
  let isClosed = false
  const refuseClosed = (): void => {
    if (isClosed) throw new InlayError('CLOSED')
    if (store.isDamaged) throw new InlayError('INTERNAL_ERROR', { message: 'The index failed.' })
  }
  return {
    store,
    open: async () => refuseClosed(),
    append: async (rows) => {
      refuseClosed()
      store.rows.push(...rows)
      store.commits++
    },
    remove: async (generations) => {
      refuseClosed()
      const gone = new Set(generations)
      store.rows = store.rows.filter((row) => !gone.has(row.generation))
    },
    search: async (query) => {
      refuseClosed()
      return find(store.rows, query)
    },
    read: async (generation, from, to, options) => {
      refuseClosed()
      return store.rows
        .filter((row) => row.generation === generation && row.position >= from && row.position <= to)
        .toSorted((left, right) => left.position - right.position)
        .map((row) => ({ ...toHit(row, 0), ...(options?.vectors && row.vector ? { vector: row.vector } : {}) }))
    },
    maintain: async () => {
      refuseClosed()
      store.maintained++
      return { rows: store.rows.length, unindexedRows: 0 }
    },
    inspect: async ({ thorough = false } = {}) => {
      const mark = store.identity === undefined ? {} : { identity: store.identity }
      if (thorough && store.isDamaged) return { state: 'damaged', ...mark }
      return { state: store.commits === 0 && store.identity === undefined ? 'missing' : 'present', ...mark }
    },
    eachGeneration: async (listener) => listener(store.rows.map((row) => row.generation)),
    mark: async (identity) => {
      store.identity = identity
    },
    figures: async () => ({ rows: store.rows.length, unindexedRows: 0 }),
    close: async () => {
      isClosed = true
    },
    staging: (number) => {
      const other = store.beside.get(number) ?? createStore()
      store.beside.set(number, other)
      return memoryIndex(other)
    },
    drop: async () => {
      isClosed = true
      Object.assign(store, { ...createStore(), beside: store.beside })
    },
  }
}

function find(rows: readonly IndexRow[], { text, vector, filter, limit }: IndexQuery): Hit[] {
  const wanted = words(text ?? '')
  return rows
    .filter((row) => sound.passes(row, filter ?? {}))
    .map((row) => toHit(row, Math.max(wordScore(row, wanted), vector ? nearness(row.vector, vector) : 0)))
    .filter((hit) => hit.score > 0)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, limit)
}

function words(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
}

function wordScore(row: IndexRow, wanted: ReadonlySet<string>): number {
  if (wanted.size === 0) return 0
  const there = words(row.searchText)
  return [...wanted].filter((word) => there.has(word)).length / wanted.size
}

function nearness(left: Float32Array | undefined, right: Float32Array): number {
  if (!left) return 0
  const dot = left.reduce((sum, value, at) => sum + value * right[at]!, 0)
  const norm = Math.hypot(...left) * Math.hypot(...right)
  return norm === 0 ? 0 : Math.max(0, dot / norm)
}

function toHit(row: IndexRow, score: number): Hit {
  const { documentId, generation, position, text, chunkMetadata, source, updatedAt } = row
  return { documentId, generation, position, text, chunkMetadata, source, updatedAt, score }
}
