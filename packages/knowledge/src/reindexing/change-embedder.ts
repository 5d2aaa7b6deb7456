import { createSignal } from '@inlay/scheduling'
import { hasRowLocks } from '@inlay/records'
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { KnowledgeFigures } from '../contracts/documents.ts'
import { countUnpaused } from '../queue/queue-status.ts'
import { addToCounter } from '../schema/sql.ts'
import type { Records, Tables } from '../schema/tables.ts'
import { type IndexSpace, holdsDocuments } from './index-space.ts'
import type { MigratingIndex } from './migrating-index.ts'

export interface SpaceMoverOptions {
  readonly db: Records
  readonly index: MigratingIndex
  readonly now: () => number
  readonly onError: (error: unknown) => void
  readonly onQueued: () => void
}

/**
 * Moves documents to the space of a new embedder, in batches: they go through the queue like any other, behind newly
 * accepted ones, and can be found in their old space until they are in the new one. An empty old space is removed.
 */
export interface SpaceMover {
  start(): void
  /** Records that documents have left the queue. */
  notify(): void
  /** Whether there are documents still to be moved. */
  isBusy(): Promise<boolean>
  close(): Promise<void>
}

/** Few, so that newly accepted documents are not delayed. */
const batch = 256
const [pollMs, pollMsWhenMoved] = [500, 10_000]

/** Progress of a pass over the documents, by id. */
interface Pass {
  after: string
  /** Whether failed documents are tried once more. */
  withFailed: boolean
}

export function createSpaceMover(options: SpaceMoverOptions): SpaceMover {
  const { db, index, onError, onQueued } = options
  const signal = createSignal()
  let loop: Promise<void> | undefined
  let isClosing = false
  /** Another move may be requested while the loop is about to end. */
  let isRequested = false

  /** The spaces to move documents out of, and the target space; 0 for a process that lacks its embedder. */
  async function look(): Promise<{ readonly latest: number; readonly old: readonly IndexSpace[] }> {
    const { number: latest = 0 } = (await index.target()) ?? {}
    return { latest, old: latest === 0 ? [] : (await index.spaces()).filter(({ number }) => number < latest) }
  }

  async function run(): Promise<void> {
    const pass: Pass = { after: '', withFailed: true }
    while (!isClosing) {
      let restMs = pollMs
      isRequested = false
      try {
        const { latest, old } = await look()
        if (old.length === 0) {
          if (isRequested) continue
          loop = undefined
          return
        }
        if (await queueSome(options, pass, { latest, isMoved: old.every((space) => space.phase === 'moved') }))
          onQueued()
        else if (!(await isAnyLeft(db, latest))) {
          for (const space of old) await closeSpace(options, space)
          restMs = pollMsWhenMoved
        }
      } catch (error) {
        if (isClosing) return
        onError(error)
      }
      await signal.sleep(restMs)
    }
  }

  return {
    start: () => {
      isRequested = true
      loop ??= run()
    },
    notify: signal.notify,
    isBusy: async () => {
      const { latest, old } = await look()
      if (old.some((space) => space.phase === 'open')) return true
      return old.some((space) => space.phase === 'lost') && (await isAnyLeft(db, latest))
    },
    close: async () => {
      isClosing = true
      signal.notify()
      await loop
    },
  }
}

const outsideOf = (db: Records, latest: number) =>
  db
    .selectFrom('inlay_documents')
    .select('id')
    .where('visible_generation', 'is not', null)
    .where('visible_generation', 'not like', `${latest}:%`)
    // Documents of a paused pair are moved when the pair is resumed.
    .where((of) =>
      of.exists(
        of
          .selectFrom('inlay_document_pairs as membership')
          .innerJoin('inlay_pairs as pair', 'pair.id', 'membership.pair_id')
          .select('pair.id')
          .whereRef('membership.document_id', '=', 'inlay_documents.id')
          .where('pair.is_paused', '=', 0)
          .where('pair.is_removed', '=', 0),
      ),
    )

