import { InlayError } from '@inlay/protocol'
import type { Hit, IndexFigures, IndexQuery, IndexRow } from '../contracts/vector-index.ts'
import { spaceOf } from '../schema/sql.ts'
import { type IndexSpace, type OpenedIndex, isReadable } from './index-space.ts'
import { mergeHits } from './merged-hits.ts'
import { LostIndexCheck } from './rebuild-lost-index.ts'
import { SpaceDirectory, type SpaceDirectoryOptions } from './space-directory.ts'

/**
 * The indexes of all spaces as one. A generation is written to and read from the space it names, and searches look into
 * all spaces. While documents are moved from another embedder's space, they are found by their words alone: only the
 * embedder that made the vectors of a space can make those of a query.
 *
 * An index that turns out to be lost, damaged, outdated or another's is replaced by a new one, into which documents are
 * then moved from the records.
 */
export interface SpacedIndex extends OpenedIndex, Pick<SpaceDirectory, 'spaces'>, Pick<LostIndexCheck, 'verify'> {
  /** Number of the space that documents are brought into; undefined when a later embedder has taken its place for good. */
  space(): Promise<number | undefined>
  /** Whether searches use the vector of a query: not while documents are moved from another embedder's space. */
  takesVectors(): Promise<boolean>
  /** Begins a new index for the same embedder; documents have to be moved into it. */
  replace(): Promise<void>
  /** Removes the index of a space that nothing is in any more. */
  dropSpace(space: IndexSpace): Promise<void>
}

/** Nothing is opened before its first use. */
export function createSpacedIndex(options: SpaceDirectoryOptions): SpacedIndex {
  const directory = new SpaceDirectory(options)
  const lostIndex = new LostIndexCheck(directory, options)
  const { index } = options
  const own = async (): Promise<OpenedIndex> => (await directory.indexAt(await directory.own())) ?? refuseReplaced()
  return {
    get isOpened() {
      return directory.opened().some((handle) => handle.isOpened)
    },
    keepVersionsMs: index.keepVersionsMs,
    open: async () => (await own()).open(),
    append: (rows) => append(directory, lostIndex, rows),
    remove: async (generations) => {
      for (const [number, list] of Map.groupBy(generations, spaceOf))
        await lostIndex.retry(async () => (await directory.indexAt(number))?.remove(list), number)
    },
    search: (query) => lostIndex.retry(() => searchAll(directory, query)),
    read: (generation, from, to, how) =>
      lostIndex.retry(
        async () => (await (await directory.indexAt(spaceOf(generation)))?.read(generation, from, to, how)) ?? [],
        spaceOf(generation),
      ),
    // What another space holds only gets less, and goes as a whole.
    maintain: (how) => lostIndex.retry(async () => (await own()).maintain(how)),
    figures: () => lostIndex.retry(() => figuresOfAll(directory)),
    close: async () => {
      directory.isClosed = true
      await lostIndex.settled()
      await directory.close()
    },
    space: async () => {
      const number = await directory.own()
      const space = (await directory.recentSpaces()).find((candidate) => candidate.number === number)
      return space && isReadable(space) ? directory.own() : undefined
    },
    takesVectors: async () => !(await isMoving(directory)),
    spaces: () => directory.spaces(),
    verify: () => lostIndex.verify(),
    replace: async () => {
      if (!index.beside)
        throw new InlayError('UNSUPPORTED', {
          message: 'This index can have no other beside it: begin with an empty one and send the documents again.',
        })
      await directory.replace({ number: await directory.own(), reason: 'requested' })
    },
    dropSpace: async ({ number, rebuildReason }) => {
      // What belongs to somebody else is not ours to remove.
      if (rebuildReason !== 'foreign') await directory.drop(number)
    },
  }
}

async function append(directory: SpaceDirectory, lostIndex: LostIndexCheck, rows: readonly IndexRow[]): Promise<void> {
  const number = rows[0] ? spaceOf(rows[0].generation) : await directory.own()
  try {
    await ((await directory.indexAt(number)) ?? refuseReplaced()).append(rows)
  } catch (error) {
    // What was claimed for a lost space is claimed again for its successor.
    if (await lostIndex.isLostAfter(error, number)) refuseReplaced(error)
    throw error
  }
}

function refuseReplaced(cause?: unknown): never {
  throw new InlayError('INDEX_MISMATCH', {
    message: 'Another index has taken the place of this one; it is used from now on.',
    cause,
    retryable: true,
  })
}

async function searchAll(directory: SpaceDirectory, query: IndexQuery): Promise<Hit[]> {
  const [number, list] = [await directory.own(), await directory.recentSpaces()]
  const readable = list.filter(isReadable)
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
  return list.some((space) => isReadable(space) && space.phase === 'open' && !isOfSameEmbedder(space, own))
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
    const isThere = (await directory.spaces()).some(
      (candidate) => candidate.number === space.number && isReadable(candidate),
    )
    if (isThere) throw error
    return undefined
  }
}

async function figuresOfAll(directory: SpaceDirectory): Promise<IndexFigures> {
  const spaces = (await directory.spaces()).filter(isReadable)
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
