import { InlayError } from '@inlay/protocol'
import { tlsFault } from '../http/tls-fault.ts'

/** Names the setting that says how the database is reached. */
export type SettingName = 'INLAY_DATABASE_URL' | 'INLAY_INDEX_URL'

/** Error codes of Node for connections, and of PostgreSQL for connections that it ends or cannot accept. */
const outageCodes = /^(ECONN\w+|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|08\w{3}|57P0\d|53300)$/
/** The errors of `pg` itself have no code. */
const outageMessages =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when|timeout expired)/

interface Refusal {
  readonly message: string
  readonly retryAfterSeconds: number
  readonly isFullDisk?: boolean
}

/**
 * An error of PostgreSQL as callers are to know it: an outage, a full disk, or a setting that is wrong. Undefined for any
 * other, such as a wrong statement.
 * @param setting that is to be changed where the server refuses the role, the database or the connection
 */
export function toPostgresFailure(cause: unknown, setting: SettingName): InlayError | undefined {
  const refusal = refusalOf(cause, `${setting}, or the option engines.${settingOptions[setting]}`)
  if (!refusal) return undefined
  const { message, ...data } = refusal
  return new InlayError('SERVICE_UNAVAILABLE', { message, cause, retryable: true, data })
}

const settingOptions: Readonly<Record<SettingName, string>> = {
  INLAY_DATABASE_URL: 'database',
  INLAY_INDEX_URL: 'index',
}

/** Somebody has to change something before it goes well again. */
const changeSeconds = 30

function refusalOf(error: unknown, setting: string): Refusal | undefined {
  const { code = '', message = '' } = Object(error) as { code?: string; message?: string }
  if (outageCodes.test(code) || outageMessages.test(message))
    return { message: 'The database does not answer: try again in a moment.', retryAfterSeconds: 2 }
  const sentence = tlsFault(error) ?? sentences.find(([form]) => form.test(code))?.[1]
  if (sentence)
    return {
      message: sentence.replace('{setting}', setting),
      retryAfterSeconds: changeSeconds,
      ...(fullDisk.test(code) && { isFullDisk: true }),
    }
  if (message.startsWith('The server does not support SSL'))
    return {
      message: `The database server takes no TLS: remove sslmode from ${setting}, or turn TLS on there.`,
      retryAfterSeconds: changeSeconds,
    }
  return undefined
}

const fullDisk = /^(53100|58030)$/

/** By the codes of PostgreSQL. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [fullDisk, 'The disk of the database is full or fails: free some space there.'],
  [/^53/, 'The database has run out of memory or another resource: give it more, or fewer connections.'],
  [/^25006$/, 'The database takes no writes: it is a standby, or read-only. Name the primary in {setting}.'],
  [
    /^28/,
    'The database refuses the role, its password or this kind of connection: check user, password and sslmode in {setting}.',
  ],
  [/^3D000$/, 'The database does not exist: create it, or name another one in {setting}.'],
  [
    /^3F000$/,
    'The search path names no schema that the role may use: grant it USAGE and CREATE on one, or name another role in {setting}.',
  ],
  [
    /^42501$/,
    'The role lacks a right in the database: grant it USAGE and CREATE on the schema, and all rights on the tables inlay_…, or name their owner in {setting}.',
  ],
]
