import type { Services, StoredFile } from '@inlay/agent'
import { InlayError, isInlayError } from '@inlay/protocol'
import {
  claimJob,
  emptyLog,
  isHeld,
  maxLeaseMs,
  renewJob,
  settleJob,
  whileRenewed,
  type ClaimedJob,
  type JobTable,
} from '@inlay/records'
import type { Selectable } from 'kysely'
import type { ConversationDatabase } from '../tables/database.ts'
import type { Blobs } from './blobs.ts'
import type { FileIndex } from './contracts.ts'
import { toStoredFile } from './file-records.ts'
import type { FileTable } from '../tables/library-tables.ts'
import type { Readings } from './file-texts.ts'

export interface FileWorkerOptions extends Pick<Services, 'now' | 'onError'> {
  readonly db: ConversationDatabase
  readonly blobs: Blobs
  readonly readings: Readings
  readonly index: FileIndex | undefined
  /** Removes a file that is hidden, or shows it again. */
  readonly decide: (file: StoredFile) => Promise<unknown>
}

/** Processes pending work on files, including what earlier processes left. */
export interface FileWorker {
  notify(): void
  /** Resolves once no work is due. */
  whenIdle(): Promise<void>
  /** Finishes work in progress; the next process continues with the rest. Idempotent. */
  close(): Promise<void>
}

/** Lease of claimed work after its last renewal. */
const leaseMs = 20_000
const signOfLifeMs = 5_000
const maxAttempts = 6
/** Maximum sleep while work is deferred, since other processes may leave some, too. */
const maxSleepMs = 60_000

/** It is idle until it is notified. */
export function createFileWorker(options: FileWorkerOptions): FileWorker {
  const { db, now, onError } = options
  let running: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isWanted = false
  /** Whether anything was erased since the write-ahead log was last emptied. */
  let hasRemoved = false
  const closing = new AbortController()

  const next = async (): Promise<boolean> => {
    const file = closing.signal.aborted ? undefined : await claim(db, now())
    if (file) await processFile(file, options, closing.signal)
    if (file?.row.work === 'remove' || file?.row.work === 'decide') hasRemoved = true
    return file !== undefined
  }
  const run = async (): Promise<void> => {
    while (isWanted && !closing.signal.aborted) {
      isWanted = false
      while (await next());
    }
    if (hasRemoved) {
      hasRemoved = false
      await emptyLog(db)
    }
    if (!closing.signal.aborted) await sleep()
  }
  const sleep = async (): Promise<void> => {
    const waiting = await db
      .selectFrom('inlay_files')
      .select('due_at')
      .where('work', 'is not', null)
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst()
    if (!waiting) return
    timer = setTimeout(notify, Math.min(Math.max(Number(waiting.due_at) - now(), 50), maxSleepMs))
    // The timer must not keep the process alive. Browsers have no `unref`.
    timer.unref?.()
  }
  const notify = (): void => {
    isWanted = true
    clearTimeout(timer)
    if (closing.signal.aborted) return
    running ??= run()
      .catch(onError)
      .finally(() => {
        running = undefined
        if (isWanted && !closing.signal.aborted) notify()
      })
  }
  return {
    notify,
    whenIdle: async () => {
      while (running) await running
    },
    close: async () => {
      closing.abort(new InlayError('CLOSED'))
      clearTimeout(timer)
      await running
    },
  }
}

async function claim(db: ConversationDatabase, time: number): Promise<ClaimedFile | undefined> {
  const job = await claimJob(jobsOf(db), { column: 'work', now: time, leaseMs })
  if (!job) return undefined
  const row = await db.selectFrom('inlay_files').selectAll().where('id', '=', job.id).executeTakeFirst()
  return row && { row, job }
}

interface ClaimedFile {
  readonly row: Selectable<FileTable>
  readonly job: ClaimedJob
}

const jobsOf = (db: ConversationDatabase): JobTable => ({ db, table: 'inlay_files' })

/** Does the work of one file; never rejects. */
async function processFile(file: ClaimedFile, options: FileWorkerOptions, closing: AbortSignal): Promise<void> {
  const { db, now, onError } = options
  const { row, job } = file
  const renew = (): Promise<boolean> => renewJob(jobsOf(db), job, now() + leaseMs)
  await whileRenewed({ renew, everyMs: signOfLifeMs, signal: closing, onError }, async (signal) => {
    try {
      signal.throwIfAborted()
      // Hidden until the hold is lifted.
      if (row.work === 'remove' && (await isHeld(db, row.owner_id))) return await putOff(file, options, 'failed')
      if (job.attempts > maxAttempts && (await giveUp(file, options))) return
      await work(row, options, signal)
      await settle(file, options)
    } catch (error) {
      if (!signal.aborted) onError(error)
      await putOff(file, options, signal.aborted ? 'interrupted' : 'failed').catch(onError)
    }
  })
}

