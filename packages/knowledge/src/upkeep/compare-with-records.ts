import { InlayError } from '@inlay/protocol'
import { createSignal, mapConcurrent, nextSlice } from '@inlay/protocol/concurrency'
import { hasRowLocks, isAmong } from '@inlay/records'
import { retire, toGenerations } from '../queue/claims.ts'
import { addToCounter, spaceOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'
import { type MaintainerContext, whileHeld } from './maintainer.ts'
import { requeue } from '../reindexing/change-embedder.ts'
import type { SpacedIndex } from '../reindexing/spaced-index.ts'

export interface IndexComparisonOptions extends MaintainerContext {
  readonly index: SpacedIndex
  /** Called when documents were put into the queue. */
  readonly onQueued: () => void
  /** Called when rows were noted for removal. */
  readonly onRetired: () => void
  /** Versions of documents in the index beyond which nothing is compared. Default 2 million: some 200 MB of memory. */
  readonly mostGenerations?: number
}

/**
 * Compares the index with the records once after it was opened, and mends what differs: somebody may have put back one of
 * both from another day. Documents whose rows are gone are indexed again; rows that the records do not know are removed.
 */
export interface IndexComparison {
  start(): void
  /** Says that the index is open. Only the first time counts. */
  noteOpen(): void
  /** Documents that were found to lack their rows, and are not indexed again yet. */
  left(): number
  close(): Promise<void>
}

const job = 'compare'
/** The searches that opened the index come first. */
const restMs = 1000
const retryMs = 60_000
/** Another process that is at it may end before it is done. */
const othersRestMs = 5000
/** So few wait at a time that what is accepted meanwhile is not held up. */
const batch = 256
const pollMs = 200
/** Documents of a paused pair stay in the queue. */
const longestWaitMs = 30_000
/** Documents read at a time. */
const page = 1000
const readsAtOnce = 4
/** Lists of generations read at a time; one may have a thousand. */
const namedAtOnce = 10

/** A document, and the generation of it that should be in the index. */
interface Missing {
  readonly id: string
  readonly generation: string
  readonly chunkCount: number
}

export function createIndexComparison(options: IndexComparisonOptions): IndexComparison {
  const { onError } = options
  const signal = createSignal()
  const letGo = new AbortController()
  const progress = { left: 0 }
  let loop: Promise<void> | undefined

  async function run(): Promise<void> {
    for (let delayMs = restMs; ;) {
      await signal.sleep(delayMs)
      if (letGo.signal.aborted) return
      try {
        const rest = (ms: number): Promise<void> => signal.sleep(ms)
        if (await whileHeld(options, job, () => compare(options, { progress, rest, signal: letGo.signal }))) return
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
    close: async () => {
      letGo.abort()
      signal.notify()
      await loop
    },
  }
}

interface Course {
  readonly progress: { left: number }
  readonly rest: (ms: number) => Promise<void>
  readonly signal: AbortSignal
}

async function compare(options: IndexComparisonOptions, { progress, rest, signal }: Course): Promise<void> {
  const { db, index, onError, onQueued, onRetired, mostGenerations = 2_000_000 } = options
  const number = (await index.target())?.number
  const opened = number === undefined ? undefined : await index.indexAt(number)
  if (number === undefined || !opened?.eachGeneration) return
  const listed = new GenerationSet()
  const tooMany = new Error('More generations than are compared.')
  const add = (generations: readonly string[]): void => {
    listed.add(generations)
    if (listed.size > mostGenerations) throw tooMany
  }
  const listing = opened.eachGeneration(add, signal).then(() => true)
  if (!(await listing.catch((error: unknown) => (error === tooMany ? false : Promise.reject(error))))) return
  // In the order in which generations go from one to the next: none is overlooked on its way.
  await removeThoseIn(db, 'inlay_claims', listed)
  const candidates = await takeVisible(db, listed, { number, signal })
  await removeThoseIn(db, 'inlay_dead_generations', listed)
  if (signal.aborted) return
  const unknown = listed.rest()
  if (unknown.length > 0) {
    const count = await countHeld(index, unknown, signal)
    for (let at = 0; at < unknown.length; at += page) {
      const generations = unknown.slice(at, at + page)
      await db.transaction().execute((transaction) => retire(transaction, { generations, chunkCount: page }))
    }
    onRetired()
    if (count > 0) onError(unknownRows(count))
  }
  let isReported = false
  for (let at = 0; at < candidates.length && !signal.aborted; at += batch) {
    const missing = await withoutRows(index, candidates.slice(at, at + batch), signal)
    const queued = await queueAgain(options, missing)
    if (queued.length === 0) continue
    progress.left = candidates.length - at
    if (!isReported) onError(missingRows(candidates.length))
    isReported = true
    onQueued()
    for (let waitedMs = 0; waitedMs < longestWaitMs && !signal.aborted; waitedMs += pollMs) {
      await rest(pollMs)
      if ((await countUnsettledOf(db, queued)) === 0) break
    }
  }
}

/** Visible generations that the index does not list; those that it does are taken out of the set. */
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
      if (chunkCount !== null && chunkCount > 0) missing.push({ id, generation, chunkCount })
    }
    const last = rows.at(-1)
    if (!last) break
    after = last.id
    await nextSlice()
  }
  return missing
}

