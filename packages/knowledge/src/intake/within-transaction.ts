import { InlayError } from '@inlay/protocol'
import { hasRowLocks, inSavepoint, recordsWithin, type HostTransaction } from '@inlay/records'
import { sql } from 'kysely'
import type { Records } from '../schema/tables.ts'
import type { IntakeResult, LaterTask } from './accept-or-remove.ts'
import { previewTask } from './commit-documents.ts'
import { addToInbox } from './inbox.ts'
import { writeLargeContent, type LargeWriting } from './large-content.ts'

/**
 * Creates what adds a task to a transaction of the host, as rows of its own: changing the records would let all other
 * writers wait for the host. It resolves to what would come of the task now.
 */
export function createAddLater(
  db: Records,
  writing: () => LargeWriting,
): (transaction: HostTransaction, task: LaterTask) => Promise<IntakeResult> {
  let schema: string | undefined
  return async (transaction, task) => {
    // The search path of the host may be another one.
    schema ??= await readSchema(db)
    const records = recordsWithin(db, transaction).withSchema(schema)
    return inSavepoint(transaction, async () => {
      const result = await previewTask(records, task)
      if (task.kind === 'accept' && task.version.large) await writeLargeContent(records, task.version.large, writing())
      await addToInbox(records, task)
      return result
    })
  }
}

async function readSchema(db: Records): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select relnamespace::regnamespace::text as name from pg_class where oid = 'inlay_inbox'::regclass`.execute(db)
  return rows[0]!.name
}

const refusals = {
  sqlite:
    'The option transaction needs records in PostgreSQL. SQLite has one writer at a time, so Inlay would wait for your transaction, which waits for Inlay: accept the document after the commit.',
  query:
    'The option transaction must have a method query(sql, parameters): pass a client of pg, or see inlay/transactions for other libraries.',
  waitMs: 'With the option transaction, leave out waitMs: the document is indexed after your commit.',
}

/** @throws UNSUPPORTED for records in SQLite, INVALID_INPUT for something else than a transaction */
export function checkTransaction(db: Records, transaction: HostTransaction | undefined, waitMs = 0): void {
  if (transaction === undefined) return
  if (!hasRowLocks(db)) throw new InlayError('UNSUPPORTED', { message: refusals.sqlite })
  if (typeof transaction?.query !== 'function') throw new InlayError('INVALID_INPUT', { message: refusals.query })
  if (waitMs > 0) throw new InlayError('INVALID_INPUT', { message: refusals.waitMs })
}
