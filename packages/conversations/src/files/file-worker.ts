import { InlayError, isInlayError } from '@inlay/protocol'
import type { Selectable } from 'kysely'
import type { ConversationDatabase } from '../tables/database.ts'
import type { Blobs } from './blobs.ts'
import type { FileIndex } from './contracts.ts'
import { toStoredFile } from './file-records.ts'
import type { FileTable } from '../tables/library-tables.ts'
import type { Readings } from './readings.ts'

/** What the worker is made of. */
export interface FileWorkerOptions {
  readonly db: ConversationDatabase
  readonly blobs: Blobs
  readonly readings: Readings
  readonly index: FileIndex | undefined
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** Does what is still to be done with files, also what an earlier process left. */
export interface FileWorker {
  /** Looks for work now. */
  wake(): void
  /** Resolves once nothing is due any more. */
  settled(): Promise<void>
  /** Finishes what is under way; what is left is taken up by the next process. Idempotent. */
  close(): Promise<void>
}

/** Nobody else takes up work that somebody began, for this long after the last sign of life. */
const leaseMs = 20_000
const signOfLifeMs = 5_000
const mostAttempts = 6
/** Longest the worker sleeps while work is put off: other processes leave some, too. */
const longestSleepMs = 60_000

/** Makes the worker; it moves when it is woken. */
export function createFileWorker(options: FileWorkerOptions): FileWorker {
  const { db, now, onError } = options
  let running: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isWanted = false
  const closing = new AbortController()

  const next = async (): Promise<boolean> => {
    const file = closing.signal.aborted ? undefined : await claim(db, now())
    if (file) await carryOut(file, options, closing.signal)
    return file !== undefined
  }
  const run = async (): Promise<void> => {
    while (isWanted && !closing.signal.aborted) {
      isWanted = false
      while (await next());
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
    timer = setTimeout(wake, Math.min(Math.max(Number(waiting.due_at) - now(), 50), longestSleepMs))
    // Never the reason why a process stays alive; absent in browsers.
    timer.unref?.()
  }
  const wake = (): void => {
    isWanted = true
    clearTimeout(timer)
    if (closing.signal.aborted) return
    running ??= run()
      .catch(onError)
      .finally(() => {
        running = undefined
        if (isWanted && !closing.signal.aborted) wake()
      })
  }
  return {
    wake,
    settled: async () => {
      while (running) await running
    },
    close: async () => {
      closing.abort(new InlayError('CLOSED'))
      clearTimeout(timer)
      await running
    },
  }
}

/** Takes the work that is due longest; the time it may be taken again is the lease. */
async function claim(db: ConversationDatabase, time: number): Promise<Selectable<FileTable> | undefined> {
  for (;;) {
    const due = await db
      .selectFrom('inlay_files')
      .select(['id', 'due_at'])
      .where('work', 'is not', null)
      .where('due_at', '<=', time)
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst()
    if (!due) return undefined
    const claimed = await db
      .updateTable('inlay_files')
      .set((of) => ({ due_at: time + leaseMs, attempts: of('attempts', '+', 1) }))
      .where('id', '=', due.id)
      .where('work', 'is not', null)
      .where('due_at', '=', Number(due.due_at))
      .returningAll()
      .executeTakeFirst()
    // Otherwise another process was faster.
    if (claimed) return claimed
  }
}

/** Does the work of one file; never rejects. */
async function carryOut(row: Selectable<FileTable>, options: FileWorkerOptions, closing: AbortSignal): Promise<void> {
  const { db, now, onError } = options
  const renewal = setInterval(() => {
    const mine = db.updateTable('inlay_files').where('id', '=', row.id).where('work', '=', row.work)
    mine
      .set({ due_at: now() + leaseMs })
      .execute()
      .catch(onError)
  }, signOfLifeMs)
  try {
    closing.throwIfAborted()
    if (row.work === 'read') await read(row, options, closing)
    else if (row.work === 'index') await putIntoIndex(row, options, closing)
    else await remove(row, options)
  } catch (error) {
    if (!closing.aborted) onError(error)
    await putOff(row, options, closing.aborted ? 'interrupted' : 'failed')
  } finally {
    clearInterval(renewal)
  }
}

async function read(row: Selectable<FileTable>, { readings }: FileWorkerOptions, closing: AbortSignal): Promise<void> {
  try {
    await readings.of(toStoredFile(row), closing)
  } catch (error) {
    // The file says so itself now.
    if (!isInlayError(error) || error.code !== 'INVALID_INPUT') throw error
  }
}

async function putIntoIndex(
  row: Selectable<FileTable>,
  { db, readings, index }: FileWorkerOptions,
  closing: AbortSignal,
): Promise<void> {
  const file = toStoredFile(row)
  const sections = await readings.of(file, closing)
  await index?.put({ id: file.id, name: file.name, sections, createdAt: file.createdAt })
  await db
    .updateTable('inlay_files')
    .set({ work: null, attempts: 0 })
    .where('id', '=', row.id)
    .where('work', '=', 'index')
    .execute()
}

/** In an order in which a kill in between leaves the rest to the next try. */
async function remove(row: Selectable<FileTable>, { db, blobs, index }: FileWorkerOptions): Promise<void> {
  if (row.is_indexed === 1) await index?.remove(row.id)
  await blobs.remove(row.file_id, Number(row.size_bytes))
  await db.transaction().execute(async (records) => {
    await records.deleteFrom('inlay_file_texts').where('id', '=', row.id).execute()
    await records.deleteFrom('inlay_project_files').where('id', '=', row.id).execute()
    await records.deleteFrom('inlay_files').where('id', '=', row.id).execute()
  })
}

/**
 * Tries again later, ever more seldom; a file that cannot be read at last fails. What was only interrupted is left to
 * whoever comes next.
 */
async function putOff(
  row: Selectable<FileTable>,
  { db, now, onError }: FileWorkerOptions,
  cause: 'failed' | 'interrupted',
): Promise<void> {
  const later = { due_at: now() + Math.min(2_000 * 4 ** row.attempts, 3_600_000) }
  const failed = { status: 'FAILED', reason: unreadable, work: null } as const
  const isOver = row.work === 'read' && row.attempts >= mostAttempts
  const change = cause === 'interrupted' ? { due_at: now(), attempts: row.attempts - 1 } : isOver ? failed : later
  await db
    .updateTable('inlay_files')
    .set(change)
    .where('id', '=', row.id)
    .where('work', '=', row.work)
    .execute()
    .catch(onError)
}

const unreadable = 'The file could not be read, however often it was tried: upload it again.'
