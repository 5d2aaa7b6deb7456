import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

const { Z_SYNC_FLUSH: flush, BROTLI_OPERATION_FLUSH: brotliFlush } = constants

// Flushed after every piece: a stream of events must not wait until a block is full.
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ flush }),
  'x-gzip': () => createGunzip({ flush }),
  deflate: () => createInflate({ flush }),
  br: () => createBrotliDecompress({ flush: brotliFlush }),
}

/**
 * Undefined for an encoding other than gzip, deflate and br. Stream and message may be left unread or be destroyed at
 * any time: a broken connection fails the stream, and an error without a reader is dropped.
 */
export function decompressed(message: IncomingMessage): Readable | undefined {
  const coding = (message.headers['content-encoding'] ?? '').trim().toLowerCase()
  if (coding === '' || coding === 'identity') return message
  const decoder = decoders[coding]?.()
  if (decoder === undefined) return undefined
  // An empty body with an encoding is valid.
  if (message.statusCode === 204 || message.statusCode === 304 || message.headers['content-length'] === '0')
    return message
  // `pipeline` stops listening for errors once it is done; an error after that would end the process.
  decoder.on('error', () => {})
  return pipeline(message, decoder, () => {})
}
