import { InlayError, isInlayError, validationFailed } from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/scheduling'
import type { CapacityShare } from '../limits/shared-capacity.ts'
import type { ServerSettings } from './settings.ts'

/** Larger documents are read in pieces. */
export const largeBytes: number = 2 ** 20

export interface BodyReading {
  readonly maxBytes: number
  /** Larger bodies are returned as a stream. Default: always return the whole body. */
  readonly wholeBytes?: number
  /** Called with the number of bytes read so far if the size is not declared; an error stops reading. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/**
 * Reads the body as text, whatever its content type; "" if there is none. Decompresses it if necessary.
 * @throws PAYLOAD_TOO_LARGE above the limit (by `content-length` before reading, and by decompressed size),
 * VALIDATION_FAILED for bytes that are not UTF-8, BAD_REQUEST when the client disconnected or the compression is
 * broken, UNSUPPORTED_MEDIA_TYPE for an unsupported compression or a form that the host has read, INTERNAL_ERROR for
 * any other body that the host has read
 * @returns a body larger than `wholeBytes` as a stream with the same errors, except for invalid UTF-8
 */
export function readText(request: Request, reading: Omit<BodyReading, 'wholeBytes'>): Promise<string>
export function readText(request: Request, reading: BodyReading): Promise<string | AsyncIterable<Uint8Array>>
export async function readText(request: Request, reading: BodyReading): Promise<string | AsyncIterable<Uint8Array>> {
  const { maxBytes, wholeBytes = Infinity } = reading
  const declared = declaredBytes(request)
  if (declared !== undefined && declared > maxBytes) throw tooLarge(maxBytes)
  const coding = request.headers.has('content-encoding') ? codingOf(request) : undefined
  let bytes: Uint8Array | AsyncIterable<Uint8Array>
  try {
    // The transport enforces a declared length, and `text` is several times cheaper than a stream.
    if (coding === undefined && declared !== undefined && declared <= wholeBytes)
      return checkedText(await request.text(), declared, maxBytes)
    if (coding === undefined && request.bodyUsed) throw alreadyRead(request)
    bytes = await drain(coding === undefined ? request.body : bodyStream(request), request, reading)
  } catch (error) {
    throw toReadFailure(error, request)
  }
  if (!(bytes instanceof Uint8Array)) return bytes
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw notUtf8()
  }
}

/** `text` replaces invalid UTF-8 with U+FFFD, which changes the length. */
function checkedText(text: string, declaredBytes: number, maxBytes: number): string {
  if (text.length > maxBytes) throw tooLarge(maxBytes)
  if (text.includes('\uFFFD') && new TextEncoder().encode(text).byteLength !== declaredBytes) throw notUtf8()
  return text
}

/**
 * The decompressed body as a byte stream; empty if there is none.
 * @throws INTERNAL_ERROR when the body was already read, UNSUPPORTED_MEDIA_TYPE for an unsupported compression
 */
export function bodyStream(request: Request): ReadableStream<Uint8Array> {
  if (request.bodyUsed) throw alreadyRead(request)
  const coding = codingOf(request)
  const body = request.body ?? new ReadableStream({ start: (controller) => controller.close() })
  return coding === undefined ? body : decompressed(body, coding)
}

export function tooLarge(maxBytes: number): InlayError {
  return new InlayError('PAYLOAD_TOO_LARGE', { message: `The limit here is ${maxBytes} bytes.` })
}

function notUtf8(): InlayError {
  return validationFailed([{ loc: ['body'], msg: 'is not valid UTF-8', type: 'json_invalid' }])
}

async function drain(
  body: ReadableStream<Uint8Array> | null,
  request: Request,
  { maxBytes, wholeBytes = Infinity, onBytes }: BodyReading,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const pieces: Uint8Array[] = []
  let size = 0
  if (body !== null) {
    // Not `for await`: Safari and older Workers have no async iterator on streams.
    const reader = body.getReader()
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      size += step.value.byteLength
      try {
        if (size > maxBytes) throw tooLarge(maxBytes)
        onBytes?.(size)
      } catch (error) {
        void letGo(reader).catch(() => {})
        throw error
      }
      pieces.push(step.value)
      if (size > wholeBytes) return rest(pieces, reader, { request, maxBytes, onBytes })
    }
  }
  const [first, ...others] = pieces
  return first && others.length === 0 ? first : joinBytes(pieces, size)
}

/** Yields the bytes already read, then the rest. */
async function* rest(
  begun: Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { request, maxBytes, onBytes }: BodyReading & { readonly request: Request },
): AsyncGenerator<Uint8Array> {
  let [size, isRead] = [0, false]
  try {
    while (!isRead) {
      const step = begun.length > 0 ? { done: false, value: begun.shift() } : await reader.read()
      isRead = step.done
      if (!step.value) continue
      size += step.value.byteLength
      if (size > maxBytes) throw tooLarge(maxBytes)
      onBytes?.(size)
      yield step.value
    }
  } catch (error) {
    throw toReadFailure(error, request)
  } finally {
    if (!isRead) void letGo(reader).catch(() => {})
  }
}

export function joinBytes(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}

/**
 * Distinguishes a client that disconnected, a host that read the body first, and errors thrown on purpose.
 * @param hasBegun whether part of the body was received
 */
export function toReadFailure(error: unknown, request: Request, hasBegun = false): unknown {
  if (isInlayError(error)) return error
  const name = error instanceof Error ? error.name : ''
  if (request.signal.aborted || name === 'AbortError') return incomplete(error)
  if (isHostLimit(error)) {
    const message = 'The app that Inlay is mounted in refuses bodies this large: raise its own limit.'
    return new InlayError('PAYLOAD_TOO_LARGE', { message, cause: error })
  }
  if (hasBegun) return incomplete(error)
  return request.bodyUsed || name === 'TypeError' ? alreadyRead(request, error) : error
}

