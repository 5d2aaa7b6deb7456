import { InlayError } from '@inlay/protocol'
import type { Embedder, Hit, IndexFigures, IndexQuery, VectorIndex } from '../contracts.ts'
import { createWordFinder } from '../search/found-words.ts'
import { enterSpace, readSpaces, spaceOf, type IndexSpace } from './index-space.ts'
import { openOnUse, type OpenedIndex } from './opened-index.ts'
import { englishWords } from '@inlay/text'
import type { Records } from '../schema/tables.ts'

export interface SpacedIndexOptions {
  readonly db: Records
  /** The index of the first space. */
  readonly index: VectorIndex
  readonly embedder?: Embedder
  readonly now: () => number
}

/**
 * The indexes of all spaces as one: what is written goes into the space of the embedder, a generation is read from the
 * one it was written into, and searches look into all of them. While documents are being moved, they are found by their
 * words alone, wherever they are: only the embedder that made the vectors of a space can make those of a query.
 */
export interface SpacedIndex extends OpenedIndex {
  /** Number of the space that documents are brought into; undefined when a later embedder has taken its place for good. */
  space(): Promise<number | undefined>
  /** All spaces, as they are now. */
  spaces(): Promise<readonly IndexSpace[]>
  /** Removes the index of a space that nothing is in any more. */
  dropSpace(number: number): Promise<void>
}

/** Other processes make and remove spaces, too. */
const spacesAgeMs = 1000

/** Makes one. Nothing is opened before its first use. */
export function createSpacedIndex({ db, index, embedder, now }: SpacedIndexOptions): SpacedIndex {
  const opened = new Map<number, OpenedIndex>()
  let entering: Promise<number> | undefined
  let known: readonly IndexSpace[] = []
  let readAt = -Infinity
  let isClosed = false

  function own(): Promise<number> {
    entering ??= enterSpace(db, embedder, { isMovable: index.beside !== undefined }).catch((error: unknown) => {
      entering = undefined
      throw error
    })
    return entering
  }

  async function spaces(): Promise<readonly IndexSpace[]> {
    await own()
    known = await readSpaces(db)
    readAt = now()
    return known
  }

  const recentSpaces = async (): Promise<readonly IndexSpace[]> =>
    readAt >= 0 && Math.abs(now() - readAt) < spacesAgeMs ? known : spaces()

  function indexOf({ number, space }: IndexSpace): OpenedIndex {
    if (isClosed) throw new InlayError('CLOSED')
    const existing = opened.get(number)
    if (existing) return existing
    const handle = openOnUse(number === 0 ? index : index.beside!(number), space)
    opened.set(number, handle)
    return handle
  }

  /** The index of a space, unless it is gone. */
  async function indexAt(number: number): Promise<OpenedIndex | undefined> {
    const isIn = (list: readonly IndexSpace[]): IndexSpace | undefined =>
      list.find((space) => space.number === number && space.phase !== 'closing')
    const space = isIn(await recentSpaces()) ?? isIn(await spaces())
    return space && indexOf(space)
  }

  async function ownIndex(): Promise<OpenedIndex> {
    const index = await indexAt(await own())
    if (!index)
      throw new InlayError('INDEX_MISMATCH', {
        message: 'Another embedding model has taken the place of this one: configure that one here as well.',
        retryable: true,
      })
    return index
  }

  async function search(query: IndexQuery): Promise<Hit[]> {
    const [number, list] = [await own(), await recentSpaces()]
    if (list.length === 1 && list[0]!.number === number) return indexOf(list[0]!).search(query)
    const words = { ...query, vector: undefined }
    const isMoving = list.some((space) => space.number < list.at(-1)!.number && space.phase === 'open')
    const results = await Promise.all(
      list.map((space) => searchSpace(space, space.number === number && !isMoving ? query : words)),
    )
    return merge(results, query)
  }

  async function searchSpace(space: IndexSpace, query: IndexQuery): Promise<Hit[]> {
    if (!query.text && !query.vector) return []
    return (await unlessGone(space, (index) => index.search(query))) ?? []
  }

  /** Undefined for a space that is going or gone, perhaps by another process: all that was in it is elsewhere. */
  async function unlessGone<Result>(
    space: IndexSpace,
    work: (index: OpenedIndex) => Promise<Result>,
  ): Promise<Result | undefined> {
    if (space.phase === 'closing') return undefined
    try {
      return await work(indexOf(space))
    } catch (error) {
      if ((await spaces()).some(({ number, phase }) => number === space.number && phase !== 'closing')) throw error
      return undefined
    }
  }

  return {
    get isOpened() {
      return [...opened.values()].some((handle) => handle.isOpened)
    },
    keepVersionsMs: index.keepVersionsMs,
    open: async () => (await ownIndex()).open(),
    append: async (rows) => (await ownIndex()).append(rows),
    remove: async (generations) => {
      for (const [number, list] of Map.groupBy(generations, spaceOf)) await (await indexAt(number))?.remove(list)
    },
    search,
    read: async (generation, from, to, options) =>
      (await (await indexAt(spaceOf(generation)))?.read(generation, from, to, options)) ?? [],
    // What another space holds only gets less, and goes as a whole.
    maintain: async (options) => (await ownIndex()).maintain(options),
    figures: async () => {
      const all = await Promise.all((await spaces()).map((space) => unlessGone(space, (index) => index.figures())))
      return sumOf(all.filter((figures) => figures !== undefined))
    },
    close: async () => {
      isClosed = true
      for (const handle of opened.values()) await handle.close()
      if (!opened.has(0)) await index.close()
    },
    space: async () => {
      const number = await own()
      return (await recentSpaces()).some((space) => space.number === number && space.phase !== 'closing')
        ? number
        : undefined
    },
    spaces,
    dropSpace: async (number) => {
      const gone = opened.get(number)
      opened.delete(number)
      await gone?.close()
      await (number === 0 ? index : index.beside?.(number))?.drop?.()
    },
  }
}

