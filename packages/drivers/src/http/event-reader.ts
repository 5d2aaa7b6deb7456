import { InlayError } from '@inlay/protocol'
import { createParser } from 'eventsource-parser'

/** One event of a stream of Server-Sent Events. */
export interface ServerEvent {
  /** `message` when the stream names none. */
  readonly event: string
  readonly data: string
  /** The last id that the stream sent; "" when none. */
  readonly id: string
  /** How long to wait before reconnecting after a break, in milliseconds; undefined when the stream never said. */
  readonly retryMs: number | undefined
}

/** Reads Server-Sent Events out of bytes that are cut anywhere. */
export interface EventReader {
  /** Hands each complete event on before it returns. PAYLOAD_TOO_LARGE above 16 Mi characters for one event. */
  push(bytes: Uint8Array): void
}

const maxCharacters = 16 * 2 ** 20

/** Makes a reader. Comments, events without data and an event that its blank line did not end are left out. */
export function createEventReader(onEvent: (event: ServerEvent) => void): EventReader {
  const decoder = new TextDecoder()
  let id = ''
  let retryMs: number | undefined
  let isTooLarge = false
  const parser = createParser({
    maxBufferSize: maxCharacters,
    // Also called for events without data, which move the cursor all the same.
    onId: (last) => (id = last),
    onRetry: (delayMs) => (retryMs = delayMs),
    onEvent: ({ event = 'message', data }) => onEvent({ event, data, id, retryMs }),
    onError: ({ type }) => (isTooLarge ||= type === 'max-buffer-size-exceeded'),
  })
  return {
    push: (bytes) => {
      parser.feed(decoder.decode(bytes, { stream: true }))
      if (isTooLarge)
        throw new InlayError('PAYLOAD_TOO_LARGE', { message: 'The server sent an event that is too large.' })
    },
  }
}

/** Reads the events of a body as they arrive; leaving the loop cancels the body. PAYLOAD_TOO_LARGE as above. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let events: ServerEvent[] = []
  const reader = createEventReader((event) => events.push(event))
  for await (const bytes of body) {
    reader.push(bytes)
    const complete = events
    events = []
    yield* complete
  }
}
