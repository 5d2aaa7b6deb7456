import { InlayError } from '@inlay/protocol'

/** One event of a stream. */
export interface ServerEvent {
  /** `message` when the stream names none. */
  readonly event: string
  readonly data: string
  /** The last id that the stream told; "" when none. */
  readonly id: string
  /** How long to wait before reading on after a break, in milliseconds; undefined when the stream never said. */
  readonly retryMs: number | undefined
}

const mostCharacters = 16 * 2 ** 20

/** Reads Server-Sent Events as they arrive; one that its blank line did not end is left out. PAYLOAD_TOO_LARGE above 16 Mi characters. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let id = ''
  let retryMs: number | undefined
  let event = ''
  let data: string[] = []
  let size = 0
  for await (const line of readLines(body)) {
    if (line === '') {
      // An event without data still moves the cursor.
      if (data.length > 0) yield { event: event || 'message', data: data.join('\n'), id, retryMs }
      event = ''
      data = []
      size = 0
      continue
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') {
      data.push(value)
      size += value.length
      if (size > mostCharacters) throw tooLarge()
    } else if (field === 'event') event = value
    else if (field === 'id') id = value
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value)
  }
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let held = ''
  for await (const bytes of body) {
    held += decoder.decode(bytes, { stream: true })
    if (held.length > mostCharacters) throw tooLarge()
    // A return at the very end may be the first half of a line end.
    const whole = held.endsWith('\r') ? held.slice(0, -1) : held
    const lines = whole.split(/\r\n|\n|\r/)
    held = (lines.pop() ?? '') + held.slice(whole.length)
    yield* lines
  }
}

function tooLarge(): InlayError {
  return new InlayError('PAYLOAD_TOO_LARGE', { message: 'The MCP server sent an event that is too large.' })
}
