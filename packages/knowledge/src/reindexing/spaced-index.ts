import { InlayError } from '@inlay/protocol'
import type { Hit, IndexFigures, IndexQuery, Embedder, RebuildReason, VectorIndex } from '../contracts/vector-index.ts'
import { spaceOf } from '../schema/sql.ts'
import {
  type IndexSpace,
  type OpenedIndex,
  type EnterOptions,
  enterSpace,
  openOnUse,
  readSpaces,
} from './index-space.ts'
import { mergeHits } from './merged-hits.ts'
import { LostIndexCheck } from './rebuild-lost-index.ts'
import type { Records } from '../schema/tables.ts'

/**
 * The indexes of all spaces as one. A generation is written to and read from the space it names, and searches look into
 * all spaces. While documents are moved from another embedder's space, they are found by their words alone: only the
 * embedder that made the vectors of a space can make those of a query.
 *
 * An index that turns out to be lost, damaged, outdated or another's is replaced by a new one, into which documents are
 * then moved from the records.
 */
export interface SpacedIndex
  extends OpenedIndex, Pick<SpaceDirectory, 'spaces'>, Pick<LostIndexCheck, 'verify' | 'verified'> {
  /** Number of the space that documents are brought into; undefined when a later embedder has taken its place for good. */
  space(): Promise<number | undefined>
  /** Whether searches use the vector of a query: not while documents are moved from another embedder's space. */
  takesVectors(): Promise<boolean>
  /** Index of a space, unless it is gone. */
  indexAt(number: number): Promise<OpenedIndex | undefined>
  /** Begins a new index for the same embedder; documents have to be moved into it. */
  replace(): Promise<void>
  /** Removes the index of a space that nothing is in any more. */
  dropSpace(space: IndexSpace): Promise<void>
}

/** Nothing is opened before its first use. */
export function createSpacedIndex(options: SpaceDirectoryOptions): SpacedIndex {
  const directory = new SpaceDirectory(options)
  const lostIndex = new LostIndexCheck(directory, options)
  const own = async (): Promise<OpenedIndex> => (await directory.indexAt(await directory.own())) ?? refuseReplaced()
  const retry = retrying(lostIndex)
  return {
    get isOpened() {
      return directory.opened().some((handle) => handle.isOpened)
    },
    keepVersionsMs: options.index.keepVersionsMs,
    open: async () => (await own()).open(),
    append: async (rows) => {
      if (lostIndex.isUnverified) await lostIndex.verified()
      const number = rows[0] ? spaceOf(rows[0].generation) : await directory.own()
      try {
        await ((await directory.indexAt(number)) ?? refuseReplaced()).append(rows)
      } catch (error) {
        // What was claimed for a lost space is claimed again for its successor.
        throw (await lostIndex.isLostAfter(error, number)) ? replaced(error) : error
      }
    },
    remove: async (generations) => {
      for (const [number, list] of Map.groupBy(generations, spaceOf))
        await retry(async () => (await directory.indexAt(number))?.remove(list), number)
    },
    search: (query) => retry(() => searchAll(directory, query)),
    read: (generation, from, to, how) =>
      retry(
        async () => (await (await directory.indexAt(spaceOf(generation)))?.read(generation, from, to, how)) ?? [],
        spaceOf(generation),
      ),
    // What another space holds only gets less, and goes as a whole.
    maintain: (how) => retry(async () => (await own()).maintain(how)),
    figures: () => retry(() => figuresOfAll(directory)),
    close: async () => {
      directory.isClosed = true
      await lostIndex.settled()
      await directory.close()
    },
    space: async () => {
      const number = await directory.own()
      const space = (await directory.recentSpaces()).find((candidate) => candidate.number === number)
      return space?.isReadable ? directory.own() : undefined
    },
    takesVectors: async () => !(await isMoving(directory)),
    spaces: () => directory.spaces(),
    verify: () => lostIndex.verify(),
    verified: async () => (lostIndex.isUnverified ? lostIndex.verified() : undefined),
    indexAt: (number) => directory.indexAt(number),
    replace: async () => {
      if (!options.index.beside) throw noRoom()
      await directory.replace({ number: await directory.own(), reason: 'requested' })
    },
    // What belongs to somebody else is not ours to remove.
    dropSpace: async ({ number, rebuildReason }) =>
      void (rebuildReason !== 'foreign' && (await directory.drop(number))),
  }
}