const incomplete = (cause: unknown): InlayError =>
  new InlayError('BAD_REQUEST', { message: 'The request ended before its body was complete.', cause })

/** Frameworks with a body limit fail the stream: SvelteKit with a status, Astro with a message. */
function isHostLimit(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('status' in error && error.status === 413) || /size limit exceeded/i.test(error.message)
}

function alreadyRead(request: Request, cause?: unknown): InlayError {
  // No route accepts these forms: `curl -d` sends JSON with this type.
  if (/^application\/x-www-form-urlencoded/i.test(request.headers.get('content-type') ?? ''))
    return new InlayError('UNSUPPORTED_MEDIA_TYPE', {
      message:
        'The app that Inlay is mounted in parsed the body as a form: send the header Content-Type: application/json.',
      cause,
    })
  return new InlayError('INTERNAL_ERROR', {
    message: 'The body was read before it came here: mount Inlay ahead of body parsers such as express.json().',
    cause,
  })
}

/** The value of `content-length`; undefined without one. */
export function declaredBytes(request: Request): number | undefined {
  const header = request.headers.get('content-length')
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined
}

/** Supported content codings, with their names for `DecompressionStream`. */
const formats: Readonly<Record<string, CompressionFormat | 'identity'>> = {
  '': 'identity',
  identity: 'identity',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
}

/** Supported codings, sent as `accept-encoding` with a refusal. */
const takenCodings = 'gzip, deflate'

/** Undefined if there is none. @throws UNSUPPORTED_MEDIA_TYPE for another coding, or several combined */
function codingOf(request: Request): CompressionFormat | undefined {
  const named = (request.headers.get('content-encoding') ?? '').trim().toLowerCase()
  const format = Object.hasOwn(formats, named) ? formats[named] : undefined
  if (format === 'identity') return undefined
  if (format !== undefined && typeof DecompressionStream === 'function') return format
  throw new InlayError('UNSUPPORTED_MEDIA_TYPE', {
    message: `Supported values of Content-Encoding are ${takenCodings}: use one of them, or none.`,
    data: { acceptEncoding: takenCodings },
  })
}

/** The reader counts decompressed bytes, so a small body that expands to a large one is refused. */
function decompressed(body: ReadableStream<Uint8Array>, format: CompressionFormat): ReadableStream<Uint8Array> {
  // Stream types disagree about buffer ownership; `DecompressionStream` accepts any bytes.
  const unpacking = new DecompressionStream(format) as ReadableWritablePair<Uint8Array, Uint8Array>
  const reader = cancelledLate(body).pipeThrough(unpacking).getReader()
  const read = (): Promise<ReadableStreamReadResult<Uint8Array>> =>
    reader.read().catch((cause: unknown) => {
      throw brokenCompression(cause)
    })
  return pulledFrom(read, (reason) => reader.cancel(reason))
}

/** A stream of what a reader gives, read only when it is wanted. */
export function pulledFrom(
  read: () => Promise<ReadableStreamReadResult<Uint8Array>>,
  cancel: (reason: unknown) => Promise<void>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
}

/** Delays cancellation: a pipe keeps reading while it ends, and cancels right afterwards. */
function cancelledLate(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return pulledFrom(
    () => reader.read(),
    (reason) => letGo(reader, reason),
  )
}

/** A refused body with at most this many remaining bytes is read to its end. */
const droppedBytes = 16 * 2 ** 20

/**
 * Reads and discards the rest of a body. Node closes the connection when a body is cancelled, which would lose the
 * response or the client's next request. A body that does not end soon is cancelled.
 */
export async function letGo(reader: ReadableStreamDefaultReader<Uint8Array>, reason?: unknown): Promise<void> {
  // Cancelling Node's stream between a read and the arrival of its data throws an error that nothing can catch.
  await yieldToEventLoop()
  for (let left = droppedBytes; left > 0;) {
    const { done, value } = await reader.read()
    if (done) return
    left -= value.byteLength
  }
  await reader.cancel(reason)
}

export function brokenCompression(cause?: unknown): InlayError {
  return new InlayError('BAD_REQUEST', {
    message: 'The body is truncated or invalid data for its Content-Encoding.',
    cause,
  })
}

/** Smaller bodies are not counted: the number of connections bounds their memory. */
const smallBodyBytes = 65_536
/** Lower bound of the rate at which documents are stored, even while searches have priority. */
const storedBytesPerMs = 2_000

/** Share of the memory budget for bodies. A body is in memory several times while it is read. */
export interface BodyShare {
  /** Reports the current size of the body. @throws RATE_LIMITED when the budget is used up */
  grow(bytes: number): void
  /** Releases the share permanently, after an optional delay plus the estimated time to store the body. */
  release(delayMs?: number): void
}

export function createBodyShare({ bodyBudget, timer }: ServerSettings, caller: string): BodyShare {
  let share: CapacityShare | undefined
  let isReleased = false
  let heldBytes = 0
  let cancel: (() => void) | undefined
  return {
    grow: (bytes) => {
      if (bytes <= smallBodyBytes || isReleased) return
      heldBytes = bytes
      share ??= bodyBudget.open(caller)
      share.grow(bytes)
    },
    release: (delayMs) => {
      cancel?.()
      isReleased = delayMs === undefined
      if (delayMs === undefined) share?.release()
      else if (share) cancel = timer(delayMs + heldBytes / storedBytesPerMs, share.release)
    },
  }
}
