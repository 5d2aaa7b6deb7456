import { refusal, type Refusal } from './refusals.ts'

/** Whether the text of pictures is left out, left out but noted for a second reading, or read. */
export type PictureStep = 'skip' | 'note' | 'read'

export interface PictureLimits {
  readonly maxPictures: number
  readonly maxPixels: number
}

export interface Picture {
  readonly bytes: Uint8Array
  readonly mediaType: string
}

export type PictureText = { readonly text: string } | { readonly unread: Refusal }

/** Pictures of text in one file and its attachments. */
export interface Pictures extends PictureLimits {
  readonly step: PictureStep
  /** Tells that a second reading with `read` would find more. */
  note(): void
  readonly isNoted: boolean
  /** Number of pictures that may still be read. */
  readonly left: number
  /** Reads one; only in the step `read`. */
  read(picture: Picture): Promise<PictureText>
}

export function createPictures(
  { step, limits }: { readonly step: PictureStep; readonly limits: PictureLimits },
  recognize: (picture: Picture) => Promise<PictureText>,
): Pictures {
  let isNoted = false
  let left = limits.maxPictures
  return {
    step,
    ...limits,
    note() {
      isNoted = true
    },
    get isNoted() {
      return isNoted
    },
    get left() {
      return left
    },
    async read(picture) {
      if (left <= 0) return { unread: refusalOfMany(limits.maxPictures) }
      left--
      return recognize(picture)
    },
  }
}

/** Plain data, as it comes from another thread. */
export function refusalOfMany(maxPictures: number): Refusal {
  return {
    reason: 'too_large',
    message: `The file holds more than ${maxPictures} scanned pages: split it into smaller files.`,
  }
}

export function pictureRefusal(): Error {
  return refusal(
    'unsupported',
    'The file is an image: its text is read when OCR is on (INLAY_OCR). Else send a document, or a PDF with a text layer.',
  )
}
