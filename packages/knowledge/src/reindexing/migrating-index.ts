import { InlayError, isInlayError } from '@inlay/protocol'
import type { EmbedderFigures } from '../contracts/documents.ts'
import type { Hit, IndexFigures, IndexQuery, Embedder, VectorIndex } from '../contracts/vector-index.ts'
import { spaceOf } from '../schema/sql.ts'
import {
  type IndexSpace,
  type OpenedIndex,
  type ReplacedSpace,
  changeEmbedder,
  ensureSpace,
  hasAnyDocument,
  openOnUse,
  partOf,
  readSpaces,
  replaceSpace,
} from './index-space.ts'
import { mergeHits } from './merged-hits.ts'
import { LostIndexCheck, type LostIndexOptions } from './rebuild-lost-index.ts'

/** The space that documents are written to. */
export interface TargetSpace {
  readonly number: number
  readonly hasVectors: boolean
}

/**
 * The indexes of all spaces as one index. The name of a generation contains its space, and searches cover all spaces.
 * While documents are moved from the space of another embedder, only keyword search is used: query vectors can only be
 * compared with vectors of the same embedder.
 *
 * The latest space records the embedder of the documents. A process with another embedder uses and maintains the same
 * indexes, with keyword search, and does not index anything that needs a vector.
 *
 * An index found to be lost, damaged, outdated or of another installation is replaced by a new one, and its documents
 * are indexed again from the records.
 */
export interface MigratingIndex
  extends OpenedIndex, Pick<SpaceDirectory, 'spaces'>, Pick<LostIndexCheck, 'verify' | 'verified'> {
  /** The latest space; undefined if this process lacks its embedder and therefore cannot index. */
  target(): Promise<TargetSpace | undefined>
  /**
   * Whether searches use query vectors: with the recorded embedder, unless documents are being moved from another one.
   */
  takesVectors(): Promise<boolean>
  /** Index of a space; undefined if the space was removed. */
  indexAt(number: number): Promise<OpenedIndex | undefined>
  /**
   * Starts a new index for the recorded embedder; documents then have to be moved into it.
   * @throws CONFLICT if this process lacks the recorded embedder
   */
  replace(): Promise<void>
  /** Records the embedder of this process. @returns whether it has changed */
  changeEmbedder(): Promise<boolean>
  /** Records the embedder of this process if there are no documents. */
  recordFirst(): Promise<void>
  embedder(): Promise<EmbedderFigures>
  /** The last known value of `embedder()`, without a query. */
  knownEmbedder(): EmbedderFigures | undefined
  /** Removes the index of a space that is no longer used. */
  dropSpace(space: IndexSpace): Promise<void>
}

