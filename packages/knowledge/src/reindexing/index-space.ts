import { InlayError, isInlayError } from '@inlay/protocol'
import { prepared } from '@inlay/records'
import type { Embedder, RebuildReason, VectorIndex } from '../contracts/vector-index.ts'
import { addToCounter, readablePhases } from '../schema/sql.ts'
import type { IndexSpaceRow, Records, SpacePhase } from '../schema/tables.ts'

/** A vector space with its index: that of one embedder, or a space without vectors. */
export interface IndexSpace {
  /** Increases with each new space; the greatest is the target of indexing. */
  readonly number: number
  /** Vector space of the index; undefined for an index without vectors. */
  readonly space: { readonly id: string; readonly dimensions: number } | undefined
  readonly phase: SpacePhase
  /** Whether its index can be read and written. */
  readonly isReadable: boolean
  /** Mark of its index. */
  readonly identity: string | null
  /** Reason why its documents are indexed again; null if the reason is another embedder, or if they are not. */
  readonly rebuildReason: RebuildReason | null
}

const allSpaces = prepared((db: Records) => db.selectFrom('inlay_spaces').selectAll().orderBy('number'))

/** All spaces, by number. */
export async function readSpaces(db: Records): Promise<IndexSpace[]> {
  const rows = await allSpaces(db, {})
  return rows.map(({ number, embedder, dimensions, phase, identity, rebuild_reason }) => ({
    number,
    space: embedder === '' ? undefined : { id: embedder, dimensions },
    phase,
    isReadable: readablePhases.includes(phase),
    identity,
    rebuildReason: rebuild_reason,
  }))
}

/**
 * Removes the indexes of all spaces, which must not be open.
 * @throws UNSUPPORTED if the index cannot be removed by its driver
 */
export async function dropIndexes(db: Records, index: VectorIndex): Promise<void> {
  for (const { number } of await readSpaces(db)) {
    const part = partOf(index, number)
    if (part.drop === undefined)
      throw new InlayError('UNSUPPORTED', {
        message: 'This index driver has no "drop": delete its data in the database itself.',
      })
    await part.drop()
  }
}

/** The index of a space. Without staging, all spaces are in the same index, one after the other. */
export function partOf(index: VectorIndex, number: number): VectorIndex {
  return number === 0 || !index.staging ? index : index.staging(number)
}

type EmbedderName = Pick<IndexSpaceRow, 'embedder' | 'dimensions'>

const nameOf = (embedder: Embedder | undefined): EmbedderName => ({
  embedder: embedder?.id ?? '',
  dimensions: embedder?.dimensions ?? 0,
})

