import type { ImageGenerator, ImageRequest, MadeImage } from '@inlay/agent'
import { isJsonObject, checkRequired, isText } from '@inlay/protocol'
import type { Egress } from '../http/egress.ts'
import { imageRefusal, imageSubject, noPicture, toPicture, usualSizes, type ImageSizes } from './picture.ts'
import { createJsonPost, endpointOf, type JsonPost } from '../http/json-post.ts'
import { serviceOptions, type RetryOptions } from '../http/retrying.ts'

export interface OpenaiImagesOptions extends RetryOptions {
  /** URL before `/images/generations`. Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string
  /** Sent as `Authorization: Bearer`; local servers often need none. */
  readonly apiKey?: string
  /** Name of the model. */
  readonly model: string
  /** Default: the sizes of the model if they are known, otherwise 1024x1024, 1024x1536 and 1536x1024. */
  readonly sizes?: ImageSizes
  /**
   * Requested format; null leaves it to the service. Both formats are accepted. Default: `b64_json`, and null for
   * models named `gpt-image…`, which only have that one and refuse the field.
   */
  readonly responseFormat?: 'b64_json' | 'url' | null
  /** Fetches images that are returned as URLs. Without it such a response is an error. */
  readonly egress?: Egress
  /** Additional fields of the request, e.g. `{ quality: 'high' }`. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Timeout of one attempt, in milliseconds. Default 180,000: good models take a minute or two. */
  readonly timeoutMs?: number
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

const maxPictureBytes = 32 * 2 ** 20

/**
 * An image model behind an OpenAI-compatible endpoint (OpenAI, LocalAI, LiteLLM, vLLM …): `/images/generations`, and
 * `/images/edits` when there are references. Tries once more (`attempts`: 2) after 408, 429, 5xx and broken
 * connections, if the service asks for no longer wait than ten seconds. Run `imageGeneratorLaws`.
 * @throws INVALID_INPUT for options that cannot work; from a call: CONTENT_POLICY, AUTH_ERROR, PERMISSION_DENIED,
 * RATE_LIMIT, BUDGET_EXCEEDED, REQUEST_TOO_LARGE, UNPROCESSABLE_ENTITY, NOT_FOUND, API_ERROR, CONNECTION_ERROR,
 * GATEWAY_TIMEOUT, BAD_GATEWAY (no picture), and what the egress client refuses
 * @example openaiImages({ model: 'gpt-image-1', apiKey: process.env.OPENAI_API_KEY })
 */
export function openaiImages(options: OpenaiImagesOptions): ImageGenerator {
  checkRequired(
    'openaiImages',
    options,
    `${serviceOptions} baseUrl apiKey sizes responseFormat egress parameters fetch`,
    { model: ['the name of a model', isText] },
  )
  const { baseUrl = 'https://api.openai.com/v1', egress } = options
  const postTo = (path: string): JsonPost =>
    createJsonPost({
      attempts: 2,
      maxWaitMs: 10_000,
      timeoutMs: 180_000,
      ...options,
      subject: imageSubject,
      toRefusal: imageRefusal,
      url: endpointOf(baseUrl, path, 'an image model'),
    })
  const generate = postTo('/images/generations')
  const edit = postTo('/images/edits')
  return async (request) => {
    const { references, signal } = request
    signal?.throwIfAborted()
    const fields = fieldsOf(request, options)
    const reply = await (references.length === 0 ? generate(fields, signal) : edit(toForm(fields, references), signal))
    const rows: unknown = isJsonObject(reply) ? reply['data'] : undefined
    if (!Array.isArray(rows) || rows.length === 0) throw noPicture()
    return await Promise.all(rows.map(async (row) => readRow(row, egress, signal)))
  }
}

function fieldsOf({ prompt, shape }: ImageRequest, options: OpenaiImagesOptions): Record<string, unknown> {
  const { model, parameters } = options
  const sizes = options.sizes ?? sizesOf(model)
  const isNewer = /^(?:chat)?gpt-image/.test(model)
  const format = options.responseFormat === undefined ? (isNewer ? null : 'b64_json') : options.responseFormat
  return {
    model,
    prompt,
    n: 1,
    size: sizes[shape],
    ...(format === null ? {} : { response_format: format }),
    ...parameters,
  }
}

function sizesOf(model: string): ImageSizes {
  if (model === 'dall-e-3') return { square: '1024x1024', portrait: '1024x1792', landscape: '1792x1024' }
  if (model === 'dall-e-2') return { square: '1024x1024', portrait: '1024x1024', landscape: '1024x1024' }
  return usualSizes
}

function toForm(fields: Readonly<Record<string, unknown>>, references: ImageRequest['references']): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value))
  for (const [at, { bytes, mediaType }] of references.entries()) {
    const name = `reference-${at + 1}.${mediaType.split('/')[1] ?? 'png'}`
    const file = new File([Uint8Array.from(bytes)], name, { type: mediaType })
    form.append(references.length === 1 ? 'image' : 'image[]', file)
  }
  return form
}

async function readRow(row: unknown, egress: Egress | undefined, signal: AbortSignal | undefined): Promise<MadeImage> {
  if (!isJsonObject(row)) throw noPicture()
  const { b64_json: encoded, url, revised_prompt: revised } = row
  if (typeof encoded === 'string') return toPicture(Buffer.from(encoded, 'base64'), revised)
  if (typeof url !== 'string') throw noPicture()
  // Some gateways return the image as a data URL.
  const inline = /^data:image\/[\w.+-]+;base64,/.exec(url)
  if (inline) return toPicture(Buffer.from(url.slice(inline[0].length), 'base64'), revised)
  if (!egress) throw noPicture()
  const answer = await egress(url, { maxBytes: maxPictureBytes, signal })
  if (answer.status !== 200) throw noPicture()
  return toPicture(answer.bytes, revised)
}