/** Indexes are opened on first use. */
export function createMigratingIndex(options: SpaceDirectoryOptions): MigratingIndex {
  const directory = new SpaceDirectory({
    ...options,
    onRead: (spaces) => {
      const latest = spaces.at(-1)!
      if (spaces.length > 1 && canFill(latest, options.embedder)) options.onMove?.()
      // Errors are ignored: the next read checks again.
      embedder.of(latest).catch(() => {})
    },
  })
  const embedder = new EmbedderCheck(options)
  const lostIndex = new LostIndexCheck(directory, options)
  const latest = async (): Promise<OpenedIndex> => directory.indexOf(await directory.latest())
  const retry = retrying(lostIndex, directory)
  const change = async (onlyWithoutDocuments: boolean): Promise<boolean> => {
    const { db, embedder, index } = options
    if (isSame((await directory.latest()).space, embedder)) return false
    if (onlyWithoutDocuments && (await hasAnyDocument(db))) return false
    const isMovable = index.staging !== undefined
    if (isMovable) await makeNext(index, (await directory.spaces()).at(-1)!.number, embedder)
    const hasChanged = await changeEmbedder(db, { embedder, isMovable, onlyWithoutDocuments })
    await directory.spaces()
    return hasChanged
  }
  return {
    get isOpened() {
      return directory.opened().some((handle) => handle.isOpened)
    },
    keepVersionsMs: options.index.keepVersionsMs,
    open: async () => (await latest()).open(),
    append: async (rows) => {
      if (lostIndex.isUnverified) await lostIndex.verified()
      const number = rows[0] ? spaceOf(rows[0].generation) : (await directory.latest()).number
      try {
        await ((await directory.indexAt(number)) ?? refuseReplaced()).append(rows)
      } catch (error) {
        // Documents claimed for a lost or removed space are claimed again for its successor.
        throw directory.isRemoved(error) || (await lostIndex.isLostAfter(error, number)) ? replaced(error) : error
      }
    },
    remove: async (generations) => {
      for (const [number, list] of Map.groupBy(generations, spaceOf))
        await retry(async () => (await directory.indexHolding(number))?.remove(list), number)
    },
    search: (query) => retry(() => searchAll(directory, query, options.embedder)),
    read: (generation, from, to, how) =>
      retry(
        async () => (await (await directory.indexAt(spaceOf(generation)))?.read(generation, from, to, how)) ?? [],
        spaceOf(generation),
      ),
    // Only the latest: other spaces only shrink and are dropped as a whole.
    maintain: (how) => retry(async () => (await latest()).maintain(how)),
    figures: () => retry(() => figuresOfAll(directory)),
    close: async () => {
      directory.isClosed = true
      await lostIndex.whenIdle()
      await directory.close()
    },
    target: async () => {
      const space = (await directory.spaces()).at(-1)!
      if (!canFill(space, options.embedder)) return undefined
      return { number: space.number, hasVectors: space.space !== undefined }
    },
    takesVectors: async () =>
      isSame((await directory.latest()).space, options.embedder) && !isMoving(await directory.recentSpaces()),
    spaces: () => directory.spaces(),
    verify: () => lostIndex.verify(),
    verified: async () => (lostIndex.isUnverified ? lostIndex.verified() : undefined),
    indexAt: (number) => directory.indexAt(number),
    replace: async () => {
      if (!options.index.staging) throw noRoom()
      const { number, space } = (await directory.spaces()).at(-1)!
      if (space && !isSame(space, options.embedder)) throw lacksEmbedder(space)
      await makeNext(options.index, number, space)
      await directory.replace({ number, reason: 'requested' })
    },
    changeEmbedder: () => change(false),
    recordFirst: async () => void (await change(true)),
    embedder: async () => embedder.of(await directory.latest()),
    knownEmbedder: () => embedder.known,
    // An index of another installation is not removed.
    dropSpace: async ({ number, rebuildReason }) =>
      void (rebuildReason !== 'foreign' && (await directory.drop(number))),
  }
}

/**
 * Makes the index of the next space before it is recorded: where this process may not make it, the present one stays. An
 * attempt that was killed may have left one for another embedder.
 */
async function makeNext(index: VectorIndex, latest: number, space: EmbedderSpace | undefined): Promise<void> {
  const make = async (): Promise<void> => {
    const next = partOf(index, latest + 1)
    await next.open(space && { id: space.id, dimensions: space.dimensions }).finally(() => next.close())
  }
  await make().catch(async (error: unknown) => {
    if (!isInlayError(error) || error.code !== 'INDEX_MISMATCH') throw error
    await partOf(index, latest + 1).drop?.()
    await make()
  })
}

type Retry = <Result>(work: () => Promise<Result>, number?: number) => Promise<Result>

/** Retries work after a space was removed, or a lost one replaced; without a number, after any space was. */
const retrying =
  (lostIndex: LostIndexCheck, directory: SpaceDirectory): Retry =>
  async (work, number) => {
    if (lostIndex.isUnverified) await lostIndex.verified()
    try {
      return await work()
    } catch (error) {
      if (!directory.isRemoved(error) && !(await lostIndex.isLostAfter(error, number))) throw error
      return work()
    }
  }

function noRoom(): InlayError {
  return new InlayError('UNSUPPORTED', {
    message: 'This index has no staging indexes: begin with an empty one and send the documents again.',
  })
}

function refuseReplaced(): never {
  throw replaced()
}

/** See `isLetGo`. */
function replaced(cause?: unknown): InlayError {
  const message = 'This index was replaced by another one, which is used from now on.'
  return new InlayError('CLOSED', { message, cause, retryable: true })
}