/** Its embedder can still change while there are no documents, see {@link changeEmbedder}. */
export async function ensureSpace(db: Records, embedder: Embedder | undefined): Promise<void> {
  const row: IndexSpaceRow = {
    ...nameOf(embedder),
    number: 0,
    phase: 'open',
    identity: crypto.randomUUID(),
    rebuild_reason: null,
  }
  // Several processes may start on a new database at once.
  await db
    .insertInto('inlay_spaces')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** A space to be replaced by a new one of the same embedder, and the reason. */
export interface ReplacedSpace {
  readonly number: number
  readonly reason: RebuildReason
}

/**
 * Creates a new space of the recorded embedder that replaces another. Two processes that detect the same lost index
 * create one space.
 * @throws INDEX_MISMATCH if the storage location has no room for another space
 */
export function replaceSpace(db: Records, replaced: ReplacedSpace, isMovable: boolean): Promise<void> {
  return withLatest(db, async (transaction, latest) => {
    if (latest.number !== replaced.number) {
      // Its documents were being moved anyway, or another process has replaced it.
      if (replaced.reason !== 'requested') await markReplaced(transaction, replaced)
      return
    }
    if (!isMovable) throw cannotRebuild()
    await markReplaced(transaction, replaced)
    await addSpace(transaction, latest.number + 1, latest)
  })
}

export interface EmbedderChange {
  readonly embedder: Embedder | undefined
  /** Whether the storage location can hold two spaces. */
  readonly isMovable: boolean
  /** Whether to change nothing if there are documents. */
  readonly onlyWithoutDocuments: boolean
}

/**
 * Records another embedder; documents are then moved to a new space.
 * @returns whether the embedder has changed
 * @throws CONFLICT if the storage location has no room for another space, and documents are indexed, or are being indexed
 * or removed
 */
export function changeEmbedder(
  db: Records,
  { embedder, isMovable, onlyWithoutDocuments }: EmbedderChange,
): Promise<boolean> {
  const wanted = nameOf(embedder)
  return withLatest(db, async (transaction, latest) => {
    if (latest.embedder === wanted.embedder && latest.dimensions === wanted.dimensions) return false
    if (onlyWithoutDocuments && (await hasAnyDocument(transaction))) return false
    if (isMovable) await addSpace(transaction, latest.number + 1, wanted)
    else {
      // A number of its own, so that no work for the old embedder begins or becomes visible any more. Set first: it
      // waits for claims that are being taken or settled, so the next statement sees them.
      const space = { ...wanted, number: latest.number + 1 }
      await transaction.updateTable('inlay_spaces').set(space).where('number', '=', latest.number).execute()
      await refuseIndexed(transaction)
    }
    return true
  })
}

/** Runs work on the latest space while no other process can add a space or accept a document. */
function withLatest<Result>(
  db: Records,
  work: (transaction: Records, latest: IndexSpaceRow) => Promise<Result>,
): Promise<Result> {
  return db.transaction().execute(async (transaction) => {
    await addToCounter(transaction, 'revision', 0)
    const latest = await transaction
      .selectFrom('inlay_spaces')
      .selectAll()
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirst()
    // There is always a space: the caller has read it before.
    return work(transaction, latest!)
  })
}

async function addSpace(db: Records, number: number, { embedder, dimensions }: EmbedderName): Promise<void> {
  const identity = crypto.randomUUID()
  const row: IndexSpaceRow = { number, embedder, dimensions, phase: 'open', identity, rebuild_reason: null }
  await db.insertInto('inlay_spaces').values(row).execute()
}

/** Whether any document was accepted, indexed or not. */
export async function hasAnyDocument(db: Records): Promise<boolean> {
  return (await db.selectFrom('inlay_documents').select('id').limit(1).execute()).length > 0
}

/** A space replaced on request stays searchable meanwhile; a lost space is not read. */
async function markReplaced(db: Records, { number, reason }: ReplacedSpace): Promise<void> {
  const phase = reason === 'requested' ? 'open' : 'lost'
  const row = db.updateTable('inlay_spaces').set({ phase, rebuild_reason: reason }).where('number', '=', number)
  await row.where('phase', 'in', readablePhases).execute()
}

function cannotRebuild(): InlayError {
  return new InlayError('INDEX_MISMATCH', {
    message:
      'The index does not belong to these documents, and its location has no room for a new one: ' +
      'restore the right index, or start with an empty database.',
  })
}

async function refuseIndexed(db: Records): Promise<void> {
  const indexed = await db
    .selectFrom('inlay_documents')
    .select('id')
    .where('visible_generation', 'is not', null)
    .limit(1)
    .execute()
  if (indexed.length > 0)
    throw new InlayError('CONFLICT', {
      message:
        'The location of this index has room for only one embedding model: configure the recorded ' +
        'model, or start with an empty index and send the documents again.',
    })
  // Their rows have vectors of the old embedder, which `open` refuses for another one.
  for (const table of ['inlay_claims', 'inlay_dead_generations'] as const)
    if ((await db.selectFrom(table).select('id').limit(1).execute()).length > 0)
      throw new InlayError('CONFLICT', {
        retryable: true,
        message:
          'Documents are being indexed or removed, and the location of this index has room for only one embedding ' +
          'model: try again in a few seconds.',
      })
}

/** Whether a searchable document has its rows in the space. */
export async function holdsDocuments(db: Records, number: number): Promise<boolean> {
  const held = await db
    .selectFrom('inlay_documents')
    .select('id')
    .where('visible_generation', number === 0 ? 'not like' : 'like', number === 0 ? '%:%' : `${number}:%`)
    .limit(1)
    .execute()
  return held.length > 0
}

/** An index that is opened on first use, since that loads megabytes that not every process needs. */
export interface OpenedIndex extends VectorIndex {
  /** Whether the index was used yet. */
  readonly isOpened: boolean
}

export interface OpenOptions {
  /** Called when the index is open. */
  readonly onOpen?: (() => void) | undefined
  /** The same index for an earlier embedder: if it is being opened, that ends first. */
  readonly former?: OpenedIndex | undefined
}

/**
 * Wraps an index so that it is opened on first use and marked with the identity of its space. If opening fails, the
 * next use tries again.
 */
export function openOnUse(
  index: VectorIndex,
  { space, identity }: Pick<IndexSpace, 'space' | 'identity'> = { space: undefined, identity: null },
  { onOpen, former }: OpenOptions = {},
): OpenedIndex {
  let opening: Promise<void> | undefined
  let isClosed = false
  async function open(): Promise<void> {
    if (former?.isOpened) await former.open().catch(() => {})
    await index.open(space)
    // Before the first row is written: from then on, a location without the mark counts as another index.
    if (identity !== null && index.inspect && (await index.inspect()).identity === undefined)
      await index.mark?.(identity)
    onOpen?.()
  }
  async function ready(): Promise<VectorIndex> {
    if (isClosed) throw new InlayError('CLOSED')
    opening ??= open()
    try {
      await opening
    } catch (error) {
      opening = undefined
      // Retryable whatever the code is, since no document is the cause.
      const { code, message, data } = isInlayError(error)
        ? error
        : ({ code: 'SERVICE_UNAVAILABLE', message: 'The index could not be opened.', data: {} } as const)
      throw new InlayError(code, { message, cause: error, retryable: true, data })
    }
    return index
  }
  return {
    get isOpened() {
      return opening !== undefined
    },
    keepVersionsMs: index.keepVersionsMs,
    open: async () => void (await ready()),
    append: async (rows) => (await ready()).append(rows),
    remove: async (generations) => (await ready()).remove(generations),
    search: async (query) => (await ready()).search(query),
    read: async (generation, from, to, options) => (await ready()).read(generation, from, to, options),
    ...(index.readAll ? { readAll: async (generations) => (await ready()).readAll!(generations) } : {}),
    maintain: async (options) => (await ready()).maintain(options),
    figures: async () => (await ready()).figures(),
    // The index may not be open yet, so the space is passed.
    ...(index.inspect ? { inspect: (how) => index.inspect!({ ...how, space }) } : {}),
    ...(index.eachGeneration ? { eachGeneration: async (...given) => (await ready()).eachGeneration!(...given) } : {}),
    ...(index.mark ? { mark: index.mark.bind(index) } : {}),
    close: async () => {
      isClosed = true
      await opening?.catch(() => {})
      await index.close()
    },
  }
}
