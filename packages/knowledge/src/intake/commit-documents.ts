import { InlayError, isInlayError } from '@inlay/protocol'
import {
  type GroupCommit,
  type Outcome,
  createGroupCommit,
  hasRowLocks,
  idList,
  isAmong,
  isAmongIds,
  prepared,
  preparedRows,
} from '@inlay/records'
import { yieldToEventLoop } from '@inlay/scheduling'
import { sql, type InsertObject } from 'kysely'
import { type GuardedPair, noteActivity, readMemberships, readPairs } from '../access-and-filters/permissions.ts'
import { noteWaitingImages } from '../access-and-filters/document-images.ts'
import type { IngestionStep } from '../contracts/steps.ts'
import { deleteDocuments } from './delete-documents.ts'
import {
  type Draft,
  type IntakeResult,
  type IntakeTask,
  type LaterTask,
  type StoredState,
  applyTask,
} from './accept-or-remove.ts'
import { takeFromInbox } from './inbox.ts'
import { type LargeContent, releaseLargeContent, writeLargeContent } from './large-content.ts'
import { addToCounter, idsOf } from '../schema/sql.ts'
import type { Admission } from './admission.ts'
import type { Records, Tables } from '../schema/tables.ts'
import { addStored, hasLimits, recount, type DocumentLimits, type Room } from './quota.ts'
import type { Version } from './read-document.ts'

export interface IntakeOptions {
  readonly db: Records
  readonly now: () => number
  /** Called with `accept` before each transaction, and awaited. */
  readonly at?: (step: IngestionStep) => void | Promise<void>
  /** Identifies this process among all that share the database. Default: a random id. */
  readonly owner?: string
  /** Called when large content was written but is not needed. */
  readonly onUnused?: () => void
  /** Told what goes wrong once the documents are stored. */
  readonly onError?: (error: unknown) => void
  /** Assigns documents their places in the queue. Default: in order of arrival. */
  readonly admission?: Pick<Admission, 'placeOf'>
  readonly limits?: DocumentLimits | undefined
}

/**
 * All changes of documents go through here: documents are accepted and removed in order of arrival, many in one commit.
 */
export type Intake = GroupCommit<IntakeTask, IntakeResult>

/** Creates an intake. When a result is returned, the change is on disk. */
export function createIntake(options: IntakeOptions): Intake {
  let isCounted = false
  return createGroupCommit({
    commit: async (tasks) => {
      await options.at?.('accept')
      if (!isCounted && hasLimits(options.limits)) await recount(options.db)
      isCounted = true
      const contentIds: Map<LargeContent, string> = new Map()
      let taken: readonly LaterTask[] = []
      try {
        for (;;) {
          const transaction = await options.db.startTransaction().execute()
          const missing: LargeContent[] = []
          try {
            const { later, outcomes, drafts } = await applyTasks(transaction, tasks, options.limits)
            const changed = drafts.filter(
              (draft) => draft.version !== undefined || (!draft.isPresent && isStale(draft)),
            )
            for (const draft of changed) {
              const large = isStale(draft) || draft.stored?.hash !== draft.hash ? draft.version?.large : undefined
              if (!large) continue
              const id = contentIds.get(large) ?? large.id
              contentIds.set(large, id)
              if (!(await releaseLargeContent(transaction, { id }))) missing.push(large)
            }
            // A group without changes is rolled back, to save a sync to disk.
            if ((changed.length === 0 && later.length === 0) || missing.length > 0)
              await transaction.rollback().execute()
            else {
              await write(transaction, changed, { ...options, contentIds })
              await transaction.commit().execute()
              taken = later
              for (const outcome of outcomes.slice(0, later.length))
                if ('error' in outcome) options.onError?.(refusedLater(outcome.error))
            }
            if (missing.length === 0) return outcomes.slice(later.length)
          } catch (error) {
            if (!transaction.isCommitted && !transaction.isRolledBack) await transaction.rollback().execute()
            throw error
          }
          // Not written yet, or already being removed because writing took too long.
          for (const large of missing) contentIds.set(large, await writeAnew(large, options))
        }
      } finally {
        for (const task of [...taken, ...tasks]) {
          const large = task.kind === 'accept' ? task.version.large : undefined
          if (!large) continue
          for (const id of new Set([large.id, contentIds.get(large) ?? large.id]))
            // The outcome stands; what is not released here is removed when its hold is over.
            if (await releaseLargeContent(options.db, { id }).catch(options.onError)) options.onUnused?.()
        }
      }
    },
    weight: (task) => (task.kind === 'accept' ? task.version.content.length : 0),
    maxWeight: 4 * 2 ** 20,
    limit: 400,
  })
}

