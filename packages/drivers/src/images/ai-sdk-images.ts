import type { ImageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { ImageGenerator, ImageRequest, ImageShape, MadeImage } from '@inlay/agent'
import { InlayError, isJsonObject, checkRequired, isObject } from '@inlay/protocol'
import { imageRefusal, imageSubject, noPicture, toPicture, usualSizes, type ImageSizes } from './picture.ts'
import { serviceOptions, retrying, type RetryOptions } from '../http/retrying.ts'
import { callSdk, type FailureWords } from '../http/sdk-failure.ts'

/** Aspect ratios by shape, `width:height`. */
export type ImageRatios = Readonly<Record<ImageShape, `${number}:${number}`>>

export interface AiSdkImagesOptions extends RetryOptions {
  /** The model of a provider package, e.g. `createOpenAI(…).imageModel('gpt-image-1')`. */
  readonly model: ImageModelV4
  /** Null omits the size. Default 1024x1024, 1024x1536 and 1536x1024. */
  readonly sizes?: ImageSizes | null
  /** For models that take aspect ratios; models ignore unsupported options. Null omits it. Default 1:1, 3:4, 4:3. */
  readonly ratios?: ImageRatios | null
  /** Options for the provider, e.g. `{ openai: { quality: 'high' } }`. */
  readonly providerOptions?: SharedV4ProviderOptions
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Timeout of one attempt, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number
}

const usualRatios: ImageRatios = { square: '1:1', portrait: '3:4', landscape: '4:3' }

/**
 * Generates images with any image model of the AI SDK. Reference images require a model that declares support for
 * files, else UNSUPPORTED. Retries once (`attempts`: 2) if the provider marks the error as retryable. Run
 * `imageGeneratorLaws`.
 * @throws from a call: UNSUPPORTED, CONTENT_POLICY, AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT, BUDGET_EXCEEDED,
 * REQUEST_TOO_LARGE, UNPROCESSABLE_ENTITY, NOT_FOUND, API_ERROR, CONNECTION_ERROR, GATEWAY_TIMEOUT, BAD_GATEWAY
 * @example aiSdkImages({ model: createOpenAI({ apiKey }).imageModel('gpt-image-1') })
 */
export function aiSdkImages(options: AiSdkImagesOptions): ImageGenerator {
  checkRequired('aiSdkImages', options, `${serviceOptions} sizes ratios providerOptions`, {
    model: ['an image model of the AI SDK', isObject],
  })
  const { model, attempts = 2, maxWaitMs = 10_000 } = options
  return async (request) => {
    const { references, signal } = request
    signal?.throwIfAborted()
    if (references.length > 0 && (await model.supportsFileInputs) !== true)
      throw new InlayError('UNSUPPORTED', {
        message: 'This image model draws from words alone: leave out the reference images.',
      })
    const { images, providerMetadata } = await retrying(() => draw(request, options), signal, {
      ...options,
      attempts,
      maxWaitMs,
    })
    if (images.length === 0) throw noPicture()
    const imageFacts = Object.values(providerMetadata ?? {})[0]?.images
    return images.map((image, at): MadeImage => {
      const bytes = typeof image === 'string' ? Buffer.from(image, 'base64') : image
      const facts: unknown = imageFacts?.[at]
      return toPicture(bytes, isJsonObject(facts) ? facts['revisedPrompt'] : undefined)
    })
  }
}

async function draw({ prompt, shape, references, signal }: ImageRequest, options: AiSdkImagesOptions) {
  const { model, sizes = usualSizes, ratios = usualRatios, timeoutMs = 180_000 } = options
  const call = {
    prompt,
    n: 1,
    size: sizes?.[shape],
    aspectRatio: ratios?.[shape],
    seed: undefined,
    files:
      references.length === 0
        ? undefined
        : references.map(({ bytes, mediaType }) => ({ type: 'file' as const, mediaType, data: bytes })),
    mask: undefined,
    providerOptions: options.providerOptions ?? {},
    ...(options.headers ? { headers: options.headers } : {}),
  }
  return callSdk((abortSignal) => model.doGenerate({ ...call, abortSignal }), { signal, timeoutMs }, words)
}

const words: FailureWords = {
  subject: imageSubject,
  refused: (refusal) => imageRefusal({ subject: imageSubject, ...refusal }),
  unusable: noPicture,
}