/** Adds some documents to the queue, as new versions with the same content. @returns whether there were any */
async function queueSome(
  { db, now }: SpaceMoverOptions,
  pass: Pass,
  { latest, isMoved }: { latest: number; isMoved: boolean },
): Promise<boolean> {
  const room = batch - (await countUnpaused(db))
  if (room <= 0) return false
  const states = pass.withFailed && !isMoved ? (['indexed', 'failed'] as const) : (['indexed'] as const)
  const ids = await requeue(db, { now: now(), limit: room }, (from) =>
    outsideOf(from, latest).where('state', 'in', states).where('id', '>', pass.after),
  )
  pass.after = ids.at(-1) ?? ''
  if (ids.length === 0) pass.withFailed = false
  return ids.length > 0
}

type ChosenIds = SelectQueryBuilder<Tables, 'inlay_documents', { id: string }>

/** The first documents that a query chooses, by id, as new versions with the same content. @returns their ids */
export function requeue(
  db: Records,
  { now, limit }: { readonly now: number; readonly limit: number },
  choose: (from: Records) => ChosenIds,
): Promise<string[]> {
  return db.transaction().execute(async (transaction) => {
    // The first statement, to take the write lock: nothing may be accepted meanwhile.
    const last = await addToCounter(transaction, 'revision', limit)
    let chosen = choose(transaction).orderBy('id').limit(limit)
    if (hasRowLocks(db)) chosen = chosen.forUpdate()
    const ids = (await chosen.execute()).map(({ id }) => id)
    const queued = ids.map((id, at) => ({ id, revision: last - at }))
    if (queued.length > 0) await toQueue(queued, now).execute(transaction)
    return ids
  })
}

const toQueue = (documents: readonly { id: string; revision: number }[], now: number): RawBuilder<unknown> => sql`
  with queued(id, revision) as (values ${sql.join(
    documents.map(({ id, revision }) => sql`(cast(${id} as text), cast(${revision} as bigint))`),
  )})
  update inlay_documents set
    state = 'pending', revision = queued.revision, due_at = ${now}, claim = null, attempts = 0, failures = 0,
    interruptions = 0, reason = null
  from queued
  where inlay_documents.id = queued.id and inlay_documents.id in (select id from queued)`

/** Whether documents remain to be moved, or are being moved; failed ones do not count. */
async function isAnyLeft(db: Records, latest: number): Promise<boolean> {
  return (await outsideOf(db, latest).where('state', '!=', 'failed').limit(1).execute()).length > 0
}

/** Removes an old space, or records that it stays until the documents that failed in it are changed or deleted. */
async function closeSpace({ db, index }: SpaceMoverOptions, space: IndexSpace): Promise<void> {
  const { number } = space
  const isEmpty = await db.transaction().execute(async (transaction) => {
    await addToCounter(transaction, 'revision', 0)
    // Making documents visible in the space locks this row, so the next statement sees everything written before.
    let row = transaction.selectFrom('inlay_spaces').select('number').where('number', '=', number)
    if (hasRowLocks(db)) row = row.forUpdate()
    await row.execute()
    const isHeld = await holdsDocuments(transaction, number)
    const phase = !isHeld ? 'closing' : space.phase === 'lost' ? 'lost' : 'moved'
    await transaction.updateTable('inlay_spaces').set({ phase }).where('number', '=', number).execute()
    return !isHeld
  })
  if (!isEmpty) return
  await index.dropSpace(space)
  await db.deleteFrom('inlay_spaces').where('number', '=', number).execute()
}

type Rebuild = KnowledgeFigures['rebuild'] & {}

/**
 * Reason why documents are being moved; undefined if there is no old space. A lost space stays as long as it contains
 * failed documents; only a count tells whether others remain.
 */
export function rebuildReasonOf(spaces: readonly IndexSpace[]): Rebuild['reason'] | undefined {
  const old = spaces.slice(0, -1).findLast(({ phase }) => phase === 'open' || phase === 'lost')
  return old && (old.rebuildReason ?? 'embedder')
}

/** Reason why documents are being moved, and how many remain; undefined if none. Reads every document. */
export async function countRebuild(db: Records, spaces: readonly IndexSpace[]): Promise<Rebuild | undefined> {
  const reason = rebuildReasonOf(spaces)
  if (reason === undefined) return undefined
  const left = outsideOf(db, spaces.at(-1)!.number).where('state', '!=', 'failed').clearSelect()
  const row = await left.select((of) => of.fn.countAll<number | string>().as('count')).executeTakeFirst()
  const documents = Number(row?.count ?? 0)
  return documents === 0 ? undefined : { reason, documents }
}
