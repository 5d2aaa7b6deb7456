export {
  dropNoted,
  forgetChanges,
  notedChanges,
  noteKeys,
  onChanges,
  changesTable,
  type ChangePolicy,
  type NotedChanges,
} from './changes.ts'
export {
  copiedTables,
  copyRows,
  copySequence,
  countRows,
  keysOf,
  rowsOf,
  type CopiedRow,
  type CopiedRows,
  type CopiedTable,
  type RowKey,
} from './copy-rows.ts'
export { openDatabaseClock, type DatabaseClock } from './database-clock.ts'
export { dialectOf, hasRowLocks, type AnyDatabase, type DialectName } from './dialect.ts'
export { createGroupCommit, type GroupCommit, type GroupCommitOptions, type Outcome } from './group-commit.ts'
export {
  createHolds,
  holdTable,
  isHeld,
  isUnheld,
  lockHolds,
  refuseHeld,
  removeOf,
  type Hold,
  type Holds,
} from './holds.ts'
export { inSavepoint, recordsWithin, type HostTransaction } from './host-transaction.ts'
export {
  holdJob,
  isLeaseHeld,
  jobLeaseTable,
  maxLeaseMs,
  releaseJob,
  whileHeld,
  whileRenewed,
  type BigInteger,
  type JobLease,
  type JobLeaseRow,
  type NullableBigInteger,
} from './leases.ts'
export { emptyLog } from './log.ts'
export {
  dropTables,
  migrate,
  type MigrationMode,
  type MigrationPlan,
  type Migrations,
  type MigrationStep,
} from './migrate.ts'
export type { EventData, OutgoingEvent, RecordEvents } from './outbox.ts'
export { prepared, preparedRows } from './prepared.ts'
export {
  createProcessPresence,
  createProcessRecord,
  type ProcessPresence,
  type ProcessProbe,
  type ProcessRecord,
} from './presence.ts'
export { createSharedTransactions, type SharedTransactions, type Write } from './group-commit.ts'
export { claimJob, claimRow, renewJob, settleJob, type ClaimedJob, type JobTable } from './jobs.ts'
export { interruptionDelayMs, maxInterruptions, retryDelayMs, type RetryPolicy } from './retry.ts'
export { createTables, statements } from './schema.ts'
export { tableSizes, type TableSize } from './table-sizes.ts'
export { amongValues, arrayLiteral, idList, isAmong, isAmongIds } from './value-sets.ts'
