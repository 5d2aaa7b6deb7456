import { InlayError } from '@inlay/protocol'
import type { IndexDifferences } from '../contracts/documents.ts'
import { createSignal, nextSlice } from '@inlay/scheduling'
import { isAmong, whileHeld } from '@inlay/records'
import { toGenerations } from '../queue/claims.ts'
import { spaceOf, idsOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'
import type { VectorIndex } from '../contracts/vector-index.ts'
import type { MaintainerContext } from './maintainer.ts'
import { requeue } from '../reindexing/change-embedder.ts'
import type { MigratingIndex } from '../reindexing/migrating-index.ts'

export interface IndexComparisonOptions extends MaintainerContext {
  readonly index: MigratingIndex
  readonly onQueued: () => void
  /**
   * Maximum number of generations in the index; if there are more, nothing is compared. Default 2 million, about 200 MB
   * of memory.
   */
  readonly maxGenerations?: number
}

/**
 * Compares the index with the records once after opening, since one of them may have been restored from a backup.
 * Documents without rows are indexed again. Rows without a document are kept: if the database was lost or restored, they
 * are all that is left of documents whose acceptance was confirmed. They are reported until the operator decides.
 */
export interface IndexComparison {
  start(): void
  /** Records that the index is open. Only the first call counts. */
  noteOpen(): void
  /** Number of documents without rows that still have to be indexed again. */
  left(): number
  /** Number of versions that only the index of a space holds. */
  unknown(space: number): number
  /** Compares now and changes nothing. */
  find(signal: AbortSignal): Promise<IndexDifferences>
  close(): Promise<void>
}

const job = 'compare'
/** Delay, so that the searches that opened the index run first. */
const restMs = 1000
const retryMs = 60_000
/** A process that compares may end before it is done, so check again after this time. */
const othersRestMs = 5000
/** Documents indexed again at a time: few, so that new documents are not delayed. */
const batch = 256
const pollMs = 200
/** Documents of a paused pair stay in the queue. */
const maxWaitMs = 30_000
/** Documents read at a time. */
const page = 1000
/** Lists of generations read at a time; one list may have a thousand. */
const namedAtOnce = 10

/** Documents named for versions that only the index holds. */
const maxExamples = 5

/** A document, and its generation that should be in the index. */
interface Missing {
  readonly id: string
  readonly generation: string
}

export function createIndexComparison(options: IndexComparisonOptions): IndexComparison {
  const { db, onError } = options
  const signal = createSignal()
  const letGo = new AbortController()
  const progress = { left: 0, unknown: 0, space: 0 }
  let loop: Promise<void> | undefined

  async function run(): Promise<void> {
    for (let delayMs = restMs; ;) {
      await signal.sleep(delayMs)
      if (letGo.signal.aborted) return
      try {
        const rest = (ms: number): Promise<void> => signal.sleep(ms)
        const held = { ...options, job, signal: letGo.signal }
        if (await whileHeld(db, held, (signal) => compare(options, { progress, rest, signal }))) return
        delayMs = othersRestMs
      } catch (error) {
        if (letGo.signal.aborted) return
        delayMs = retryMs
        onError(error)
      } finally {
        progress.left = 0
      }
    }
  }

  const isDue = { started: false, opened: false }
  function note(name: keyof typeof isDue): void {
    isDue[name] = true
    if (isDue.started && isDue.opened && !letGo.signal.aborted) loop ??= run()
  }

  return {
    start: () => note('started'),
    noteOpen: () => note('opened'),
    left: () => progress.left,
    unknown: (space) => (space === progress.space ? progress.unknown : 0),
    find: async (signal) => {
      const space = (await options.index.spaces()).at(-1)!
      const opened = await options.index.indexAt(space.number)
      const differences = opened && (await findDifferences(options, { number: space.number, opened, signal }))
      if (!opened || !differences) return { isCompared: false, missing: [], unknown: [], unknownDocuments: [] }
      const unknownDocuments: string[] = []
      for (const generation of differences.unknown.slice(0, maxExamples))
        unknownDocuments.push(...(await opened.read(generation, 0, 1)).map(({ documentId }) => documentId))
      return { ...differences, isCompared: true, missing: differences.missing.map(({ id }) => id), unknownDocuments }
    },
    close: async () => {
      letGo.abort()
      signal.notify()
      await loop
    },
  }
}

interface Course {
  readonly progress: { left: number; unknown: number; space: number }
  readonly rest: (ms: number) => Promise<void>
  readonly signal: AbortSignal
}

async function compare(options: IndexComparisonOptions, { progress, rest, signal }: Course): Promise<void> {
  const { db, index, onError, onQueued } = options
  const number = (await index.target())?.number
  const opened = number === undefined ? undefined : await index.indexAt(number)
  if (number === undefined || !opened) return
  const differences = await findDifferences(options, { number, opened, signal })
  if (!differences || signal.aborted) return
  const { missing, unknown } = differences
  progress.unknown = unknown.length
  progress.space = number
  if (unknown.length > 0) onError(new InlayError('INDEX_MISMATCH', { message: unknownRows(unknown.length) }))
  let isReported = false
  for (let at = 0; at < missing.length && !signal.aborted; at += batch) {
    const queued = await queueAgain(options, missing.slice(at, at + batch))
    if (queued.length === 0) continue
    progress.left = missing.length - at
    if (!isReported) onError(missingRows(missing.length))
    isReported = true
    onQueued()
    for (let waitedMs = 0; waitedMs < maxWaitMs && !signal.aborted; waitedMs += pollMs) {
      await rest(pollMs)
      if ((await countUnsettledOf(db, queued)) === 0) break
    }
  }
}

/** Documents without rows, and generations without a document; undefined if the index cannot be compared. */
async function findDifferences(
  { db, maxGenerations = 2_000_000 }: IndexComparisonOptions,
  { number, opened, signal }: { readonly number: number; readonly opened: VectorIndex; readonly signal: AbortSignal },
): Promise<{ readonly missing: readonly Missing[]; readonly unknown: readonly string[] } | undefined> {
  const listed = await listGenerations(opened, maxGenerations, signal)
  if (!listed) return undefined
  // Generations move from claims to documents to dead generations; read in this order, none is missed.
  await removeThoseIn(db, 'inlay_claims', listed)
  const unlisted = await takeVisible(db, listed, { number, signal })
  await removeThoseIn(db, 'inlay_dead_generations', listed)
  if (unlisted.length === 0 && listed.size === 0) return { missing: [], unknown: [] }
  // Documents may have been indexed and rows removed since the first list. The second list contains all rows that can
  // be visible.
  const present = await listGenerations(opened, maxGenerations, signal)
  return (
    present && {
      missing: unlisted.filter(({ generation }) => !present.has(generation)),
      unknown: listed.rest().filter((generation) => present.has(generation)),
    }
  )
}

/** Undefined if the index cannot list its generations, or has too many. */
async function listGenerations(
  index: VectorIndex,
  maxGenerations: number,
  signal: AbortSignal,
): Promise<GenerationSet | undefined> {
  const listed = new GenerationSet()
  const tooMany = new Error('More generations than are compared.')
  try {
    await index.eachGeneration?.((generations) => {
      listed.add(generations)
      if (listed.size > maxGenerations) throw tooMany
    }, signal)
  } catch (error) {
    if (error === tooMany) return undefined
    throw error
  }
  return index.eachGeneration && listed
}

/** Visible generations that the index does not list; those that it lists are removed from the set. */
async function takeVisible(
  db: Records,
  listed: GenerationSet,
  { number, signal }: { readonly number: number; readonly signal: AbortSignal },
): Promise<Missing[]> {
  const missing: Missing[] = []
  for (let after = ''; !signal.aborted;) {
    const rows = await db
      .selectFrom('inlay_documents')
      .select(['id', 'visible_generation as generation', 'chunk_count as chunkCount'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(page)
      .execute()
    for (const { id, generation, chunkCount } of rows) {
      if (generation === null || spaceOf(generation) !== number || listed.take(generation)) continue
      if (chunkCount !== null && chunkCount > 0) missing.push({ id, generation })
    }
    const last = rows.at(-1)
    if (!last) break
    after = last.id
    await nextSlice()
  }
  return missing
}

/** In parts, since the table may contain all documents of a removed source. */
async function removeThoseIn(
  db: Records,
  table: 'inlay_claims' | 'inlay_dead_generations',
  listed: GenerationSet,
): Promise<void> {
  for (let after = ''; ;) {
    const rows = await db
      .selectFrom(table)
      .select(['id', 'generations'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(namedAtOnce)
      .execute()
    for (const { generations } of rows) listed.remove(toGenerations(generations))
    const last = rows.at(-1)
    if (!last) return
    after = last.id
    await nextSlice()
  }
}

/** Adds documents to the queue if their visible generation is still the one without rows. @returns their ids */
function queueAgain({ db, now }: IndexComparisonOptions, missing: readonly Missing[]): Promise<string[]> {
  const [ids, generations] = [idsOf(missing), missing.map(({ generation }) => generation)]
  return requeue(db, { now: now(), limit: missing.length }, (from) =>
    from
      .selectFrom('inlay_documents')
      .select('id')
      .where(isAmong(db, 'id', ids))
      .where(isAmong(db, 'visible_generation', generations))
      .where('state', 'in', ['indexed', 'failed']),
  )
}

async function countUnsettledOf(db: Records, ids: readonly string[]): Promise<number> {
  const documents = db
    .selectFrom('inlay_documents')
    .select('id')
    .where(isAmong(db, 'id', ids))
  return (await documents.where('state', 'in', ['pending', 'indexing']).execute()).length
}

/** A set split into parts, since a large set copies all entries whenever it grows. */
class GenerationSet {
  readonly #parts = new Map<string, Set<string>>()
  size = 0

  add(generations: readonly string[]): void {
    for (const generation of generations) {
      const key = this.#keyOf(generation)
      const part = this.#parts.get(key) ?? new Set<string>()
      if (part.has(generation)) continue
      this.#parts.set(key, part.add(generation))
      this.size++
    }
  }

  has(generation: string): boolean {
    return this.#parts.get(this.#keyOf(generation))?.has(generation) ?? false
  }

  /** Removes a generation. @returns whether it was in the set */
  take(generation: string): boolean {
    return this.#parts.get(this.#keyOf(generation))?.delete(generation) ?? false
  }

  remove(generations: readonly string[]): void {
    for (const generation of generations) this.take(generation)
  }

  rest(): string[] {
    return [...this.#parts.values()].flatMap((part) => [...part])
  }

  /** First characters of the claim id, which is random. */
  #keyOf(generation: string): string {
    const start = generation.indexOf(':') + 1
    return generation.slice(start, start + 2)
  }
}

const cause = 'One of them may have been restored from a backup, or lost changes.'

function missingRows(count: number): InlayError {
  const message = `Documents in the database but not in the index: ${count}. ${cause} They are being indexed again.`
  return new InlayError('INDEX_MISMATCH', { message, retryable: true })
}

/** Tells the operator of versions that only the index holds, and what to do. */
export function unknownRows(count: number): string {
  return (
    `Versions of documents in the index but not in the database: ${count}. ${cause} They are kept and not found. ` +
    'Restore the database or send the documents again; then drop what only the index holds with inlay reindex.'
  )
}
