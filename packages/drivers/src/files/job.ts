import type { ExtractedFile, SourceFile } from '@inlay/knowledge'
import type { ExtractionLimits } from './budget.ts'
import type { Refusal } from './refusals.ts'

/** What the thread is asked to do. */
export interface ExtractionJob {
  readonly file: SourceFile
  readonly limits: ExtractionLimits
}

/** What the thread says: once that it is ready, then one answer for each job. */
export type ExtractionMessage =
  | { readonly isReady: true }
  | { readonly file: ExtractedFile }
  | {
      readonly refusal: Refusal
      /** What a library threw, for logs; undefined for a plain refusal. */
      readonly cause: string | undefined
    }
