import { InlayError } from '@inlay/protocol'

/** Codings a request body may have, by what `DecompressionStream` calls them. */
const formats: Readonly<Record<string, CompressionFormat | 'identity'>> = {
  '': 'identity',
  identity: 'identity',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
}

/** Codings that are taken, as the `accept-encoding` of a refusal lists them. */
export const takenCodings = 'gzip, deflate'

/**
 * How the body of a request is compressed; undefined when it is not.
 * @throws UNSUPPORTED_MEDIA_TYPE for another coding, or for several on top of each other
 */
export function codingOf(request: Request): CompressionFormat | undefined {
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
export function decompressed(body: ReadableStream<Uint8Array>, format: CompressionFormat): ReadableStream<Uint8Array> {
  // The types of streams disagree about who owns the memory; `DecompressionStream` takes bytes of any kind.
  const unpacking = new DecompressionStream(format) as ReadableWritablePair<Uint8Array, Uint8Array>
  const reader = body.pipeThrough(unpacking).getReader()
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

/** Says that a body is not what its coding says, or ends too early. */
export function brokenCompression(cause?: unknown): InlayError {
  return new InlayError('BAD_REQUEST', {
    message: 'The body is not complete, valid data of the compression that its Content-Encoding names.',
    cause,
  })
}
