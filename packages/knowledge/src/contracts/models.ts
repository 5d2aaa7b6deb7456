import type { Caller } from './pairs.ts'

/** Subject of a summary: a document, or the context of one of its chunks. */
export type SummaryRequest =
  | {
      readonly kind: 'document'
      readonly title: string
      /** Its text; of a long one the beginning. */
      readonly document: string
    }
  | {
      readonly kind: 'chunk'
      readonly title: string
      readonly document: string
      /** Summary of the document; "" if there is none. */
      readonly summary: string
      readonly chunk: string
    }

/**
 * Says in a sentence or two what a document is about, or what a chunk says in the light of its document. Mostly a
 * language model; may be called several times at once.
 */
export type Summarizer = (request: SummaryRequest, signal: AbortSignal) => Promise<string>

/** Says in words what an image shows, and what is written on it; "" for nothing. Mostly a model that sees. */
export type ImageDescriber = (bytes: Uint8Array, mediaType: string, signal: AbortSignal) => Promise<string>

/** Images that sections name by `image_file_id`. What an id names never changes. */
export interface ImageStore {
  /** Those of the ids that are images the caller may put into documents; without a caller: that are images. */
  find(ids: readonly string[], caller?: Caller): Promise<readonly string[]>
  /** An image that `find` has let through; undefined when it is gone. */
  read(id: string): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | undefined>
}
