import { InlayError } from '@inlay/protocol'
import { tlsFault } from '../http/tls-fault.ts'
import { movingFailure } from './moving.ts'

/** Name of the setting for the database, for messages. */
export type SettingName = 'INLAY_DATABASE_URL' | 'INLAY_INDEX_URL'

/** Error codes of Node for connection failures, and of PostgreSQL for connections that it closes or refuses. */
const outageCodes = /^(ECONN\w+|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|08\w{3}|57P0\d|53300)$/
/** The errors of `pg` itself have no code. */
const outageMessages =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when|timeout expired)/

interface Refusal {
  readonly message: string
  readonly retryAfterSeconds: number
  readonly isForOperator?: boolean
  readonly isFullDisk?: boolean
  /** The errors of `pg` for broken connections have no code by which the log could tell. */
  readonly isOutage?: true
}

/** An outage, a full disk, or a wrong `setting`; undefined for others, such as a wrong statement. */
export function toPostgresFailure(cause: unknown, setting: SettingName): InlayError | undefined {
  const moving = movingFailure(cause)
  if (moving) return moving
  const refusal = refusalOf(cause, settingNames[setting])
  if (!refusal) return undefined
  const { message, ...data } = refusal
  return new InlayError('SERVICE_UNAVAILABLE', { message, cause, retryable: true, data })
}

const settingNames: Readonly<Record<SettingName, string>> = {
  INLAY_DATABASE_URL: 'INLAY_DATABASE_URL, or the option database',
  INLAY_INDEX_URL: 'INLAY_INDEX_URL (INLAY_DATABASE_URL, where that is not set), or the option index',
}

/** Retry delay for errors that require a change by the operator. */
const changeSeconds = 30

function refusalOf(error: unknown, setting: string): Refusal | undefined {
  const { code = '', message = '' } = Object(error) as { code?: string; message?: string }
  if (outageCodes.test(code) || outageMessages.test(message))
    return { message: 'The database does not respond: try again in a moment.', retryAfterSeconds: 2, isOutage: true }
  const sentence =
    tlsFault(error, setting) ?? extensionFault(message) ?? sentences.find(([form]) => form.test(code))?.[1]
  if (sentence)
    return {
      message: sentence.replace('{setting}', setting),
      retryAfterSeconds: changeSeconds,
      isForOperator: true,
      ...(fullDisk.test(code) && { isFullDisk: true }),
    }
  if (message.startsWith('The server does not support SSL'))
    return {
      message: `The database server does not support TLS: remove sslmode from ${setting}, or enable TLS on the server.`,
      retryAfterSeconds: changeSeconds,
      isForOperator: true,
    }
  return undefined
}

/** pgvector that is not installed, or that the role may not create. */
const extensionFault = (message: string): string | undefined =>
  message.includes('extension "vector"')
    ? 'The database lacks pgvector: install it on the server and run `create extension vector` as its administrator, or set another index in {setting}.'
    : undefined

const fullDisk = /^(53100|58030)$/

/** Instructions by PostgreSQL error code. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [fullDisk, 'The disk of the database is full or failing: free some space.'],
  [/^53/, 'The database has run out of memory or another resource: give it more, or fewer connections.'],
  [
    /^55P03$/,
    'Another session holds a lock in the database of {setting}: find it with pg_blocking_pids(), and end it.',
  ],
  [/^25006$/, 'The database is read-only or a standby: set the primary in {setting}.'],
  [
    /^28/,
    'The database refused the role, its password or this kind of connection: check user, password and sslmode in {setting}.',
  ],
  [/^3D000$/, 'The database does not exist: create it, or set another one in {setting}.'],
  [
    /^3F000$/,
    'The search path contains no schema that the role may use: grant it USAGE and CREATE on one, or set another role in {setting}.',
  ],
  [
    /^42501$/,
    'The role lacks a privilege in the database: run this with the owner of the tables inlay_… in {setting}, or grant the role USAGE and CREATE on the schema, and all privileges on these tables.',
  ],
]
