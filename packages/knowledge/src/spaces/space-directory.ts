import { InlayError } from '@inlay/protocol'
import type { Embedder, RebuildReason, VectorIndex } from '../contracts/vector-index.ts'
import type { Records } from '../schema/tables.ts'
import {
  type EnterOptions,
  type IndexSpace,
  type OpenedIndex,
  enterSpace,
  isReadable,
  openOnUse,
  readSpaces,
} from './index-space.ts'

export interface SpaceDirectoryOptions {
  readonly db: Records
  /** The index of the first space. */
  readonly index: VectorIndex
  readonly embedder?: Embedder
  readonly now: () => number
  /** Receives what an operator should know, such as a lost index. */
  readonly onError?: (error: unknown) => void
  /** Called when documents have to be brought into another space. */
  readonly onRebuild?: () => void
  /** Called when an index was opened: it may owe upkeep. */
  readonly onOpen?: () => void
}

/** Other processes make and remove spaces, too. */
const spacesAgeMs = 1000

/** The spaces that records know, each with its index. */
export class SpaceDirectory {
  isClosed = false
  readonly #options: SpaceDirectoryOptions
  readonly #enterOptions: EnterOptions
  readonly #opened = new Map<number, OpenedIndex>()
  /** Number of the own space, once it was asked for. */
  #entering: Promise<number> | undefined
  #known: readonly IndexSpace[] = []
  #readAt = -Infinity

  constructor(options: SpaceDirectoryOptions) {
    this.#options = options
    this.#enterOptions = { embedder: options.embedder, isMovable: options.index.beside !== undefined }
  }

  /** Number of the space of the configured embedder; it may have been replaced by now. */
  own(): Promise<number> {
    this.#entering ??= enterSpace(this.#options.db, this.#enterOptions).catch((error: unknown) => {
      this.#entering = undefined
      throw error
    })
    return this.#entering
  }

  /** All spaces, as they are now. */
  async spaces(): Promise<readonly IndexSpace[]> {
    const number = await this.own()
    const spaces = await readSpaces(this.#options.db)
    this.#known = spaces
    this.#readAt = this.#options.now()
    // Another process has replaced the space by one of the same embedder.
    const [own, latest] = [spaces.find((space) => space.number === number), spaces.at(-1)]
    if (latest && latest.number > number && isSameSpace(latest, own, this.#options.embedder))
      this.#entering = Promise.resolve(latest.number)
    return spaces
  }

  /** All spaces, as they were a second ago at most. */
  async recentSpaces(): Promise<readonly IndexSpace[]> {
    const ageMs = Math.abs(this.#options.now() - this.#readAt)
    return this.#readAt >= 0 && ageMs < spacesAgeMs ? this.#known : this.spaces()
  }

  indexOf(space: IndexSpace): OpenedIndex {
    if (this.isClosed) throw new InlayError('CLOSED')
    const existing = this.#opened.get(space.number)
    if (existing) return existing
    const { index, onOpen } = this.#options
    const opened = openOnUse(space.number === 0 ? index : index.beside!(space.number), space, onOpen)
    this.#opened.set(space.number, opened)
    return opened
  }

  /** The index of a space, unless it is gone. */
  async indexAt(number: number): Promise<OpenedIndex | undefined> {
    const isThere = (space: IndexSpace): boolean => space.number === number && isReadable(space)
    const space = (await this.recentSpaces()).find(isThere) ?? (await this.spaces()).find(isThere)
    return space && this.indexOf(space)
  }

  /** Indexes that were used so far. */
  opened(): readonly OpenedIndex[] {
    return [...this.#opened.values()]
  }

  /** Makes a new space in place of one. */
  async replace(replaced: { readonly number: number; readonly reason: RebuildReason }): Promise<void> {
    const { db, onError, onRebuild } = this.#options
    const number = await enterSpace(db, { ...this.#enterOptions, replaced })
    this.#entering = Promise.resolve(number)
    this.#readAt = -Infinity
    if (replaced.reason !== 'requested') await this.#forget(replaced.number).catch((error: unknown) => onError?.(error))
    onRebuild?.()
  }

  async drop(number: number): Promise<void> {
    const { index } = this.#options
    await this.#forget(number)
    await (number === 0 ? index : index.beside?.(number))?.drop?.()
  }

  async close(): Promise<void> {
    for (const index of this.#opened.values()) await index.close()
    if (!this.#opened.has(0)) await this.#options.index.close()
  }

  async #forget(number: number): Promise<void> {
    const index = this.#opened.get(number)
    this.#opened.delete(number)
    await index?.close()
  }
}

function isSameSpace(latest: IndexSpace, own: IndexSpace | undefined, embedder: Embedder | undefined): boolean {
  const id = own ? own.space?.id : embedder?.id
  const dimensions = own ? own.space?.dimensions : embedder?.dimensions
  return latest.space?.id === id && latest.space?.dimensions === dimensions && isReadable(latest)
}
