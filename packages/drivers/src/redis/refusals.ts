import { InlayError, isInlayError } from '@inlay/protocol'
import { tlsFault } from '../http/tls-fault.ts'

const setting = 'INLAY_REDIS_URL, or the option sharedRuns'

/** By the first words of the error message. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [
    /^(WRONGPASS|NOAUTH|ERR AUTH|ERR invalid password|ERR Client sent AUTH)/,
    `Redis refuses the user or the password. Check both in ${setting}.`,
  ],
  [
    /^NOPERM/,
    `The user of Redis lacks a right: allow it all commands on the keys of its prefix, or name another one in ${setting}.`,
  ],
  [
    /^ERR (DB index|invalid DB index|SELECT)/,
    `Redis has no database with this number: check the end of the address in ${setting}.`,
  ],
  [/^(OOM|MISCONF)/, 'Redis is full or cannot write to its disk: give it more room.'],
  [
    /^(READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|TRYAGAIN)/,
    `Redis takes no writes now: name its primary in ${setting}, or wait until it is ready.`,
  ],
  [/^ERR unknown command/, 'This server lacks commands that are needed: use Redis 6.2, Valkey 7.2 or newer.'],
]

export function toRedisFailure(error: unknown): InlayError {
  if (isInlayError(error)) return error
  const said = error instanceof Error ? error.message : ''
  const sentence = tlsFault(error, setting) ?? sentences.find(([form]) => form.test(said))?.[1]
  // A known refusal needs no cause; any other error keeps its cause.
  const known = sentence === undefined ? { message: 'Redis cannot be reached.', cause: error } : { message: sentence }
  const data = { isOutage: true, ...(sentence !== undefined && { isForOperator: true }) }
  return new InlayError('SERVICE_UNAVAILABLE', { ...known, retryable: true, data })
}

/** Refusals begin with a word in capitals; for ended connections the client has sentences, and Node system calls. */
export function isRedisFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isLost = /^(Socket |The client is |Disconnects client|Connection timeout)/.test(error.message)
  return isLost || 'syscall' in error || /^[A-Z]{3,} /.test(error.message)
}
