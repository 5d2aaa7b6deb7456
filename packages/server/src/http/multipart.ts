import { InlayError, validationFailed } from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/scheduling'
import { bodyStream, joinBytes, letGo, tooLarge, toReadFailure } from './body.ts'

export type FormPart =
  | { readonly kind: 'field'; readonly name: string; readonly value: string }
  | {
      readonly kind: 'file'
      readonly name: string
      readonly fileName: string
      /** "" if the client does not send one. */
      readonly mediaType: string
      /** Can be read once; unread bytes are skipped when the next part is requested. */
      readonly bytes: AsyncIterable<Uint8Array>
    }

export interface FormLimits {
  /** Maximum size of the whole body. */
  readonly totalBytes: number
  /** Maximum size of a field that is not a file. */
  readonly fieldBytes: number
  readonly parts: number
}

const headBytes = 16 * 1024
const bytesBetweenTurns = 2 ** 20
const cr = 13
const encoder = new TextEncoder()

/**
 * Reads a `multipart/form-data` body part by part, buffering only the last network chunk.
 * @throws VALIDATION_FAILED for a body of another type or with malformed content; PAYLOAD_TOO_LARGE above a limit
 */
export async function* readForm(request: Request, limits: FormLimits): AsyncGenerator<FormPart> {
  const boundary = boundaryOf(request.headers.get('content-type') ?? '')
  if (boundary === undefined) throw malformed('must be multipart/form-data with a boundary')
  const source = createSource(request, limits.totalBytes)
  try {
    const delimiter = encoder.encode(`\r\n--${boundary}`)
    // The first delimiter needs no line break before it; any preamble is ignored.
    for await (const _ of untilDelimiter(source, delimiter));
    for (let count = 0; await beginsPart(source); count++) {
      if (count >= limits.parts) throw new InlayError('PAYLOAD_TOO_LARGE', { message: 'The form has too many parts.' })
      const head = readHead(await readUntil(source, '\r\n\r\n', headBytes))
      const bytes = untilDelimiter(source, delimiter)
      if (head.fileName === undefined) {
        yield { kind: 'field', name: head.name, value: await readField(bytes, limits.fieldBytes) }
      } else {
        yield { kind: 'file', name: head.name, fileName: head.fileName, mediaType: head.mediaType, bytes }
        for await (const _ of bytes);
      }
    }
    // Reads to the end of the body: stopping earlier looks like a client that disconnected.
    do source.buffer = new Uint8Array(0)
    while (await source.more())
  } finally {
    source.cancel()
  }
}

/** Buffered bytes not consumed yet. */
interface Source {
  buffer: Uint8Array
  /** Waits for more bytes; false at the end of the body. */
  more(): Promise<boolean>
  cancel(): void
}

function createSource(request: Request, maxBytes: number): Source {
  const reader = bodyStream(request).getReader()
  let total = 0
  const source: Source = {
    buffer: encoder.encode('\r\n'),
    more: async () => {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw toReadFailure(cause, request, total > 0)
      })
      if (done) return false
      total += value.byteLength
      // Yields regularly, since buffered network data would otherwise be read without a pause, up to megabytes.
      if (Math.floor(total / bytesBetweenTurns) > Math.floor((total - value.byteLength) / bytesBetweenTurns))
        await yieldToEventLoop()
      if (total > maxBytes) throw tooLarge(maxBytes)
      source.buffer = joinBytes([source.buffer, value], source.buffer.byteLength + value.byteLength)
      return true
    },
    cancel: () => void letGo(reader).catch(() => {}),
  }
  return source
}

/** Bytes up to the next delimiter, which is consumed too. */
function untilDelimiter(source: Source, delimiter: Uint8Array): AsyncIterableIterator<Uint8Array> {
  let isOver = false
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    while (!isOver) {
      const { buffer } = source
      const { at, isComplete } = find(buffer, delimiter)
      source.buffer = buffer.subarray(isComplete ? at + delimiter.byteLength : at)
      isOver = isComplete
      if (at > 0) return { done: false, value: buffer.subarray(0, at) }
      if (!isComplete && !(await source.more())) throw malformed('ends before the form does')
    }
    return { done: true, value: undefined }
  }
  // No generator: a consumer that stops early would end it, and the rest is skipped before the next part.
  const iterator: AsyncIterableIterator<Uint8Array> = { next, [Symbol.asyncIterator]: () => iterator }
  return iterator
}

/** Position of the delimiter, or of a possible incomplete one at the end. */
function find(buffer: Uint8Array, delimiter: Uint8Array): { readonly at: number; readonly isComplete: boolean } {
  for (let at = buffer.indexOf(cr); at !== -1; at = buffer.indexOf(cr, at + 1)) {
    let length = 1
    while (length < delimiter.byteLength && buffer[at + length] === delimiter[length]) length++
    if (length === delimiter.byteLength) return { at, isComplete: true }
    if (at + length === buffer.byteLength) return { at, isComplete: false }
  }
  return { at: buffer.byteLength, isComplete: false }
}

/** Whether another part follows the delimiter; consumes the rest of its line. */
async function beginsPart(source: Source): Promise<boolean> {
  while (source.buffer.byteLength < 2) if (!(await source.more())) throw malformed('ends before the form does')
  if (source.buffer[0] === 45 && source.buffer[1] === 45) return false
  const padding = await readUntil(source, '\r\n', headBytes)
  if (padding.trim() === '') return true
  throw malformed('has a delimiter that is followed by something else')
}

/** Text up to a marker, which is consumed too. */
async function readUntil(source: Source, mark: string, maxBytes: number): Promise<string> {
  const bytes = encoder.encode(mark)
  for (;;) {
    const { at, isComplete } = find(source.buffer, bytes)
    if (at > maxBytes) throw malformed('has a part whose head is too long')
    if (isComplete) {
      const text = new TextDecoder().decode(source.buffer.subarray(0, at))
      source.buffer = source.buffer.subarray(at + bytes.byteLength)
      return text
    }
    if (!(await source.more())) throw malformed('ends before the form does')
  }
}

async function readField(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let size = 0
  let value = ''
  for await (const piece of bytes) {
    size += piece.byteLength
    if (size > maxBytes) throw tooLarge(maxBytes)
    value += decoder.decode(piece, { stream: true })
  }
  return value + decoder.decode()
}

function boundaryOf(contentType: string): string | undefined {
  if (!/^\s*multipart\/form-data\s*;/i.test(contentType)) return undefined
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType)
  return match?.[1] ?? match?.[2]
}

function readHead(head: string) {
  const headers = new Map<string, string>()
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  const disposition = headers.get('content-disposition') ?? ''
  const name = parameterOf(disposition, 'name')
  if (!/^form-data\b/i.test(disposition) || name === undefined) throw malformed('has a part without a name')
  const extended = /;\s*filename\*=utf-8''([^;\s]+)/i.exec(disposition)?.[1]
  const fileName = (extended && decoded(extended)) ?? parameterOf(disposition, 'filename')
  return { name, fileName, mediaType: headers.get('content-type') ?? '' }
}

/** Browsers encode a quote in a name as `%22`, others with a backslash. */
function parameterOf(disposition: string, parameter: string): string | undefined {
  const match = new RegExp(`;\\s*${parameter}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i').exec(disposition)
  if (match?.[1] === undefined) return match?.[2]
  return match[1]
    .replace(/\\(["\\])/g, '$1')
    .replace(/%22/g, '"')
    .replace(/%0D%0A/gi, ' ')
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function malformed(message: string): InlayError {
  return validationFailed([{ loc: ['body'], msg: message, type: 'value_error' }])
}
