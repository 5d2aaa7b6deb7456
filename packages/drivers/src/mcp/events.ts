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
  let endedInReturn = false
  for await (const bytes of body) {
    let text = decoder.decode(bytes, { stream: true })
    if (text === '') continue
    // A line may end in CR LF, cut between the two.
    if (endedInReturn && text.startsWith('\n')) text = text.slice(1)
    endedInReturn = text.endsWith('\r')
    // Only what is new is looked through: a long line comes in many pieces.
    const [first = '', ...others] = text.split(/\r\n|\n|\r/)
    held += first
    if (held.length > mostCharacters) throw tooLarge()
    const last = others.pop()
    if (last === undefined) continue
    yield held
    yield* others
    held = last
  }
}

function tooLarge(): InlayError {
  return new InlayError('PAYLOAD_TOO_LARGE', { message: 'The MCP server sent an event that is too large.' })
}