async function searchAll(directory: SpaceDirectory, query: IndexQuery, embedder: Embedder | undefined): Promise<Hit[]> {
  const list = await directory.recentSpaces()
  const readable = list.filter((space) => space.isReadable)
  const latest = list.at(-1)!
  const words = { ...query, vector: undefined }
  // The query vector may have been made before another process recorded another embedder.
  const isMixed = isMoving(list) || !isSame(latest.space, embedder)
  if (readable.length === 1 && readable[0] === latest)
    return isMixed && !query.text ? [] : directory.indexOf(latest).search(isMixed ? words : query)
  const results = await Promise.all(
    readable.map(async (space) => {
      const wanted = isSame(space.space, latest.space) && !isMixed ? query : words
      if (!wanted.text && !wanted.vector) return []
      return (await unlessGone(directory, space, (index) => index.search(wanted))) ?? []
    }),
  )
  return mergeHits(results, query)
}

/** Whether documents are being moved from the space of another embedder. */
function isMoving(spaces: readonly IndexSpace[]): boolean {
  const latest = spaces.at(-1)
  return spaces.some((space) => space.phase === 'open' && !isSame(space.space, latest?.space))
}

type EmbedderSpace = Pick<Embedder, 'id' | 'dimensions'>

/** Vectors of different lengths are never comparable, whatever the ids are. */
function isSame(left: EmbedderSpace | undefined, right: EmbedderSpace | undefined): boolean {
  return left?.id === right?.id && left?.dimensions === right?.dimensions
}

/** Whether a process with the given embedder, or none, can write the rows of a space. */
const canFill = ({ space, isReadable }: IndexSpace, embedder: Embedder | undefined): boolean =>
  isReadable && (space === undefined || isSame(space, embedder))

/** Ids end with the dimensions by convention; they are added to ids without them. */
function labelOf({ id, dimensions }: EmbedderSpace): string {
  return id.endsWith(`@${dimensions}`) ? id : `${id}@${dimensions}`
}

/** Compares the recorded embedder with that of this process, and notifies the operator once if they differ. */
class EmbedderCheck {
  known: EmbedderFigures | undefined
  readonly #options: SpaceDirectoryOptions
  /** The space for which the operator was already notified. */
  #told: number | undefined
  #latest: IndexSpace | undefined

  constructor(options: SpaceDirectoryOptions) {
    this.#options = options
  }

