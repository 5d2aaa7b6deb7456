import { InlayError } from '@inlay/protocol'
import { emptyLog, hasRowLocks } from '@inlay/records'
import { holdFiles, releaseFiles } from './access-and-filters/document-images.ts'
import { readStatus } from './access-and-filters/documents.ts'
import { privateFilesPair } from './access-and-filters/permissions.ts'
import type { AcceptOptions, Knowledge } from './contracts/knowledge.ts'
import type { AcceptInput } from './contracts/document-input.ts'
import type { DocumentUpdate } from './contracts/documents.ts'
import type { Caller } from './contracts/pairs.ts'
import type { DocumentHooks } from './contracts/document-hooks.ts'
import { filesOf } from './chunking/rows.ts'
import { type WorkerContext, type WorkerOptions, createWorker } from './indexing/worker.ts'
import { readVersion, withMetadata, withoutPair } from './intake/change-metadata.ts'
import { createAdmission, createCallOrder, createIndexedWaiters } from './intake/admission.ts'
import { createHookCalls } from './intake/document-hooks.ts'
import type { IntakeTask } from './intake/accept-or-remove.ts'
import { createIntake } from './intake/commit-documents.ts'
import { documentsInInbox } from './intake/inbox.ts'
import type { DocumentLimits } from './intake/quota.ts'
import { writeLargeContent } from './intake/large-content.ts'
import { checkTransaction, createAddLater } from './intake/within-transaction.ts'
import {
  type NamedFiles,
  type Version,
  checkNamedFiles,
  readDocument,
  toVersion,
  withSyncHash,
} from './intake/read-document.ts'
import { isSettled, requeueFailed } from './queue/queue-status.ts'
import type { Records } from './schema/tables.ts'
import { countRebuild, createSpaceMover } from './reindexing/change-embedder.ts'
import { createIndexComparison } from './upkeep/compare-with-records.ts'
import type { MigratingIndex } from './reindexing/migrating-index.ts'
import { createMaintainer } from './upkeep/maintainer.ts'

/** Options of ingestion; see `KnowledgeOptions`. */
export interface IngestionOptions
  extends
    NamedFiles,
    Pick<WorkerContext, 'db' | 'embedding' | 'describeImage' | 'summarize' | 'now' | 'random' | 'onError' | 'at'>,
    Pick<WorkerContext, 'isPaused' | 'recordEvents'> {
  readonly index: MigratingIndex
  /** Called with each error for which a document was not accepted. */
  readonly onRefused: (error: unknown) => void
  readonly worker?: WorkerOptions
  readonly limits?: DocumentLimits | undefined
  readonly maxQueued?: number
  readonly sha256?: (text: string) => string
  readonly hooks?: DocumentHooks | undefined
}

export interface Ingestion extends Pick<
  Knowledge,
  'accept' | 'changeDocument' | 'compareIndex' | 'remove' | 'requeue' | 'reindex' | 'whenIdle' | 'start' | 'close'
> {
  /** Records that more documents can be indexed, such as those of a resumed pair. */
  notify(): void
  noteRemoval(): void
  /** Records that documents have to be moved into another index. */
  noteRebuild(): void
  /** Records that documents may have to be moved, for example after a process was killed while moving them. */
  noteMove(): void
  /** Records that an index was opened, which may need upkeep. */
  noteOpen(): void
  /** Number of documents without rows that still have to be indexed again. */
  missing(): number
  /** Number of versions of documents that only the index of a space holds. */
  unknown(space: number): number
}

const idlePollMs = 25
/** For calls in transactions, of which one may wait for another in the database. */
const inNoOrder = (): { readonly id: string } => ({ id: crypto.randomUUID() })

