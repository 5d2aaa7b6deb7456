import type { Conversations } from '@inlay/conversations'
import { whileHeld, type AnyDatabase } from '@inlay/records'
import type { AuditLog } from '@inlay/server'
import type { RetentionOptions } from '../options/retention-options.ts'
import type { Closable } from './destroy-parts.ts'
import { audited } from './host-audit.ts'

const dayMs = 86_400_000
const everyMs = 3_600_000
/** Batch sizes: small, so that a batch does not delay other writes. */
const maxSessions = 20
const maxAgents = 100
const maxFiles = 100
const maxAuditRows = 500
/** Pause between batches, so that other requests are handled. */
const pauseMs = 20

export interface RetentionParts {
  readonly db: AnyDatabase
  readonly agent: Pick<Conversations, 'eraseExpired' | 'eraseDeletedPersonas' | 'eraseUnusedUploads'>
  readonly audit: AuditLog
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** At the start and then every hour, in small batches; of several processes with the same database, one at a time. */
export function startRetention(retention: RetentionOptions, parts: RetentionParts): Closable {
  if (Object.values(retention).every((days) => days === undefined)) return { close: async () => {} }
  const closing = new AbortController()
  const job = { job: 'retention', owner: crypto.randomUUID(), signal: closing.signal }
  let running: Promise<void> | undefined
  const run = (): void => {
    running ??= whileHeld(parts.db, { ...parts, ...job }, (signal) => applyRetention(retention, parts, signal))
      .then(() => {}, parts.onError)
      .finally(() => (running = undefined))
  }
  run()
  const timer = setInterval(run, everyMs)
  timer.unref()
  return {
    close: async () => {
      clearInterval(timer)
      closing.abort()
      await running
    },
  }
}

async function applyRetention(
  { maxSessionDays, maxDeletedSessionDays, maxDeletedAgentDays, maxFileDays, maxAuditDays }: RetentionOptions,
  { agent, audit, now }: RetentionParts,
  signal: AbortSignal,
): Promise<void> {
  const before = (days: number | undefined): number | undefined =>
    days === undefined ? undefined : now() - days * dayMs
  const inBatches = async (work: () => Promise<number>): Promise<number> => {
    let sum = 0
    while (!signal.aborted) {
      const count = await work()
      if (count === 0) break
      sum += count
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    return sum
  }
  const sessions = await inBatches(() =>
    agent.eraseExpired({
      unchangedSince: before(maxSessionDays),
      deletedBefore: before(maxDeletedSessionDays),
      limit: maxSessions,
    }),
  )
  const deletedBefore = before(maxDeletedAgentDays)
  const agents =
    deletedBefore === undefined
      ? 0
      : await inBatches(() => agent.eraseDeletedPersonas({ deletedBefore, limit: maxAgents }))
  const unusedSince = before(maxFileDays)
  let after: string | undefined
  let files = 0
  if (unusedSince !== undefined)
    // The others are passed over, since what holds a file is not in its row.
    await inBatches(async () => {
      const batch = await agent.eraseUnusedUploads({ unusedSince, after, limit: maxFiles })
      after = batch.last
      files += batch.erased
      return batch.last === undefined ? 0 : 1
    })
  const auditBefore = before(maxAuditDays)
  const events = auditBefore === undefined ? 0 : await inBatches(() => audit.removeBefore(auditBefore, maxAuditRows))
  const counts = { sessions, agents, files, events }
  const erased = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]))
  if (sessions + agents + files + events > 0) await audited(audit, 'applyRetention', erased, async () => {})
}