async function writeAnew(content: LargeContent, { db, now, owner }: IntakeOptions): Promise<string> {
  // That of a transaction is not in memory; nothing removes it before.
  if (content.parts.length === 0) throw new InlayError('INTERNAL_ERROR', { message: 'A content is lost.' })
  const id = crypto.randomUUID()
  await writeLargeContent(db, { ...content, id }, { now: now(), owner: owner ?? id })
  return id
}

/** Also applies what waits in the inbox for the same documents, before; its outcomes come first. */
async function applyTasks(
  db: Records,
  tasks: readonly IntakeTask[],
  limits: DocumentLimits | undefined,
): Promise<{ later: readonly LaterTask[]; outcomes: Outcome<IntakeResult>[]; drafts: Draft[] }> {
  // The first statement, to take the write lock; unused numbers are skipped.
  let lastRevision = await addToCounter(db, 'revision', tasks.length)
  const later = await takeFromInbox(db, [...new Set(idsOf(tasks))])
  if (later.length > 0) lastRevision = await addToCounter(db, 'revision', later.length)
  const all = [...later, ...tasks]
  const { drafts, pairs } = await readDrafts(db, all, lockedDocuments)
  const room: Room | undefined = hasLimits(limits) ? { ...limits, stored: await addStored(db, [0, 0]) } : undefined
  const lost = new Set<IntakeTask>()
  for (const task of later) if (await lacksContent(db, task)) lost.add(task)
  const outcomes = all.map((task, at): Outcome<IntakeResult> => {
    // What a transaction of the host has added is committed.
    const bounded = at < later.length ? undefined : room
    const context = { pairs, revision: lastRevision - all.length + at + 1, room: bounded }
    try {
      if (lost.has(task)) throw new InlayError('INTERNAL_ERROR', { message: 'Its content is lost.' })
      return { value: applyTask(drafts.get(task.id)!, task, context) }
    } catch (error) {
      // A refusal concerns one task; the others of the group continue.
      return { error }
    }
  })
  return { later, outcomes, drafts: [...drafts.values()] }
}

/** Whether its content was removed, as a version before does. It would fail each time, and others with it. */
const lacksContent = async (db: Records, task: LaterTask): Promise<boolean> =>
  task.kind === 'accept' &&
  task.version.large !== undefined &&
  !(await sql`select 1 from inlay_large_contents where id = ${task.version.large.id} and lease_until > 0`.execute(db))
    .rows[0]

/** The host has heard of another outcome. */
function refusedLater(cause: unknown): unknown {
  if (!isInlayError(cause)) return cause
  const message = `A change of a document that a transaction has committed was refused: ${cause.message}`
  return new InlayError(cause.code, { message, cause })
}

/** What would come of a task now. Changes nothing, and takes no lock. @throws as `accept` and `remove` */
export async function previewTask(db: Records, task: LaterTask): Promise<IntakeResult> {
  const { drafts, pairs } = await readDrafts(db, [task], storedDocuments)
  return applyTask(drafts.get(task.id)!, task, { pairs, revision: 0 })
}

