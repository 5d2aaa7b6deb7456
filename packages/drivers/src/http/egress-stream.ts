import { InlayError } from '@inlay/protocol'
import type { IncomingMessage } from 'node:http'
import { decoded } from './egress-body.ts'
import {
  checkMediaType,
  defaultLimitBytes,
  defaultTimeoutMs,
  openAddress,
  toEgressError,
  toHeaders,
  type EgressOptions,
  type EgressRequest,
} from './egress.ts'

/** An answer whose body is read as it arrives. */
export interface EgressStreamAnswer {
  /** Final URL, after redirects. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** Without its content encoding. Read it to its end or cancel it; PAYLOAD_TOO_LARGE, BAD_GATEWAY when it breaks off. */
  readonly body: ReadableStream<Uint8Array>
}

/** Fetches addresses that somebody else chose, for answers that take as long as they take. */
export type EgressStream = (url: string, request?: EgressRequest) => Promise<EgressStreamAnswer>

/**
 * Makes the client for streams: it goes where `egress` goes and refuses what `egress` refuses. Its time limit is one for
 * the beginning of the answer; the caller's signal ends the body too.
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
        const limitBytes = request.limitBytes ?? options.limitBytes ?? defaultLimitBytes
        const body = toStream(message, limitBytes, (error) => toEgressError(error, first.signal, late))
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

function toStream(
  message: IncomingMessage,
  limitBytes: number,
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
          if (bytes > limitBytes) {
            throw new InlayError('PAYLOAD_TOO_LARGE', {
              message: `The address answers with more than ${limitBytes} bytes.`,
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
