import { InlayError } from '@inlay/protocol'
import { createParser } from 'eventsource-parser'

export interface ServerEvent {
  /** `message` when the stream names none. */
  readonly event: string
  readonly data: string
  /** Last event id of the stream; "" when there is none. */
  readonly id: string
  /** Reconnection delay in milliseconds; undefined when the stream does not set one. */
  readonly retryMs: number | undefined
}

const maxCharacters = 16 * 2 ** 20

/** Skips comments, events without data and an unterminated last event. */
export function createEventReader(onEvent: (event: ServerEvent) => void) {
  const decoder = new TextDecoder()
  let id = ''
  let retryMs: number | undefined
  let isTooLarge = false
  const parser = createParser({
    maxBufferSize: maxCharacters,
    // Also called for events without data, which update the last id.
    onId: (last) => (id = last),
    onRetry: (delayMs) => (retryMs = delayMs),
    onEvent: ({ event = 'message', data }) => onEvent({ event, data, id, retryMs }),
    onError: ({ type }) => (isTooLarge ||= type === 'max-buffer-size-exceeded'),
  })
  return {
    /** Emits each complete event before it returns. @throws PAYLOAD_TOO_LARGE above 16 Mi characters for one event */
    push: (bytes: Uint8Array): void => {
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
