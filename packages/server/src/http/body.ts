import { InlayError, isInlayError, validationFailed } from '@inlay/protocol'
import { codingOf, decompressed } from './content-coding.ts'

/**
 * The body as text, whatever its content type; "" when there is none. A compressed one is unpacked.
 * @throws PAYLOAD_TOO_LARGE above the limit (by `content-length` before anything is read, and for what it is unpacked),
 * VALIDATION_FAILED for bytes that are not UTF-8, BAD_REQUEST when the client went away or the compression is broken,
 * UNSUPPORTED_MEDIA_TYPE for a compression not taken here, INTERNAL_ERROR when somebody read the body before
 */
export async function readText(request: Request, limitBytes: number): Promise<string> {
  const declared = declaredBytes(request)
  if (declared !== undefined && declared > limitBytes) throw tooLarge(limitBytes)
  const coding = codingOf(request)
  try {
    if (coding !== undefined) return decoded(await drain(bodyStream(request), limitBytes))
    // A declared length binds the transport, and `text` is several times cheaper than a stream.
    if (declared !== undefined) return checkedText(await request.text(), declared, limitBytes)
    return decoded(await drain(request.body, limitBytes))
  } catch (error) {
    throw toReadFailure(error, request)
  }
}

/** `text` puts U+FFFD in place of bytes that are not UTF-8, and then the length is no longer the declared one. */
function checkedText(text: string, declaredBytes: number, limitBytes: number): string {
  if (text.length > limitBytes) throw tooLarge(limitBytes)
  if (text.includes('\uFFFD') && new TextEncoder().encode(text).byteLength !== declaredBytes) throw notUtf8()
  return text
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw notUtf8()
  }
}

/**
 * The body as a stream of bytes, unpacked if it is compressed; an empty one when there is none.
 * @throws INTERNAL_ERROR when somebody read the body before, UNSUPPORTED_MEDIA_TYPE for a compression not taken here
 */
export function bodyStream(request: Request): ReadableStream<Uint8Array> {
  if (request.bodyUsed) throw alreadyRead()
  const coding = codingOf(request)
  const body = request.body ?? new ReadableStream({ start: (controller) => controller.close() })
  return coding === undefined ? body : decompressed(body, coding)
}

/** Says that a body, or one line of a batch, is above the limit. */
export function tooLarge(limitBytes: number): InlayError {
  return new InlayError('PAYLOAD_TOO_LARGE', { message: `At most ${limitBytes} bytes are taken here.` })
}

function notUtf8(): InlayError {
  return validationFailed([{ loc: ['body'], msg: 'is not valid UTF-8', type: 'json_invalid' }])
}

async function drain(body: ReadableStream<Uint8Array> | null, limitBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  if (body !== null) {
    // Not `for await`: Safari and older Workers have no async iterator on streams.
    const reader = body.getReader()
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      size += step.value.byteLength
      if (size > limitBytes) {
        void reader.cancel().catch(() => {})
        throw tooLarge(limitBytes)
      }
      pieces.push(step.value)
    }
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}

/** Tells a client that went away from a host that read the body first, and both from what was thrown on purpose. */
function toReadFailure(error: unknown, request: Request): unknown {
  if (isInlayError(error)) return error
  const name = error instanceof Error ? error.name : ''
  if (request.signal.aborted || name === 'AbortError') {
    return new InlayError('BAD_REQUEST', { message: 'The request ended before its body was complete.', cause: error })
  }
  return request.bodyUsed || name === 'TypeError' ? alreadyRead(error) : error
}

function alreadyRead(cause?: unknown): InlayError {
  return new InlayError('INTERNAL_ERROR', {
    message: 'The body was read before it came here: mount Inlay ahead of body parsers such as express.json().',
    cause,
  })
}

/** What `content-length` says; undefined without one. */
export function declaredBytes(request: Request): number | undefined {
  const header = request.headers.get('content-length')
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined
}
