import { InlayError } from '@inlay/protocol'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** The body without its content encoding. BAD_GATEWAY for one that is not known. */
export function decoded(message: IncomingMessage): Readable {
  const coding = (message.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  const decoder =
    coding === 'gzip' || coding === 'x-gzip'
      ? createGunzip()
      : coding === 'deflate'
        ? createInflate()
        : coding === 'br'
          ? createBrotliDecompress()
          : undefined
  if (decoder) {
    // pipe() does not carry errors on: a cut connection must end the decoder as well.
    message.once('error', (error) => decoder.destroy(error))
    message.once('aborted', () => decoder.destroy(new Error('the connection was cut')))
    return message.pipe(decoder)
  }
  if (coding !== '' && coding !== 'identity')
    throw new InlayError('BAD_GATEWAY', {
      message: 'The address answers in a content encoding that is not known here.',
    })
  return message
}

/**
 * Reads a whole body, decompressed, and stops as soon as it is too large, so that a small answer that unpacks to
 * gigabytes costs no more than the limit.
 * @throws PAYLOAD_TOO_LARGE, BAD_GATEWAY (cut, broken or unknown encoding)
 */
export async function readLimited(message: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  const tooLarge = (): InlayError =>
    new InlayError('PAYLOAD_TOO_LARGE', { message: `The address answers with more than ${limitBytes} bytes.` })
  if (message.headers['content-encoding'] === undefined && Number(message.headers['content-length']) > limitBytes)
    throw tooLarge()
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const part of decoded(message) as AsyncIterable<Uint8Array>) {
      bytes += part.byteLength
      if (bytes > limitBytes) throw tooLarge()
      parts.push(part)
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'InlayError') throw error
    throw new InlayError('BAD_GATEWAY', { message: 'The answer broke off or could not be unpacked.', cause: error })
  }
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.byteLength
  }
  return whole
}
