import { InlayError } from '@inlay/protocol'
import { joinInSlices } from '@inlay/scheduling'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { decompressed } from './decompression.ts'

/** The decompressed body. @throws BAD_GATEWAY for an unknown encoding */
export function decoded(message: IncomingMessage): Readable {
  const body = decompressed(message)
  if (body) return body
  throw new InlayError('BAD_GATEWAY', { message: 'The address answers in a content encoding that is not known here.' })
}

/**
 * Reads and decompresses a body, and stops as soon as it is too large, so a decompression bomb costs no more than the
 * limit.
 * @throws PAYLOAD_TOO_LARGE, BAD_GATEWAY (cut, broken or unknown encoding)
 */
export async function readLimited(message: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): InlayError =>
    new InlayError('PAYLOAD_TOO_LARGE', { message: `The address answers with more than ${maxBytes} bytes.` })
  if (message.headers['content-encoding'] === undefined && Number(message.headers['content-length']) > maxBytes)
    throw tooLarge()
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const part of decoded(message) as AsyncIterable<Uint8Array>) {
      bytes += part.byteLength
      if (bytes > maxBytes) throw tooLarge()
      parts.push(part)
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'InlayError') throw error
    throw new InlayError('BAD_GATEWAY', { message: 'The response broke off or could not be unpacked.', cause: error })
  }
  return joinInSlices(parts, bytes)
}
