import { InlayError, isInlayError } from '@inlay/protocol'
import type { IncomingMessage } from 'node:http'
import { decompressed } from './decompression.ts'
import { openAddress, refused, type EgressOptions, type EgressRequest } from './egress-open.ts'

export interface EgressStreamAnswer {
  /** Final URL, after redirects. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** Decompressed; read or cancel it. Errors: PAYLOAD_TOO_LARGE, BAD_GATEWAY when the connection breaks. */
  readonly body: ReadableStream<Uint8Array>
}

export type EgressStream = (url: string, request?: EgressRequest) => Promise<EgressStreamAnswer>

/** Restricted as `egress`. The timeout is that of the response's start; the caller's signal also ends the body. */
export function egressStream(options: EgressOptions = {}): EgressStream {
  return async (address, first = {}) => {
    const beginning = new AbortController()
    const timer = setTimeout(() => beginning.abort(), first.timeoutMs ?? options.timeoutMs ?? defaultTimeoutMs)
    const { signal: late } = beginning
    const signal = first.signal ? AbortSignal.any([first.signal, late]) : late
    try {
      const { url, request, message } = await openAddress(address, first, options, signal)
      try {
        // Default of RFC 9110 (8.3) for a response without a content type.
        const mediaType = (message.headers['content-type'] ?? 'application/octet-stream').toLowerCase()
        if (request.mediaTypes && !request.mediaTypes.some((beginning) => mediaType.startsWith(beginning)))
          throw refused('The address answers with a kind of content that is not taken here.')
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

export const defaultTimeoutMs = 20_000
/** Most bytes of a body, after decompression. */
const defaultMaxBytes = 10_485_760

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

/** Headers of a response; those that occur more than once stay apart where they have to. */
function toHeaders(message: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers))
    for (const item of Array.isArray(value) ? value : [value ?? '']) headers.append(name, item)
  return headers
}

/** The decompressed body, which ends as soon as it is too large: a decompression bomb costs no more than the limit. */
function toStream(
  message: IncomingMessage,
  maxBytes: number,
  toError: (error: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const source = decompressed(message)
  if (!source) throw badGateway('The address answers in a content encoding that is not known here.')
  const tooLarge = (): InlayError =>
    new InlayError('PAYLOAD_TOO_LARGE', { message: `The address answers with more than ${maxBytes} bytes.` })
  if (source === message && Number(message.headers['content-length']) > maxBytes) throw tooLarge()
  const parts = source[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  let bytes = 0
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await parts.next().catch((error: unknown) => {
            throw badGateway('The response broke off or could not be unpacked.', error)
          })
          if (done === true) return controller.close()
          bytes += value.byteLength
          if (bytes > maxBytes) throw tooLarge()
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

const badGateway = (message: string, cause?: unknown): InlayError => new InlayError('BAD_GATEWAY', { message, cause })

/** The reason of the caller's signal if it aborted, otherwise an error without any address. */
export function toEgressError(error: unknown, callers: AbortSignal | undefined, timeout: AbortSignal): unknown {
  if (callers?.aborted) return callers.reason
  if (timeout.aborted)
    return new InlayError('GATEWAY_TIMEOUT', { message: 'The address did not answer in time.', cause: error })
  return isInlayError(error) ? error : badGateway('The address could not be reached.', error)
}
