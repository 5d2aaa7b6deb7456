import { InlayError, isInlayError, validationFailed } from '@inlay/protocol'
import { yieldToEventLoop, type BudgetShare } from '@inlay/protocol/concurrency'
import type { ServerSettings } from './settings.ts'

/** Documents of more bytes are read piece by piece. */
export const largeBytes: number = 2 ** 20

/** How a body is read. */
export interface BodyReading {
  readonly limitBytes: number
  /** A body of more bytes is given as it arrives. Default: each is given as a whole. */
  readonly wholeBytes?: number
  /** Called with how many bytes have come by now, when that is not declared; what it throws ends the reading. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/**
 * The body as text, whatever its content type; "" when there is none. A compressed one is unpacked.
 * @throws PAYLOAD_TOO_LARGE above the limit (by `content-length` before anything is read, and for what it is unpacked),
 * VALIDATION_FAILED for bytes that are not UTF-8, BAD_REQUEST when the client went away or the compression is broken,
 * UNSUPPORTED_MEDIA_TYPE for a compression not taken here, or a form that the host has read, INTERNAL_ERROR for any other
 * body that the host has read
 * @returns a body of more than `wholeBytes` as it arrives, with the same errors but for what is not UTF-8
 */
export function readText(request: Request, reading: Omit<BodyReading, 'wholeBytes'>): Promise<string>
export function readText(request: Request, reading: BodyReading): Promise<string | AsyncIterable<Uint8Array>>
export async function readText(request: Request, reading: BodyReading): Promise<string | AsyncIterable<Uint8Array>> {
  const { limitBytes, wholeBytes = Infinity } = reading
  const declared = declaredBytes(request)
  if (declared !== undefined && declared > limitBytes) throw tooLarge(limitBytes)
  const coding = request.headers.has('content-encoding') ? codingOf(request) : undefined
  let bytes: Uint8Array | AsyncIterable<Uint8Array>
  try {
    // A declared length binds the transport, and `text` is several times cheaper than a stream.
    if (coding === undefined && declared !== undefined && declared <= wholeBytes)
      return checkedText(await request.text(), declared, limitBytes)
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

/** `text` puts U+FFFD in place of bytes that are not UTF-8, and then the length is no longer the declared one. */
function checkedText(text: string, declaredBytes: number, limitBytes: number): string {
  if (text.length > limitBytes) throw tooLarge(limitBytes)
  if (text.includes('\uFFFD') && new TextEncoder().encode(text).byteLength !== declaredBytes) throw notUtf8()
  return text
}

/**
 * The body as a stream of bytes, unpacked if it is compressed; an empty one when there is none.
 * @throws INTERNAL_ERROR when somebody read the body before, UNSUPPORTED_MEDIA_TYPE for a compression not taken here
 */
export function bodyStream(request: Request): ReadableStream<Uint8Array> {
  if (request.bodyUsed) throw alreadyRead(request)
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

async function drain(
  body: ReadableStream<Uint8Array> | null,
  request: Request,
  { limitBytes, wholeBytes = Infinity, onBytes }: BodyReading,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const pieces: Uint8Array[] = []
  let size = 0
  if (body !== null) {
    // Not `for await`: Safari and older Workers have no async iterator on streams.
    const reader = body.getReader()
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      size += step.value.byteLength
      try {
        if (size > limitBytes) throw tooLarge(limitBytes)
        onBytes?.(size)
      } catch (error) {
        void letGo(reader).catch(() => {})
        throw error
      }
      pieces.push(step.value)
      if (size > wholeBytes) return rest(pieces, reader, { request, limitBytes, onBytes })
    }
  }
  const [first, ...others] = pieces
  return first && others.length === 0 ? first : joinBytes(pieces, size)
}

/** What was read already, and then the rest as it arrives. */
async function* rest(
  begun: Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { request, limitBytes, onBytes }: BodyReading & { readonly request: Request },
): AsyncGenerator<Uint8Array> {
  let [size, isRead] = [0, false]
  try {
    while (!isRead) {
      const step = begun.length > 0 ? { done: false, value: begun.shift() } : await reader.read()
      isRead = step.done
      if (!step.value) continue
      size += step.value.byteLength
      if (size > limitBytes) throw tooLarge(limitBytes)
      onBytes?.(size)
      yield step.value
    }
  } catch (error) {
    throw toReadFailure(error, request)
  } finally {
    if (!isRead) void letGo(reader).catch(() => {})
  }
}

/** Pieces as one. @param size of all of them together */
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
 * Tells a client that went away from a host that read the body first, and both from what was thrown on purpose.
 * @param hasBegun whether some of the body has come
 */
export function toReadFailure(error: unknown, request: Request, hasBegun = false): unknown {
  if (isInlayError(error)) return error
  const name = error instanceof Error ? error.name : ''
  if (request.signal.aborted || name === 'AbortError') return incomplete(error)
  if (isHostLimit(error)) {
    const message = 'The app that Inlay is mounted in takes no body this large: raise its own limit.'
    return new InlayError('PAYLOAD_TOO_LARGE', { message, cause: error })
  }
  if (hasBegun) return incomplete(error)
  return request.bodyUsed || name === 'TypeError' ? alreadyRead(request, error) : error
}

const incomplete = (cause: unknown): InlayError =>
  new InlayError('BAD_REQUEST', { message: 'The request ended before its body was complete.', cause })

/** Frameworks that bound bodies fail their stream: SvelteKit with a status, Astro with a sentence. */
function isHostLimit(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('status' in error && error.status === 413) || /size limit exceeded/i.test(error.message)
}

function alreadyRead(request: Request, cause?: unknown): InlayError {
  // No address takes such forms: `curl -d` sends JSON under this type.
  if (/^application\/x-www-form-urlencoded/i.test(request.headers.get('content-type') ?? ''))
    return new InlayError('UNSUPPORTED_MEDIA_TYPE', {
      message:
        'The app that Inlay is mounted in took the body for a form: send the header Content-Type: application/json.',
      cause,
    })
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

/** Codings a request body may have, by what `DecompressionStream` calls them. */
const formats: Readonly<Record<string, CompressionFormat | 'identity'>> = {
  '': 'identity',
  identity: 'identity',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
}

/** Codings that are taken, as the `accept-encoding` of a refusal lists them. */
const takenCodings = 'gzip, deflate'

/**
 * How the body of a request is compressed; undefined when it is not.
 * @throws UNSUPPORTED_MEDIA_TYPE for another coding, or for several on top of each other
 */
function codingOf(request: Request): CompressionFormat | undefined {
  const named = (request.headers.get('content-encoding') ?? '').trim().toLowerCase()
  const format = Object.hasOwn(formats, named) ? formats[named] : undefined
  if (format === 'identity') return undefined
  if (format !== undefined && typeof DecompressionStream === 'function') return format
  throw new InlayError('UNSUPPORTED_MEDIA_TYPE', {
    message: `A body may be compressed by one of ${takenCodings}, or not at all: change the Content-Encoding.`,
    data: { acceptEncoding: takenCodings },
  })
}

/**
 * The bytes before they were compressed, as fast as they are read: whoever reads them counts them, so that a small body
 * that becomes a large one is refused like a large one.
 */
function decompressed(body: ReadableStream<Uint8Array>, format: CompressionFormat): ReadableStream<Uint8Array> {
  // The types of streams disagree about who owns the memory; `DecompressionStream` takes bytes of any kind.
  const unpacking = new DecompressionStream(format) as ReadableWritablePair<Uint8Array, Uint8Array>
  const reader = cancelledLate(body).pipeThrough(unpacking).getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((cause: unknown) => {
          throw brokenCompression(cause)
        })
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** A pipe reads on while it ends, and cancels right behind that. */
function cancelledLate(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => letGo(reader, reason),
    },
    { highWaterMark: 0 },
  )
}

/** A refused body of at most so many more bytes is read to its end. */
const droppedBytes = 16 * 2 ** 20

/**
 * Reads on and drops what it reads: Node cuts the connection of a body that is cancelled, and with it goes the answer, or
 * the next request of the client. A body that does not end soon is cancelled.
 */
export async function letGo(reader: ReadableStreamDefaultReader<Uint8Array>, reason?: unknown): Promise<void> {
  // Node's stream throws where nobody catches when it is cancelled between a read and the data it asked for.
  await yieldToEventLoop()
  for (let left = droppedBytes; left > 0;) {
    const { done, value } = await reader.read()
    if (done) return
    left -= value.byteLength
  }
  await reader.cancel(reason)
}

/** Says that a body is not what its coding says, or ends too early. */
export function brokenCompression(cause?: unknown): InlayError {
  return new InlayError('BAD_REQUEST', {
    message: 'The body is not complete, valid data of the compression that its Content-Encoding names.',
    cause,
  })
}

/** Smaller bodies are not counted: what they take is bounded by the number of connections. */
const smallBodyBytes = 65_536
/** At the least, also while searches go first. */
const storedBytesPerMs = 2_000

/** Holds a share of the bytes that may be worked on at once; a body is in memory several times while it is read. */
export interface BodyShare {
  /** Says how much of the body there is by now. @throws RATE_LIMITED when too many bytes are being worked on */
  grow(bytes: number): void
  /** Releases the share for good, at once or after a delay, to which the time is added that storing the body takes. */
  release(delayMs?: number): void
}

export function createBodyShare({ bodyBudget, timer }: ServerSettings, caller: string): BodyShare {
  let share: BudgetShare | undefined
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
