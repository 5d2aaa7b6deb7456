import { hasRowLocks, idList, isAmongIds, prepared } from '@inlay/records'
import { releaseFiles } from '../access-and-filters/document-images.ts'
import type { Records } from '../schema/tables.ts'
import type { LaterTask } from './accept-or-remove.ts'

/** Stores a task for the moment when the transaction of `db` is committed. Its large content is stored apart. */
export async function addToInbox(db: Records, task: LaterTask): Promise<void> {
  const version = task.kind === 'accept' ? task.version : undefined
  const large = version?.large && { ...version.large, document: '', parts: [] }
  // Callers of a host may hold more than is asked of them.
  const caller = task.caller && (({ id, email, groups, scopes }) => ({ id, email, groups, scopes }))(task.caller)
  const stored = { ...task, caller, version: version && { ...version, large } }
  await db
    .insertInto('inlay_inbox')
    .values({ document_id: task.id, task: JSON.stringify(stored), large_id: large?.id ?? null })
    .execute()
}

/** Takes all tasks for documents, in order. Call in the transaction that applies them. */
export async function takeFromInbox(db: Records, documentIds: readonly string[]): Promise<readonly LaterTask[]> {
  // No transaction of a host adds to SQLite.
  if (!hasRowLocks(db)) return []
  const rows = await takeRows(db, { ids: idList(db, documentIds) })
  const tasks = rows.toSorted((left, right) => left.id - right.id).map(({ task }) => JSON.parse(task) as LaterTask)
  for (const task of tasks) if (task.kind === 'accept' && task.hold) await releaseFiles(db, task.hold)
  return tasks
}

const takeRows = prepared((db: Records, { ids }: { readonly ids: string }) =>
  db
    .deleteFrom('inlay_inbox')
    .where(isAmongIds(db, 'document_id', ids, 'text'))
    .returning(['id', 'task']),
)

/** Tasks that are applied together: their contents are in memory meanwhile. */
const takenAtOnce = 20

/** Documents that have tasks, the oldest first. */
export async function documentsInInbox(db: Records): Promise<readonly string[]> {
  const rows = await db.selectFrom('inlay_inbox').select('document_id').orderBy('id').limit(takenAtOnce).execute()
  return [...new Set(rows.map((row) => row.document_id))]
}
