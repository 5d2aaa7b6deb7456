import type { ExtractedFile, SourceFile } from '@inlay/knowledge'
import type { ExtractionLimits } from './budget.ts'
import type { Picture, PictureLimits, PictureStep, PictureText } from './pictures.ts'
import type { Refusal } from './refusals.ts'

export interface ExtractionJob {
  readonly file: SourceFile
  readonly limits: ExtractionLimits & PictureLimits
  readonly pictures: PictureStep
}

/** Messages to the thread: a job, and the answer to each picture that it sends. */
export type HostMessage = ExtractionJob | { readonly answer: PictureText }

/** Messages of the thread: one when it is ready, then for each job its pictures, one at a time, and one answer. */
export type ExtractionMessage =
  | { readonly isReady: true }
  | { readonly picture: Picture }
  | {
      readonly file: ExtractedFile
      /** Whether text of pictures was left out that a job with `pictures: 'read'` would read. */
      readonly hasUnreadPictures: boolean
    }
  | {
      readonly refusal: Refusal
      /** Error thrown by a library, for logs; undefined for a plain refusal. */
      readonly cause: string | undefined
    }
