// oxlint-disable no-control-regex -- magic numbers are control characters
import type { ImageShape, MadeImage } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { refusalOf, type Meanings, type Refusal } from '../http/refusals.ts'

export const imageSubject = 'The image service'

/** Sizes by shape, `width`x`height`. */
export type ImageSizes = Readonly<Record<ImageShape, `${number}x${number}`>>

export const usualSizes: ImageSizes = { square: '1024x1024', portrait: '1024x1536', landscape: '1536x1024' }

const kinds: readonly (readonly [mediaType: string, magic: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
]

/** By the content only. @throws BAD_GATEWAY for anything but PNG, JPEG or WebP */
export function toPicture(bytes: Uint8Array, revisedPrompt?: unknown): MadeImage {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString('latin1')
  const kind = kinds.find(([, magic]) => magic.test(start))
  if (!kind) throw noPicture()
  return {
    bytes,
    mediaType: kind[0],
    ...(typeof revisedPrompt === 'string' && revisedPrompt !== '' ? { revisedPrompt } : {}),
  }
}

export function noPicture(cause?: unknown): InlayError {
  const message = `${imageSubject} sent something else than a picture: check its base URL and model.`
  return new InlayError('BAD_GATEWAY', { message, cause })
}

/** The error for a refusal of an image service; CONTENT_POLICY for a prompt against its policy. */
export function imageRefusal(refusal: Refusal): InlayError {
  const { status, text, cause } = refusal
  if (status === 400 && /content_policy|moderation|safety/i.test(text)) {
    const message = `${imageSubject} does not draw this: its content policy forbids it.`
    return new InlayError('CONTENT_POLICY', { message, cause, data: { status } })
  }
  return refusalOf({ ...refusal, subject: imageSubject }, ofPictures)
}

const refusesRequest = [
  'UNPROCESSABLE_ENTITY',
  'refused the request: it may not draw this, or not in this size.',
] as const

const ofPictures: Meanings = {
  400: refusesRequest,
  413: ['REQUEST_TOO_LARGE', 'takes no pictures as large as these.'],
  422: refusesRequest,
}