async function readDrafts(
  db: Records,
  tasks: readonly IntakeTask[],
  readDocuments: typeof storedDocuments,
): Promise<{ drafts: Map<string, Draft>; pairs: Map<number, GuardedPair> }> {
  const stored = await readStored(db, [...new Set(idsOf(tasks))], readDocuments)
  const pairIds = new Set(
    tasks.flatMap((task) => (task.kind === 'accept' ? (task.pairIds ?? [task.version.pairId]) : [])),
  )
  for (const { pairIds: ids } of stored.values()) for (const id of ids) pairIds.add(id)
  const pairs = await readPairs(db, [...pairIds])
  const drafts = new Map<string, Draft>()
  for (const { id } of tasks) {
    const before = stored.get(id)
    // A document whose pairs were all removed counts as absent.
    const livePairs = new Set(before?.pairIds.filter((pairId) => pairs.get(pairId)?.isRemoved === false))
    drafts.set(id, {
      id,
      stored: before,
      isPresent: livePairs.size > 0,
      hash: before?.hash ?? '',
      state: before?.state ?? 'pending',
      incarnation: before?.incarnation ?? 0,
      revision: before?.revision ?? 0,
      pairIds: livePairs,
      characters: before?.characters,
      version: undefined,
      queuedFor: undefined,
    })
  }
  return { drafts, pairs }
}

async function readStored(
  db: Records,
  ids: readonly string[],
  readDocuments: typeof storedDocuments,
): Promise<Map<string, StoredState>> {
  const rows = await readDocuments(db, { ids: idList(db, ids) })
  if (rows.length === 0) return new Map()
  const pairIds = await readMemberships(db, idsOf(rows))
  return new Map(
    rows.map((row) => [
      row.id,
      {
        hash: row.hash,
        state: row.state,
        revision: Number(row.revision),
        incarnation: Number(row.incarnation),
        dueAt: Number(row.due_at),
        attempts: row.attempts,
        acceptedAt: Number(row.accepted_at),
        characters: Number(row.content_bytes),
        pairIds: pairIds.get(row.id) ?? [],
      },
    ]),
  )
}

const selectDocuments = (db: Records, { ids }: { readonly ids: string }) =>
  db
    .selectFrom('inlay_documents')
    .select(['id', 'hash', 'state', 'revision', 'incarnation', 'due_at', 'attempts', 'accepted_at', 'content_bytes'])
    .where(isAmongIds(db, 'id', ids, 'text'))
    .orderBy('id')

const storedDocuments = prepared(selectDocuments)
// Several documents in order of their ids, to avoid deadlocks.
const lockedDocuments = prepared((db: Records, values: { readonly ids: string }) =>
  hasRowLocks(db) ? selectDocuments(db, values).forUpdate() : selectDocuments(db, values),
)

/** Whether the recorded data of a document must be deleted: the document was removed, and possibly added again. */
function isStale({ stored, isPresent, incarnation }: Draft): boolean {
  return stored !== undefined && (!isPresent || incarnation !== stored.incarnation)
}

interface WriteOptions extends IntakeOptions {
  readonly contentIds: ReadonlyMap<LargeContent, string>
}

async function write(db: Records, drafts: readonly Draft[], options: WriteOptions): Promise<void> {
  const now = options.now()
  const stale = drafts.filter(isStale)
  if (stale.length > 0) await deleteDocuments(db, idsOf(stale))
  const accepted = drafts.flatMap((draft) => (draft.version ? [{ ...draft, version: draft.version }] : []))
  if (accepted.length === 0) return
  await insertDocuments(
    db,
    accepted.map((draft) => toRow(draft, { now, admission: options.admission })),
  )
  const replaced = accepted.flatMap((draft) => (isStale(draft) ? [] : (draft.stored?.characters ?? [])))
  const lengths = [...accepted.map(({ version }) => version.characters), ...replaced.map((length) => -length)]
  await addStored(db, [accepted.length - replaced.length, lengths.reduce((sum, length) => sum + length, 0)])
  await writeContents(
    db,
    accepted.filter((draft) => isStale(draft) || draft.stored?.hash !== draft.version.hash),
    options.contentIds,
  )
  const memberships = accepted.flatMap(({ id, pairIds, stored, incarnation }) =>
    [...pairIds]
      .filter((pairId) => incarnation !== stored?.incarnation || !stored.pairIds.includes(pairId))
      .map((pairId) => ({ document_id: id, pair_id: pairId })),
  )
  await insertMemberships(db, memberships)
  for (const { id, pairIds, stored, incarnation } of accepted) {
    const left = incarnation === stored?.incarnation ? stored.pairIds.filter((pairId) => !pairIds.has(pairId)) : []
    if (left.length === 0) continue
    for (const table of ['inlay_document_pairs', 'inlay_document_tags'] as const)
      await db
        .deleteFrom(table)
        .where('document_id', '=', id)
        .where(isAmong(db, 'pair_id', left))
        .execute()
  }
  const naming = accepted.filter(({ stored, version }) => stored !== undefined || version.files.length > 0)
  if (naming.length > 0)
    await noteWaitingImages(
      db,
      naming.map(({ id, version }) => ({ id, files: version.files })),
    )
  await noteActivity(db, 'accepted_at', { pairIds: accepted.map(({ version }) => version.pairId), now })
}