type Retry = <Result>(work: () => Promise<Result>, number?: number) => Promise<Result>

/** Works again once a space has taken the place of a lost one; without a number, of any. */
const retrying =
  (lostIndex: LostIndexCheck): Retry =>
  async (work, number) => {
    if (lostIndex.isUnverified) await lostIndex.verified()
    try {
      return await work()
    } catch (error) {
      if (!(await lostIndex.isLostAfter(error, number))) throw error
      return work()
    }
  }

function noRoom(): InlayError {
  return new InlayError('UNSUPPORTED', {
    message: 'This index can have no other beside it: begin with an empty one and send the documents again.',
  })
}

function refuseReplaced(): never {
  throw replaced()
}

function replaced(cause?: unknown): InlayError {
  const message = 'Another index has taken the place of this one; it is used from now on.'
  return new InlayError('INDEX_MISMATCH', { message, cause, retryable: true })
}

async function searchAll(directory: SpaceDirectory, query: IndexQuery): Promise<Hit[]> {
  const [number, list] = [await directory.own(), await directory.recentSpaces()]
  const readable = list.filter((space) => space.isReadable)
  if (readable.length === 1 && readable[0]!.number === number) return directory.indexOf(readable[0]!).search(query)
  const own = list.find((space) => space.number === number)
  const words = { ...query, vector: undefined }
  const isMixed = await isMoving(directory)
  const results = await Promise.all(
    readable.map(async (space) => {
      const wanted = isOfSameEmbedder(space, own) && !isMixed ? query : words
      if (!wanted.text && !wanted.vector) return []
      return (await unlessGone(directory, space, (index) => index.search(wanted))) ?? []
    }),
  )
  return mergeHits(results, query)
}

async function isMoving(directory: SpaceDirectory): Promise<boolean> {
  const [number, list] = [await directory.own(), await directory.recentSpaces()]
  const own = list.find((space) => space.number === number)
  return list.some((space) => space.phase === 'open' && !isOfSameEmbedder(space, own))
}

function isOfSameEmbedder(space: IndexSpace, own: IndexSpace | undefined): boolean {
  return space.space?.id === own?.space?.id && space.space?.dimensions === own?.space?.dimensions
}

/** Undefined for a space that is going or gone, perhaps by another process: all that was in it is elsewhere. */
async function unlessGone<Result>(
  directory: SpaceDirectory,
  space: IndexSpace,
  work: (index: OpenedIndex) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work(directory.indexOf(space))
  } catch (error) {
    const present = (await directory.spaces()).find(({ number }) => number === space.number)
    if (present?.isReadable) throw error
    return undefined
  }
}

async function figuresOfAll(directory: SpaceDirectory): Promise<IndexFigures> {
  const spaces = (await directory.spaces()).filter((space) => space.isReadable)
  const all = await Promise.all(spaces.map((space) => unlessGone(directory, space, (index) => index.figures())))
  const known = all.filter((figures) => figures !== undefined)
  const sum = (of: (figures: IndexFigures) => number): number =>
    known.reduce((total, figures) => total + of(figures), 0)
  return {
    rows: sum(({ rows }) => rows),
    unindexedRows: sum(({ unindexedRows }) => unindexedRows),
    ...(known.some(({ bytes }) => bytes !== undefined) ? { bytes: sum(({ bytes }) => bytes ?? 0) } : {}),
  }
}

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
    let space = (await this.recentSpaces()).find((candidate) => candidate.number === number)
    if (!space?.isReadable) space = (await this.spaces()).find((candidate) => candidate.number === number)
    return space?.isReadable ? this.indexOf(space) : undefined
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
  return latest.space?.id === id && latest.space?.dimensions === dimensions && latest.isReadable
}