async function work(row: Selectable<FileTable>, options: FileWorkerOptions, signal: AbortSignal): Promise<void> {
  if (row.work === 'read') await read(row, options, signal)
  else if (row.work === 'index') await putIntoIndex(row, options, signal)
  else if (row.work === 'decide') await options.decide(toStoredFile(row))
  // Null if another worker has finished it after the claim.
  else if (row.work !== null) await remove(row, options)
}

/** Other work requested meanwhile, such as removal, has changed `work` and waits for this. */
async function settle({ row, job }: ClaimedFile, { db, index }: FileWorkerOptions): Promise<void> {
  // Reading a file records its end and the next work itself.
  const change = row.work === 'index' ? { work: null, attempts: 0 } : {}
  const { numUpdatedRows } = await db
    .updateTable('inlay_files')
    .set({ claim: null, ...change })
    .where('id', '=', job.id)
    .where('claim', '=', job.claim)
    .where((of) => of.or([of('work', '=', row.work), of('work', 'is', null)]))
    .executeTakeFirst()
  if (numUpdatedRows > 0n || (await settleJob(jobsOf(db), job, { due_at: 0 }))) return
  // The lease ran out, and the file was removed before it was put into the index.
  const present = db.selectFrom('inlay_files').select('id').where('id', '=', row.id)
  if (row.work === 'index' && !(await present.executeTakeFirst())) await index?.remove(row.id)
}

async function read(row: Selectable<FileTable>, { readings }: FileWorkerOptions, signal: AbortSignal): Promise<void> {
  try {
    await readings.of(toStoredFile(row), signal)
  } catch (error) {
    // The reason is stored with the file.
    if (!isInlayError(error) || error.code !== 'INVALID_INPUT') throw error
  }
}

async function putIntoIndex(
  row: Selectable<FileTable>,
  { readings, index }: FileWorkerOptions,
  signal: AbortSignal,
): Promise<void> {
  const file = toStoredFile(row)
  const sections = await readings.of(file, signal)
  signal.throwIfAborted()
  const { id, ownerId, name, createdAt } = file
  await index?.put({ id, ownerId, name, sections, createdAt })
}

/** In this order, a killed removal can be repeated. */
async function remove(row: Selectable<FileTable>, { db, blobs, index }: FileWorkerOptions): Promise<void> {
  // Regardless of the row: the index may be written just before the row is.
  await index?.remove(row.id)
  await blobs.remove(row.file_id, Number(row.size_bytes))
  await db.transaction().execute(async (records) => {
    await records.deleteFrom('inlay_file_texts').where('id', '=', row.id).execute()
    await records.deleteFrom('inlay_project_files').where('id', '=', row.id).execute()
    await records.deleteFrom('inlay_files').where('id', '=', row.id).execute()
  })
}

/**
 * Retries later with a growing delay; a file that cannot be read finally fails. Interrupted work is left to the next
 * claim.
 */
async function putOff(
  { row, job }: ClaimedFile,
  { db, now }: FileWorkerOptions,
  cause: 'failed' | 'interrupted',
): Promise<void> {
  const later = { due_at: now() + Math.min(2_000 * 4 ** job.attempts, maxLeaseMs) }
  const failed = { status: 'FAILED', reason: unreadable, work: null } as const
  const isOver = row.work === 'read' && job.attempts >= maxAttempts
  const change = cause === 'interrupted' ? { due_at: now(), attempts: job.attempts - 1 } : isOver ? failed : later
  const { numUpdatedRows } = await db
    .updateTable('inlay_files')
    .set({ claim: null, ...change })
    .where('id', '=', row.id)
    .where('claim', '=', job.claim)
    .where('work', '=', row.work)
    .executeTakeFirst()
  // Other work was requested meanwhile, and waits for this attempt to end.
  if (numUpdatedRows === 0n) await settleJob(jobsOf(db), job, { due_at: now() })
}

/**
 * Gives up work that crashed its process each time; other failures are counted earlier. Removal is retried for ever.
 * @returns whether the work has ended
 */
async function giveUp({ row, job }: ClaimedFile, { db, onError }: FileWorkerOptions): Promise<boolean> {
  if (row.work !== 'read' && row.work !== 'index') return false
  const change = row.work === 'read' ? ({ status: 'FAILED', reason: deadly } as const) : {}
  const isOver = await settleJob(jobsOf(db), job, { work: null, ...change })
  if (isOver) onError(new InlayError('INTERNAL_ERROR', { message: deadly }))
  return isOver
}

const deadly = 'The server ended each time this file was being worked on. Make it smaller, or look into the server log.'
const unreadable = 'The file could not be read, however often it was tried: upload it again.'
