import { type RetryPolicy, retryDelayMs } from '@inlay/records'
import { sql } from 'kysely'
import type { DocumentPhase } from '../contracts/documents.ts'
import { lockDocuments } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

export interface FailedTry {
  readonly id: string
  readonly revision: number
  /** Tries so far, this one included. */
  readonly attempts: number
  /** Tries before this one that failed by the document's own fault. */
  readonly failures: number
  /** Safe to show: no content, key, path or address. */
  readonly reason: string
  /** Whether something that the document needs is down, rather than the document bad. */
  readonly isOutage: boolean
}

/** Under what a failure is recorded. */
export interface FailureContext {
  readonly claimId: string
  readonly now: number
  /** A number in [0, 1). */
  readonly random: () => number
  readonly policy: RetryPolicy
}

/**
 * Puts documents back into the queue for a later try, or gives them up, visibly; all in one transaction. A newer version
 * of a document is left alone.
 */
export async function recordFailures(
  db: Records,
  failed: readonly FailedTry[],
  context: FailureContext,
): Promise<void> {
  if (failed.length === 0) return
  const ids = failed.map(({ id }) => id)
  const next = failed.map((attempt) => nextTry(attempt, context))
  await db.transaction().execute(async (transaction) => {
    await lockDocuments(transaction, ids)
    await compareAndFail(next, context.claimId).execute(transaction)
  })
}

interface NextTry extends Pick<FailedTry, 'id' | 'revision' | 'reason' | 'failures'> {
  readonly state: DocumentPhase
  readonly dueAt: number
}

function nextTry({ id, revision, reason, ...tried }: FailedTry, { policy, now, random }: FailureContext): NextTry {
  const failures = tried.failures + (tried.isOutage ? 0 : 1)
  const isGivenUp = failures >= policy.attemptLimit || tried.attempts >= policy.outageAttemptLimit
  const delayMs = retryDelayMs(tried.isOutage ? tried.attempts : failures, random())
  return {
    id,
    revision,
    reason,
    failures,
    state: isGivenUp ? 'failed' : 'pending',
    dueAt: isGivenUp ? now : now + delayMs,
  }
}

// oxlint-disable-next-line typescript/explicit-function-return-type -- the builder's type is the query
const compareAndFail = (tries: readonly NextTry[], claimId: string) => sql`
  with tried(id, revision, state, reason, failures, due_at) as (values ${sql.join(
    tries.map(
      (tried) => sql`(
        cast(${tried.id} as text), cast(${tried.revision} as bigint), cast(${tried.state} as text),
        cast(${tried.reason} as text), cast(${tried.failures} as integer), cast(${tried.dueAt} as bigint)
      )`,
    ),
  )})
  update inlay_documents set
    state = tried.state, claim = null, reason = tried.reason, failures = tried.failures, due_at = tried.due_at
  from tried
  where inlay_documents.id = tried.id
    and inlay_documents.revision = tried.revision
    and inlay_documents.claim = ${claimId}`
