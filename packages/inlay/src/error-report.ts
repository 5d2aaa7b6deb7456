import { type ErrorCode, isInlayError } from '@inlay/protocol'

const maxCauses = 5

/**
 * Log text of an unexpected failure: its stack and those of its causes, since the outer message alone explains little.
 * Other fields are omitted, as they contain requests and responses of providers.
 * @param hide removes credentials from a text, since providers repeat what they receive
 */
export function errorReport(error: unknown, hide: (text: string) => string): string {
  const parts: string[] = []
  let at = error
  while (at !== undefined && at !== null && parts.length <= maxCauses) {
    parts.push(at instanceof Error ? stackOf(at, hide) : toLine(hide(String(at))))
    at = at instanceof Error ? at.cause : undefined
  }
  return parts.join('\n  caused by ')
}

/** Stack frames are kept unchanged: they resemble keys, but readers need them. */
function stackOf(error: Error, hide: (text: string) => string): string {
  const { name, message, stack = '' } = error
  const head = stack.indexOf(message) + message.length
  const places = stack.slice(head).split('\n').slice(1)
  return [toLine(hide(`${name}: ${message}`)), ...places.map(toLine)].join('\n')
}

/** Common failures of external services and of the index. */
const outages: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'API_ERROR',
  'AUTH_ERROR',
  'BAD_GATEWAY',
  'BAD_REQUEST',
  'BUDGET_EXCEEDED',
  'CONNECTION_ERROR',
  'GATEWAY_TIMEOUT',
  'INDEX_MISMATCH',
  'NOT_FOUND',
  'PAYLOAD_TOO_LARGE',
  'PERMISSION_DENIED',
  'RATE_LIMIT',
  'REQUEST_TOO_LARGE',
  'SERVICE_UNAVAILABLE',
  'UNPROCESSABLE_ENTITY',
])

/** The messages of an outage and its causes, and the system's error; undefined for any other failure. */
export function outageOf(error: unknown): string | undefined {
  const sentences = new Set<string>()
  let isKnown = false
  let at = error
  for (; isInlayError(at) && sentences.size < maxCauses; at = at.cause) {
    if (!outages.has(at.code)) return undefined
    sentences.add(at.message)
    isKnown ||= at.data['isOutage'] === true
  }
  // The message of a `fetch` error says nothing; its cause does.
  if (at instanceof TypeError && at.cause instanceof Error) at = at.cause
  if (sentences.size === 0) return undefined
  if (at !== undefined && !isOfSystem(at) && !(isKnown && at instanceof Error)) return undefined
  return [...sentences, ...(at === undefined ? [] : [`It says: ${at.message}.`])].join(' ')
}

/** Whether an error comes from a connection, a disk or a timeout, judging by its code and name. */
function isOfSystem(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? error.code : undefined
  // Node reports SQLite's disk errors with this code.
  const isSystemCode = typeof code === 'string' && (!code.startsWith('ERR_') || code === 'ERR_SQLITE_ERROR')
  return isSystemCode || error.name === 'TimeoutError' || error.name === 'AbortError'
}

export interface LoggedFailure {
  readonly report: string
  /** The line of a common failure without its request, by which repetitions are known. */
  readonly line?: string
}

/** One line for common failures of providers and services, the whole report for others. `hide` removes credentials. */
export function logEntry(
  error: unknown,
  { requestId }: { readonly requestId?: string | undefined },
  hide: (text: string) => string,
): LoggedFailure {
  const request = requestId === undefined ? '' : ` (request ${toLine(requestId)})`
  const sentence = isInlayError(error) && error.data['isExpected'] === true ? error.message : outageOf(error)
  if (sentence === undefined) return { report: `something failed unexpectedly${request}: ${errorReport(error, hide)}` }
  const line = toLine(hide(sentence))
  return { line, report: `${line}${request}` }
}

/** Puts a text on one line and escapes control characters, so that a provider's message cannot imitate a log line. */
function toLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    if (character === '\n') return '\\n'
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
  })
}
