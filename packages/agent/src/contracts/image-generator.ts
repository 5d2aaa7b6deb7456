export type ImageShape = 'square' | 'portrait' | 'landscape'

export interface ImageRequest {
  readonly prompt: string
  readonly shape: ImageShape
  /** Pictures to start from; usually none. */
  readonly references: readonly { readonly bytes: Uint8Array; readonly mediaType: string }[]
  readonly signal?: AbortSignal
}

export interface MadeImage {
  readonly bytes: Uint8Array
  /** `image/png`, `image/jpeg` or `image/webp`. */
  readonly mediaType: string
  /** The final prompt of the image model, if reported. */
  readonly revisedPrompt?: string
}

/**
 * Generates pictures: at least one per call, the best first. Without support for `references` it rejects with
 * UNSUPPORTED when there are any; an aborted call rejects.
 */
export type ImageGenerator = (request: ImageRequest) => Promise<readonly MadeImage[]>
