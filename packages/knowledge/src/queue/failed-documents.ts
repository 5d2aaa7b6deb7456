import { type RecordEvents, type RetryPolicy, retryDelayMs } from '@inlay/records'
import { sql } from 'kysely'
import type { DocumentPhase } from '../contracts/documents.ts'
import { lockDocuments, idsOf } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'
import { recordDocumentEvents } from './document-events.ts'

export interface FailedTry {
  readonly id: string
  /** Attempts so far, including this one. */
  readonly attempts: number
  /** Previous attempts that failed because of the document itself. */
  readonly failures: number
  /** Safe to show: contains no content, key, path or address. */
  readonly reason: string
  /** Whether a required service is down, so that the document is not the cause. */
  readonly isOutage: boolean
}

export interface FailureContext {
  readonly claimId: string
  readonly now: number
  /** A number in [0, 1). */
  readonly random: () => number
  readonly policy: RetryPolicy
  readonly recordEvents?: RecordEvents | undefined
}

/**
 * Returns documents to the queue for a later attempt, or marks them as failed, all in one transaction. Skips documents
 * that the claim no longer holds, such as after a newer version.
 */
export async function recordFailures(
  db: Records,
  failed: readonly FailedTry[],
  context: FailureContext,
): Promise<void> {
  if (failed.length === 0) return
  const ids = idsOf(failed)
  const next = failed.map((attempt) => nextTry(attempt, context))
  await db.transaction().execute(async (transaction) => {
    await lockDocuments(transaction, ids)
    const { rows } = await compareAndFail(next, context.claimId).execute(transaction)
    const ended = rows
      .filter(({ state }) => state === 'failed')
      .map(({ id, reason }) => ({ type: 'document.failed', data: { document_id: id, reason } }) as const)
    await recordDocumentEvents(transaction, ended, context.recordEvents)
  })
}

interface NextTry extends Pick<FailedTry, 'id' | 'reason' | 'failures'> {
  readonly state: DocumentPhase
  readonly dueAt: number
}

function nextTry({ id, reason, ...tried }: FailedTry, { policy, now, random }: FailureContext): NextTry {
  const failures = tried.failures + (tried.isOutage ? 0 : 1)
  const isGivenUp = failures >= policy.maxAttempts || tried.attempts >= policy.maxOutageAttempts
  const delayMs = retryDelayMs(tried.isOutage ? tried.attempts : failures, random())
  return {
    id,
    reason,
    failures,
    state: isGivenUp ? 'failed' : 'pending',
    dueAt: isGivenUp ? now : now + delayMs,
  }
}

const compareAndFail = (tries: readonly NextTry[], claimId: string) => sql<Pick<NextTry, 'id' | 'state' | 'reason'>>`
  with tried(id, state, reason, failures, due_at) as (values ${sql.join(
    tries.map(
      (tried) => sql`(
        cast(${tried.id} as text), cast(${tried.state} as text),
        cast(${tried.reason} as text), cast(${tried.failures} as integer), cast(${tried.dueAt} as bigint)
      )`,
    ),
  )})
  update inlay_documents set
    state = tried.state, claim = null, reason = tried.reason, failures = tried.failures, due_at = tried.due_at
  from tried
  where inlay_documents.id = tried.id
    and inlay_documents.id in (select id from tried)
    and inlay_documents.claim = ${claimId}
  returning inlay_documents.id, inlay_documents.state, inlay_documents.reason`
