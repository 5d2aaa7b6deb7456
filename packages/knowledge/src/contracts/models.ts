import type { Caller } from './pairs.ts'

/** Subject of a summary: a document, or the context of one of its chunks. */
export type SummaryRequest =
  | {
      readonly kind: 'document'
      readonly title: string
      /** Text of the document, or the beginning of a long one. */
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
 * Summarizes a document in one or two sentences, or puts a chunk in the context of its document. Usually a language
 * model; may be called concurrently.
 */
export type Summarizer = (request: SummaryRequest, signal: AbortSignal) => Promise<string>

/** Describes an image and the text on it; "" if there is nothing to say. Usually a vision model. */
export type ImageDescriber = (bytes: Uint8Array, mediaType: string, signal: AbortSignal) => Promise<string>

/** Images that sections refer to by `image_file_id`. The content of an id never changes. */
export interface ImageStore {
  /**
   * The given ids of existing images that the caller may use in documents. Without a caller: of all existing images.
   */
  find(ids: readonly string[], caller?: Caller): Promise<readonly string[]>
  /** Reads an image that `find` returned; undefined if it was deleted. */
  read(id: string): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | undefined>
}
