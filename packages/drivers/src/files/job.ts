import type { ExtractedFile, SourceFile } from '@inlay/knowledge'
import type { ExtractionLimits } from './budget.ts'
import type { Refusal } from './refusals.ts'

/** A job for the thread. */
export interface ExtractionJob {
  readonly file: SourceFile
  readonly limits: ExtractionLimits
}

/** Messages of the thread: one when it is ready, then one answer per job. */
export type ExtractionMessage =
  | { readonly isReady: true }
  | { readonly file: ExtractedFile }
  | {
      readonly refusal: Refusal
      /** Error thrown by a library, for logs; undefined for a plain refusal. */
      readonly cause: string | undefined
    }
