import { InlayError } from '@inlay/protocol'
import type { IncomingMessage } from 'node:http'
import { decoded } from './egress-body.ts'
import {
  checkMediaType,
  defaultMaxBytes,
  defaultTimeoutMs,
  openAddress,
  toEgressError,
  toHeaders,
  type EgressOptions,
  type EgressRequest,
} from './egress.ts'

export interface EgressStreamAnswer {
  /** Final URL, after redirects. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /**
   * Decompressed. Read it to its end or cancel it. Errors: PAYLOAD_TOO_LARGE, BAD_GATEWAY when the connection breaks.
   */
  readonly body: ReadableStream<Uint8Array>
}

/** Fetches untrusted URLs with streamed responses of any duration. */
export type EgressStream = (url: string, request?: EgressRequest) => Promise<EgressStreamAnswer>

/**
 * Creates the streaming client, with the same restrictions as `egress`. The timeout applies to the start of the
 * response; the caller's signal also ends the body.
 */
export function egressStream(options: EgressOptions = {}): EgressStream {
  return async (address, first = {}) => {
    const beginning = new AbortController()
    const timer = setTimeout(() => beginning.abort(), first.timeoutMs ?? options.timeoutMs ?? defaultTimeoutMs)
    const { signal: late } = beginning
    const signal = first.signal ? AbortSignal.any([first.signal, late]) : late
    try {
      const { url, request, message } = await openAddress(address, first, options, signal)
      try {
        checkMediaType(message, request.mediaTypes)
        const maxBytes = request.maxBytes ?? options.maxBytes ?? defaultMaxBytes
        const body = toStream(message, maxBytes, (error) => toEgressError(error, first.signal, late))
        return { url: url.href, status: message.statusCode ?? 0, headers: toHeaders(message), body }
      } catch (error) {
        message.destroy()
        throw error
      }
    } catch (error) {
      throw toEgressError(error, first.signal, late)
    } finally {
      clearTimeout(timer)
    }
  }
}

const maxAnswerBytes = 64 * 1024 * 1024

/** The streaming client as `fetch`, for requests of text. @param timeoutMs longest wait for the beginning of an answer */
export function egressFetch(options: EgressOptions, timeoutMs: number): typeof globalThis.fetch {
  const open = egressStream({ ...options, timeoutMs, maxBytes: maxAnswerBytes })
  return async (input, { method = 'GET', headers, body, signal } = {}) => {
    const {
      status,
      headers: answered,
      body: stream,
    } = await open(String(input), {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { body }),
      ...(signal && { signal }),
    })
    return new Response(status === 204 ? null : stream, { status, headers: answered })
  }
}

function toStream(
  message: IncomingMessage,
  maxBytes: number,
  toError: (error: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const source = decoded(message)
  const parts = source[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  let bytes = 0
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await parts.next()
          if (done === true) return controller.close()
          bytes += value.byteLength
          if (bytes > maxBytes) {
            throw new InlayError('PAYLOAD_TOO_LARGE', {
              message: `The address answers with more than ${maxBytes} bytes.`,
            })
          }
          controller.enqueue(value)
        } catch (error) {
          message.destroy()
          controller.error(toError(error))
        }
      },
      cancel: () => void message.destroy(),
    },
    { highWaterMark: 0 },
  )
}
