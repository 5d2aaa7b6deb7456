import { type ErrorCode, isInlayError } from '@inlay/protocol'

/** Most causes told of one failure. */
const mostCauses = 5

/**
 * Log text of an unexpected failure: its stack and those of its causes, without which "the index failed" says nothing.
 * Other fields are omitted, as they contain requests and responses of providers.
 * @param hide removes credentials from a text, since providers repeat what they were sent
 */
export function errorReport(error: unknown, hide: (text: string) => string): string {
  const parts: string[] = []
  let at = error
  while (at !== undefined && at !== null && parts.length <= mostCauses) {
    parts.push(at instanceof Error ? stackOf(at, hide) : toLine(hide(String(at))))
    at = at instanceof Error ? at.cause : undefined
  }
  return parts.join('\n  caused by ')
}

/** Places in the code are kept as they are: they look like keys, and are what a reader needs. */
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

/** The sentences of an outage and its causes, and what the system said of it; undefined for any other failure. */
export function outageOf(error: unknown): string | undefined {
  const sentences = new Set<string>()
  let at = error
  for (; isInlayError(at) && sentences.size < mostCauses; at = at.cause) {
    if (!outages.has(at.code)) return undefined
    sentences.add(at.message)
  }
  // The error of `fetch` itself says nothing; its cause does.
  if (at instanceof TypeError && at.cause instanceof Error) at = at.cause
  if (sentences.size === 0 || (at !== undefined && !isOfSystem(at))) return undefined
  return [...sentences, ...(at === undefined ? [] : [`It says: ${at.message}.`])].join(' ')
}

/** Whether an error comes of a connection, a disk or a time limit, as their codes and names say, and not of our code. */
function isOfSystem(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? error.code : undefined
  // SQLite tells of the disk by a code of Node's.
  const isSystemCode = typeof code === 'string' && (!code.startsWith('ERR_') || code === 'ERR_SQLITE_ERROR')
  return isSystemCode || error.name === 'TimeoutError' || error.name === 'AbortError'
}

/**
 * One entry of the log: a line for what a provider or a service commonly fails of, the whole report for anything else.
 * @param hide takes credentials out of a text
 */
export function logEntry(
  error: unknown,
  { requestId }: { readonly requestId?: string },
  hide: (text: string) => string,
): string {
  const request = requestId === undefined ? '' : ` (request ${toLine(requestId)})`
  const line = isInlayError(error) && error.data['isExpected'] === true ? error.message : outageOf(error)
  if (line !== undefined) return `${toLine(hide(line))}${request}`
  return `something failed unexpectedly${request}: ${errorReport(error, hide)}`
}

/** A text on one line, control characters as escapes: nothing that a provider says may look like a line of our own. */
function toLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    if (character === '\n') return '\\n'
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
  })
}