/** Longer content is written separately. */
const longContent = 65_536

async function writeContents(
  db: Records,
  accepted: readonly { readonly id: string; readonly version: Version }[],
  contentIds: ReadonlyMap<LargeContent, string>,
): Promise<void> {
  const short: Content[] = []
  const long: (typeof short)[] = []
  for (const { id, version } of accepted) {
    const large_id = version.large ? contentIds.get(version.large)! : null
    const row = { id, content: version.content, large_id }
    if (row.content.length > longContent) long.push([row])
    else short.push(row)
  }
  for (const group of [short, ...long]) {
    // SQLite writes on this thread, and keeps the last values bound to each statement.
    if (group !== short) await yieldToEventLoop()
    await insertContents(db, group)
  }
}

type Content = InsertObject<Tables, 'inlay_contents'>

const insertContents = preparedRows(['id', 'content', 'large_id'], (db: Records, rows: readonly Content[]) =>
  db
    .insertInto('inlay_contents')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((of) => ({ content: of.ref('excluded.content'), large_id: of.ref('excluded.large_id') })),
    ),
)

type Membership = InsertObject<Tables, 'inlay_document_pairs'>

const insertMemberships = preparedRows(['document_id', 'pair_id'], (db: Records, rows: readonly Membership[]) =>
  db
    .insertInto('inlay_document_pairs')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing()),
)

/** Everything that a new version changes. The visible generation stays until the new version is indexed. */
const overwritten = [
  'revision',
  'incarnation',
  'state',
  'hash',
  'semantic_identifier',
  'link',
  'source',
  'content_bytes',
  'accepted_at',
  'due_at',
  'claim',
  'attempts',
  'failures',
  'interruptions',
  'reason',
] as const

type DocumentRow = InsertObject<Tables, 'inlay_documents'>

const insertDocuments = preparedRows(['id', ...overwritten], (db: Records, rows: readonly DocumentRow[]) =>
  db
    .insertInto('inlay_documents')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((of) => Object.fromEntries(overwritten.map((name) => [name, of.ref(`excluded.${name}`)]))),
    ),
)

function toRow(
  draft: Draft & { version: Draft['version'] & {} },
  { now, admission }: { now: number; admission: IntakeOptions['admission'] },
): DocumentRow {
  const { version } = draft
  const place = admission?.placeOf(draft.queuedFor ?? '', version.characters, now) ?? now
  const stored = isStale(draft) ? undefined : draft.stored
  // A document that changes repeatedly keeps its place in the queue.
  const waitsSince = stored?.state === 'pending' && stored.attempts === 0 ? stored.dueAt : place
  return {
    id: draft.id,
    revision: draft.revision,
    incarnation: draft.incarnation,
    state: 'pending',
    hash: version.hash,
    semantic_identifier: version.semanticIdentifier,
    link: version.link,
    source: version.source,
    content_bytes: version.characters,
    accepted_at: stored?.hash === version.hash ? stored.acceptedAt : now,
    due_at: Math.min(waitsSince, place),
    claim: null,
    attempts: 0,
    failures: 0,
    interruptions: 0,
    reason: null,
  }
}
