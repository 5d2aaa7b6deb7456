import { isInlayError } from '@inlay/protocol'

/** Most causes told of one failure. */
const mostCauses = 5

/**
 * What is written of a failure nobody expected: its stack, and those of its causes, without which "the index failed"
 * says nothing. Other fields are left out, as requests and answers of providers stand there.
 * @param hide takes credentials out of a text; providers repeat what they were sent
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

/**
 * One entry of the log: a line for what a provider commonly fails of, the whole report for anything else.
 * @param hide takes credentials out of a text
 */
export function logEntry(
  error: unknown,
  { requestId }: { readonly requestId?: string },
  hide: (text: string) => string,
): string {
  const request = requestId === undefined ? '' : ` (request ${toLine(requestId)})`
  if (isInlayError(error) && error.data['isExpected'] === true) return `${toLine(hide(error.message))}${request}`
  return `something failed unexpectedly${request}: ${errorReport(error, hide)}`
}

/** A text on one line, control characters as escapes: nothing that a provider says may look like a line of our own. */
function toLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    if (character === '\n') return '\\n'
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
  })
}