/** Creates ingestion. Documents are accepted at once and indexed after `start`. */
export function createIngestion(options: IngestionOptions): Ingestion {
  const { db, index, now, onError } = options
  const parts = createParts(options)
  const { addLater, calls, intake, waiters, maintainer, worker, mover, comparison } = parts
  let closing: Promise<void> | undefined
  let hasStarted = false

  function refuseClosed(): void {
    if (closing) throw new InlayError('CLOSED')
  }

  function noteRebuild(): void {
    if (hasStarted) mover.start()
    mover.notify()
  }

  return {
    accept: async (input, { waitMs = 0, signal, onStored, transaction, ...how } = {}) => {
      checkTransaction(db, transaction, waitMs)
      const { documentId, revision, existed, isIndexed, isQueued } = await calls
        .submit(
          transaction ? inNoOrder() : how.caller,
          () => prepare(parts, input, { ...how, isLater: transaction !== undefined }),
          (task) =>
            // A hold for a transaction lasts until the document is accepted, or lapses.
            transaction
              ? addLater(transaction, task)
              : intake.submit(task).finally(() => task.hold && releaseFiles(db, task.hold).catch(onError)),
        )
        .catch((error: unknown) => {
          options.onRefused(error)
          throw error
        })
      // Most transactions are committed before the worker looks.
      if (isQueued || transaction) worker.notify()
      onStored?.(documentId)
      if (!isIndexed && waitMs > 0)
        // The document is stored, whatever becomes of the wait.
        await waiters.waitUntilIndexed({ id: documentId, revision, timeoutMs: waitMs, signal }).catch(onError)
      return { documentId, alreadyExisted: existed, isUnchanged: !isQueued }
    },
    changeDocument: async (id, change, { caller } = {}) => {
      const { documentId, existed, isQueued } = await calls.submit(
        caller,
        () => prepareChange(parts, { id, change, caller }),
        intake.submit,
      )
      if (isQueued) worker.notify()
      return { documentId, alreadyExisted: existed, isUnchanged: !isQueued }
    },
    remove: async (id, { caller, transaction } = {}) => {
      checkTransaction(db, transaction)
      const prepareTask = async () => ({ kind: 'remove', id, caller }) as const
      if (transaction) {
        await calls.submit(inNoOrder(), prepareTask, (task) => addLater(transaction, task))
        return worker.notify()
      }
      await calls.submit(caller, prepareTask, intake.submit)
      maintainer.noteRemoval()
      waiters.notify([id])
      await emptyLog(db)
    },
    requeue: async (query = {}, { caller } = {}) => {
      refuseClosed()
      const count = await requeueFailed(db, { now: now(), query, caller })
      if (count > 0) worker.notify()
      return count
    },
    reindex: async ({ embedder = false } = {}) => {
      refuseClosed()
      if (!embedder) await index.replace()
      else if (await index.changeEmbedder()) noteRebuild()
      return { documents: (await countRebuild(db, await index.spaces()))?.documents ?? 0 }
    },
    whenIdle: (signal) => until(async () => (await isSettled(db)) && !(await mover.isBusy()), refuseClosed, signal),
    start: async () => {
      refuseClosed()
      if (options.worker?.indexes === false) return
      await index.verify()
      for (const part of [worker, maintainer, mover, comparison]) part.start()
      hasStarted = true
    },
    close: () => (closing ??= closeAll(parts)),
    notify: () => {
      worker.notify()
      mover.notify()
    },
    noteRemoval: maintainer.noteRemoval,
    noteRebuild,
    noteMove: () => {
      if (hasStarted && !closing) mover.start()
    },
    noteOpen: parts.noteOpen,
    compareIndex: comparison.find,
    missing: comparison.left,
    unknown: comparison.unknown,
  }
}

type Parts = ReturnType<typeof createParts>

/** Accepted documents are stored before the worker stops, and the index is closed last. */
async function closeAll({
  options,
  hooks,
  calls,
  intake,
  waiters,
  mover,
  comparison,
  worker,
  maintainer,
}: Parts): Promise<void> {
  await calls.close()
  await intake.drained()
  await waiters.close()
  await comparison.close()
  await mover.close()
  await worker.close()
  await hooks.close()
  await maintainer.close()
  await options.index.close()
}

async function prepare(
  { options, owner, admission, hooks, sha256 }: Parts,
  input: AcceptInput,
  { caller, queuedFor, isLater = false }: Pick<AcceptOptions, 'caller' | 'queuedFor'> & { readonly isLater?: boolean },
): Promise<IntakeTask & { kind: 'accept' }> {
  const { db, now } = options
  await admission.check()
  await options.index.recordFirst()
  const given = await readDocument(input)
  const isJudged = options.hooks?.beforeDocument && given.cc_pair_id !== privateFilesPair
  const request = isJudged ? await hooks.judged(given, caller) : given
  const files = filesOf(request.document)
  const hold = files.length > 0 ? await holdFiles(db, { files, now: now() }) : undefined
  try {
    await checkNamedFiles(request.document, options, caller)
    const version = await toVersion(request, sha256)
    if (version.large && !isLater && !(await isStored(db, version)))
      await writeLargeContent(db, version.large, { now: now(), owner })
    return { kind: 'accept', id: version.id, version, caller, queuedFor, hold }
  } catch (error) {
    if (hold) await releaseFiles(db, hold).catch(options.onError)
    throw error
  }
}

