/** Outline of a picture. */
export type ImageShape = 'square' | 'portrait' | 'landscape'

/** A picture to be made. */
export interface ImageRequest {
  readonly prompt: string
  readonly shape: ImageShape
  /** Pictures to start from; mostly none. */
  readonly references: readonly { readonly bytes: Uint8Array; readonly mediaType: string }[]
  readonly signal?: AbortSignal
}

/** A picture that was made. */
export interface MadeImage {
  readonly bytes: Uint8Array
  /** `image/png`, `image/jpeg` or `image/webp`. */
  readonly mediaType: string
  /** The final prompt for the image model, if reported. */
  readonly revisedPrompt?: string
}

/**
 * Makes pictures: at least one a call, the first being the best. A generator that takes no `references` rejects with
 * UNSUPPORTED when there are any; an aborted call rejects.
 */
export type ImageGenerator = (request: ImageRequest) => Promise<readonly MadeImage[]>