  async of(latest: IndexSpace): Promise<EmbedderFigures> {
    const { embedder, db, onError } = this.#options
    const configured = embedder ? labelOf(embedder) : null
    if (!this.#latest || this.#latest.number < latest.number) this.#latest = latest
    const isUsed = isSame(latest.space, embedder) || !(await hasAnyDocument(db))
    // Queries may be answered in another order: meanwhile another embedder was recorded.
    if (latest.number < this.#latest.number) return this.of(this.#latest)
    if (isUsed) {
      this.#told = undefined
      return (this.known = { recorded: configured, configured, isUsed: true, indexes: true })
    }
    const notice = mismatchOf(latest, embedder)
    if (this.#told !== latest.number) {
      this.#told = latest.number
      const data = { reason: 'embedder_mismatch' }
      onError?.(new InlayError('INDEX_MISMATCH', { message: notice, retryable: true, data }))
    }
    const { space } = latest
    return (this.known = {
      recorded: space ? labelOf(space) : null,
      configured,
      isUsed: false,
      indexes: space === undefined,
      notice,
    })
  }
}

function mismatchOf({ space }: IndexSpace, embedder: Embedder | undefined): string {
  const own = embedder ? `this process is configured with ${labelOf(embedder)}` : 'this process has no embedding model'
  const change = 'To change the embedding model of all documents, run inlay reindex --embedder with the new setting.'
  if (!space) return `The documents have no vectors, but ${own}. It is not used: search uses keywords only. ${change}`
  return (
    `The documents have vectors of ${labelOf(space)}, but ${own}. It uses keyword search only, and ` +
    `leaves new documents to processes that have the recorded model. ${change}`
  )
}

function lacksEmbedder(space: EmbedderSpace): InlayError {
  return new InlayError('CONFLICT', {
    message:
      `The documents have vectors of ${labelOf(space)}, but this process is not configured to use it: ` +
      'configure it, or change the embedding model of all documents (inlay reindex --embedder).',
  })
}

/** Undefined for a space that is being removed, possibly by another process: its content is already elsewhere. */
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

export interface SpaceDirectoryOptions extends LostIndexOptions {
  /** The index of the first space. */
  readonly index: VectorIndex
  readonly embedder?: Embedder
  /** Called when documents have to be moved to another space. */
  readonly onRebuild?: () => void
  /** Called whenever documents are found that this process can move, even if another process caused it. */
  readonly onMove?: () => void
  /** Called when an index was opened, which may need maintenance. */
  readonly onOpen?: () => void
}

interface DirectoryOptions extends SpaceDirectoryOptions {
  /** Called with the spaces after each read. */
  readonly onRead: (spaces: readonly IndexSpace[]) => void
}

/** Other processes add and remove spaces, too. */
const spacesAgeMs = 1000

export class SpaceDirectory {
  isClosed = false
  readonly #options: DirectoryOptions
  readonly #opened = new Map<number, OpenedIndex>()
  #known: readonly IndexSpace[] = []
  #readAt = -Infinity
  /** Counts what makes earlier reads of the spaces outdated. */
  #changes = 0

  constructor(options: DirectoryOptions) {
    this.#options = options
  }

  /** The target space of indexing. Its embedder is the recorded one. */
  async latest(): Promise<IndexSpace> {
    return (await this.recentSpaces()).at(-1)!
  }

  /** All spaces, read now; at least one. */
  async spaces(): Promise<readonly IndexSpace[]> {
    const { db, embedder, now, onRead } = this.#options
    const changes = this.#changes
    let spaces = await readSpaces(db)
    if (spaces.length === 0) {
      await ensureSpace(db, embedder)
      spaces = await readSpaces(db)
    }
    this.#known = spaces
    if (changes === this.#changes) this.#readAt = now()
    onRead(spaces)
    return spaces
  }

  /** All spaces, read at most a second ago. */
  async recentSpaces(): Promise<readonly IndexSpace[]> {
    const ageMs = Math.abs(this.#options.now() - this.#readAt)
    return this.#readAt >= 0 && ageMs < spacesAgeMs ? this.#known : this.spaces()
  }

  indexOf(space: IndexSpace): OpenedIndex {
    if (this.isClosed) throw new InlayError('CLOSED')
    const { index, onOpen } = this.#options
    // Without staging, the index is opened once more for another embedder, and never again for an earlier one.
    const number = index.staging ? space.number : Math.max(space.number, ...this.#opened.keys())
    const existing = this.#opened.get(number)
    if (existing) return existing
    const former = index.staging ? undefined : [...this.#opened.values()].at(-1)
    const opened = openOnUse(partOf(index, space.number), space, { onOpen, former })
    this.#opened.set(space.number, opened)
    return opened
  }

  async indexAt(number: number): Promise<OpenedIndex | undefined> {
    let space = (await this.recentSpaces()).find((candidate) => candidate.number === number)
    if (!space?.isReadable) space = (await this.spaces()).find((candidate) => candidate.number === number)
    return space?.isReadable ? this.indexOf(space) : undefined
  }

  /** Index that may have rows of a space; undefined if it was removed with them. */
  async indexHolding(number: number): Promise<OpenedIndex | undefined> {
    return this.#options.index.staging ? this.indexAt(number) : this.indexOf(await this.latest())
  }

  /** Indexes that were used so far. */
  opened(): readonly OpenedIndex[] {
    return [...this.#opened.values()]
  }

  async replace(replaced: ReplacedSpace): Promise<void> {
    const { db, index, onError, onRebuild } = this.#options
    await replaceSpace(db, replaced, index.staging !== undefined)
    this.#outdate()
    if (replaced.reason !== 'requested') await this.#forget(replaced.number).catch((error: unknown) => onError?.(error))
    onRebuild?.()
  }

  async drop(number: number): Promise<void> {
    const { index } = this.#options
    await this.#forget(number)
    await partOf(index, number).drop?.()
  }

  async close(): Promise<void> {
    for (const index of this.#opened.values()) await index.close()
    if (!this.#opened.has(0)) await this.#options.index.close()
  }

  /** Whether an error only says that the index of a space was closed, since the space was removed meanwhile. */
  isRemoved(error: unknown): boolean {
    return !this.isClosed && isInlayError(error) && error.code === 'CLOSED'
  }

  #outdate(): void {
    this.#readAt = -Infinity
    this.#changes++
  }

  async #forget(number: number): Promise<void> {
    this.#outdate()
    const index = this.#opened.get(number)
    this.#opened.delete(number)
    await index?.close()
  }
}