/** Takes out of the set what a table names. Whole documents of a removed source may wait in it: it is read in parts. */
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

/** Some may have been indexed after the index was listed. */
async function withoutRows<Item extends Pick<Missing, 'generation' | 'chunkCount'>>(
  index: SpacedIndex,
  candidates: readonly Item[],
  signal: AbortSignal,
): Promise<Item[]> {
  const held = await mapConcurrent(candidates, readsAtOnce, async ({ generation, chunkCount }) => {
    signal.throwIfAborted()
    return (await index.read(generation, 0, chunkCount)).length > 0
  })
  return candidates.filter((_, at) => !held[at])
}

/** Few may have been replaced and removed while the records were read: they are nothing to speak of. */
async function countHeld(index: SpacedIndex, unknown: readonly string[], signal: AbortSignal): Promise<number> {
  if (unknown.length > page) return unknown.length
  const gone = await withoutRows(
    index,
    unknown.map((generation) => ({ generation, chunkCount: 0 })),
    signal,
  )
  return unknown.length - gone.length
}

/** Puts documents into the queue whose visible generation is still the one without rows. @returns their ids */
function queueAgain({ db, now }: IndexComparisonOptions, missing: readonly Missing[]): Promise<string[]> {
  if (missing.length === 0) return Promise.resolve([])
  const generations = new Map(missing.map(({ id, generation }) => [id, generation]))
  return db.transaction().execute(async (transaction) => {
    // Taken first for the write lock: nothing may be accepted in between.
    const last = await addToCounter(transaction, 'revision', missing.length)
    let chosen = transaction
      .selectFrom('inlay_documents')
      .select(['id', 'visible_generation'])
      .where(isAmong(db, 'id', [...generations.keys()]))
      .where('state', 'in', ['indexed', 'failed'])
      .orderBy('id')
    if (hasRowLocks(db)) chosen = chosen.forUpdate()
    const rows = (await chosen.execute()).filter((row) => row.visible_generation === generations.get(row.id))
    const queued = rows.map(({ id }, at) => ({ id, revision: last - at }))
    if (queued.length > 0) await requeue(queued, now()).execute(transaction)
    return queued.map(({ id }) => id)
  })
}

async function countUnsettledOf(db: Records, ids: readonly string[]): Promise<number> {
  const documents = db
    .selectFrom('inlay_documents')
    .select('id')
    .where(isAmong(db, 'id', ids))
  return (await documents.where('state', 'in', ['pending', 'indexing']).execute()).length
}

/** A set in parts, since a large one moves all it holds whenever it grows. */
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

  /** Takes one out. @returns whether it was there */
  take(generation: string): boolean {
    return this.#parts.get(this.#keyOf(generation))?.delete(generation) ?? false
  }

  remove(generations: readonly string[]): void {
    for (const generation of generations) this.take(generation)
  }

  rest(): string[] {
    return [...this.#parts.values()].flatMap((part) => [...part])
  }

  /** By the claim, whose id is random. */
  #keyOf(generation: string): string {
    const start = generation.indexOf(':') + 1
    return generation.slice(start, start + 2)
  }
}

const cause = 'One of both may have been put back from another day.'

function missingRows(count: number): InlayError {
  const message = `The index lacks documents that the records have: ${count}. ${cause} They are being indexed again.`
  return new InlayError('INDEX_MISMATCH', { message, retryable: true })
}

function unknownRows(count: number): InlayError {
  const message = `The index holds versions of documents that the records do not know: ${count}. ${cause} They are being removed.`
  return new InlayError('INDEX_MISMATCH', { message, retryable: true })
}
