import type { Budget } from '../budget.ts'
import { pictureRefusal, type Pictures } from '../pictures.ts'
import { refusal } from '../refusals.ts'
import { sectionsOf, type Reading } from '../sections.ts'

export async function readPicture(
  bytes: Uint8Array,
  mediaType: 'image/png' | 'image/jpeg',
  { budget, pictures }: { readonly budget: Budget; readonly pictures: Pictures },
): Promise<Reading> {
  if (pictures.step === 'skip') throw pictureRefusal()
  const { width, height } = (mediaType === 'image/png' ? sizeOfPng(bytes) : sizeOfJpeg(bytes)) ?? brokenImage()
  if (width * height > pictures.maxPixels) {
    const most = Math.round(pictures.maxPixels / 1e6)
    throw refusal('too_large', `The image has more than ${most} million pixels: make it smaller and send it again.`)
  }
  if (pictures.step === 'note') {
    pictures.note()
    return { sections: [] }
  }
  const answer = await pictures.read({ bytes, mediaType })
  if ('unread' in answer) throw refusal(answer.unread.reason, answer.unread.message)
  return { sections: sectionsOf(answer.text, budget) }
}

interface Size {
  readonly width: number
  readonly height: number
}

function brokenImage(): never {
  throw refusal('broken', 'The image is damaged or was cut off: send it again, or save it anew.')
}

function sizeOfPng(bytes: Uint8Array): Size | undefined {
  if (bytes.byteLength < 24) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

/** Walks over the segments to the one that starts the frame. */
function sizeOfJpeg(bytes: Uint8Array): Size | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 2; at + 9 < bytes.byteLength;) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes[at + 1]!
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    // Fill bytes before a marker; markers without content.
    if (marker === 0xff) at++
    else at += marker === 1 || (marker >= 0xd0 && marker <= 0xd8) ? 2 : 2 + view.getUint16(at + 2)
  }
  return undefined
}