async function prepareChange(
  { options: { db, now, hooks: hasHooks }, owner, admission, hooks, sha256 }: Parts,
  {
    id,
    change: { metadata, pairIds },
    caller,
  }: { readonly id: string; readonly change: DocumentUpdate; readonly caller: Caller | undefined },
): Promise<IntakeTask & { kind: 'accept' }> {
  if (pairIds?.length === 0) throw withoutPair()
  // A full queue must not keep a document where it may not be seen any more.
  if (metadata) await admission.check()
  const status = await readStatus(db, id, caller)
  const known = status && (await readVersion(db, id))
  const [pairId] = pairIds ?? status?.pairIds ?? []
  if (known === undefined || pairId === undefined) throw new InlayError('DOCUMENT_NOT_FOUND')
  let request = withMetadata(known, { id, pairId, change: metadata ?? {} })
  // Nor must a hook: it judges a document where its content changes and where it comes.
  const added = pairIds?.filter((each) => !status?.pairIds.includes(each)) ?? []
  const judgedFor = metadata && added.length === 0 ? [pairId] : added
  if (hasHooks?.beforeDocument)
    for (const each of judgedFor) request = await hooks.judged({ ...request, cc_pair_id: each }, caller)
  const version = await toVersion({ ...request, cc_pair_id: pairId }, sha256)
  if (version.large && !(await isStored(db, version))) await writeLargeContent(db, version.large, { now: now(), owner })
  // Its files were checked when it was accepted, and stay as long as it names them.
  return { kind: 'accept', id, version, pairIds, caller, ifRevision: known.revision }
}

/** Whether the document is stored with the same content. */
async function isStored(db: Records, { id, hash }: Version): Promise<boolean> {
  const row = await db.selectFrom('inlay_documents').select('hash').where('id', '=', id).executeTakeFirst()
  return row?.hash === hash
}

async function until(
  isSo: () => Promise<boolean>,
  refuseClosed: () => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  while (!(await isSo())) {
    signal?.throwIfAborted()
    refuseClosed()
    await new Promise((resolve) => setTimeout(resolve, idlePollMs))
  }
}

const createParts = (options: IngestionOptions) => {
  const { db, index, now, at, onError } = options
  const owner = options.worker?.owner ?? crypto.randomUUID()
  const admission = createAdmission({ db, now, limit: options.maxQueued ?? 200_000 })
  const waiters = createIndexedWaiters(db)
  const upkeep = { db, index, owner, isGone: options.worker?.isGone, now, at, onError }
  const maintainer = createMaintainer(upkeep)
  const hooks = createHookCalls({ db, hooks: options.hooks, onError })
  const intake = createIntake({ ...options, owner, admission, onUnused: maintainer.noteRemoval })
  const worker = createWorker({
    ...options,
    target: index.target,
    worker: { ...options.worker, owner },
    onAppended: maintainer.noteAppend,
    onRetired: maintainer.noteRemoval,
    beforeClaim: hasRowLocks(db) ? () => takeLater().catch(onError) : undefined,
    onTaken: admission.noteTaken,
    onClaimDone: (ids) => {
      mover.notify()
      waiters.notify(ids)
      if (options.hooks?.afterDocument) hooks.noteDone(ids)
    },
  })
  const mover = createSpaceMover({ db, index, now, onError, onQueued: worker.notify })
  const comparison = createIndexComparison({ ...upkeep, onQueued: worker.notify })
  const calls = createCallOrder()
  const addLater = createAddLater(db, () => ({ now: now(), owner }))
  /** Applies what committed transactions of the host have added. */
  async function takeLater(): Promise<void> {
    for (;;) {
      const ids = await documentsInInbox(db)
      if (ids.length === 0) return
      const results = await Promise.all(ids.map((id) => intake.submit({ kind: 'take', id })))
      if (results.some(({ existed }) => !existed)) maintainer.noteRemoval()
      waiters.notify(ids)
    }
  }
  const sha256 = withSyncHash(options.sha256)
  const noteOpen = (): void => {
    maintainer.noteOpen()
    comparison.noteOpen()
  }
  return {
    options,
    owner,
    hooks,
    calls,
    addLater,
    sha256,
    intake,
    waiters,
    admission,
    maintainer,
    worker,
    mover,
    comparison,
    noteOpen,
  }
}
