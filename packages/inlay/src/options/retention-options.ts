import { namedNumbers } from './kinds.ts'
import { option, type Row } from './rows.ts'

export const retentionNames = [
  'maxSessionDays',
  'maxDeletedSessionDays',
  'maxDeletedAgentDays',
  'maxFileDays',
  'maxAuditDays',
] as const

/** A hundred years. */
const maxDays = 36_500

/** Retention times. Data without one is kept indefinitely. */
export interface RetentionOptions {
  /** Days without a new message after which a session is deleted, with files that only it used. Default: never. */
  readonly maxSessionDays?: number | undefined
  /** Days after which a session deleted by its owner is deleted permanently. Default: never, only hidden. */
  readonly maxDeletedSessionDays?: number | undefined
  /** Days after which a deleted agent is erased. Default: never, only hidden. */
  readonly maxDeletedAgentDays?: number | undefined
  /** Days after which an upload is deleted that nobody has used and that no session, project, agent or document holds. Default: never. */
  readonly maxFileDays?: number | undefined
  /** Days after which an audit entry is deleted. Default: never. */
  readonly maxAuditDays?: number | undefined
}

export const retentionRow: Row<RetentionOptions> = option(
  namedNumbers(
    `entries like maxSessionDays=90, separated by commas, from 1 to ${maxDays} days`,
    'an object of days',
    retentionNames,
    [1, maxDays],
  ),
  'INLAY_RETENTION',
)