function sumOf(all: readonly IndexFigures[]): IndexFigures {
  const sum = (of: (figures: IndexFigures) => number): number => all.reduce((total, figures) => total + of(figures), 0)
  return {
    rows: sum(({ rows }) => rows),
    unindexedRows: sum(({ unindexedRows }) => unindexedRows),
    ...(all.some(({ bytes }) => bytes !== undefined) ? { bytes: sum(({ bytes }) => bytes ?? 0) } : {}),
  }
}

/** Hits that tell how much of the query an index has. */
const judgedHits = 3
/** Hits that tell how rare a word is among what was found. */
const comparedHits = 50

/**
 * Scores of several indexes compare only within each, where the best is mostly 1: an index whose best hits hold less of
 * the query counts less. A word says the more the fewer of the hits hold it: a name that one index alone has outweighs
 * what all of them have.
 */
function merge(results: readonly (readonly Hit[])[], { text = '', limit }: IndexQuery): Hit[] {
  const finder = createWordFinder(text, englishWords)
  const stems = results.map((hits) =>
    hits
      .slice(0, comparedHits)
      .map((hit) => new Set(finder?.in(`${hit.text}\n${hit.chunkMetadata}`).map(({ stem }) => stem) ?? [])),
  )
  const compared = stems.flat()
  const holders = new Map<string, number>()
  for (const stem of compared.flatMap((held) => [...held])) holders.set(stem, (holders.get(stem) ?? 0) + 1)
  const weightOf = (stem: string): number => Math.log(1 + compared.length / (holders.get(stem) ?? 1))
  const shares = stems.map((hits) =>
    Math.max(0, ...hits.slice(0, judgedHits).map((held) => [...held].reduce((sum, stem) => sum + weightOf(stem), 0))),
  )
  const most = Math.max(...shares) || 1
  return results
    .flatMap((hits, at) => hits.map((hit) => ({ ...hit, score: hit.score * Math.max(0.1, shares[at]! / most) })))
    .toSorted((left, right) => right.score - left.score)
    .slice(0, limit)
}
