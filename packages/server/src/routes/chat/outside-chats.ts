import type { Action, ActionResult } from '@inlay/agent'
import { InlayError, isInlayError, type Principal, type Wire } from '@inlay/protocol'
import {
  generatedPicturesSchema,
  imageGenerationRequestSchema,
  openedUrlsSchema,
  openUrlsRequestSchema,
  webSearchRequestSchema,
  webSearchResultsSchema,
  type GeneratedPicture,
  type ImageGenerationRequest,
  type WebSearchHit,
} from '@inlay/protocol/administration'
import { fromBase64, toBase64 } from '../../http/base64.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import { createImageFiles, type PictureBytes } from '../../outside-chats/image-files.ts'
import { turnOutsideChats, type OutsideCall } from '../../outside-chats/turn.ts'

const route = routesOf('Actions', { scope: 'chat', owner: 'none' })

const actionTimeoutMs = 120_000
const maxReferenceBytes = 20 * 2 ** 20

/** Actions that clients call without a chat. Available if agents have them. */
export const outsideChatRoutes: readonly Route[] = [
  route('POST /web-search/search-lite', 'webSearchLite', 'Search the web', {
    description: 'Uses the web search of agents. Without one: `DEPLOYMENT_UNSUPPORTED`.',
    readsOnly: true,
    input: { body: webSearchRequestSchema },
    answer: { description: 'The results.', schema: webSearchResultsSchema },
    errors: ['DEPLOYMENT_UNSUPPORTED', 'BAD_GATEWAY', 'GATEWAY_TIMEOUT', 'INVALID_INPUT', 'BAD_REQUEST'],
    async handle({ body, request, requestId, caller, parts, settings }) {
      const action = await actionOf('WebSearchTool', caller, parts)
      const lists = await Promise.all(
        body.queries.map(async (query) => {
          const call = { caller, requestId, userMessage: query, signal: limited(request.signal) }
          const { text } = await run(action, { queries: [query] }, call)
          return (resultsIn(text) as unknown as readonly WebSearchHit[]).slice(0, body.max_results)
        }),
      )
      return { results: lists.flat().map(toHit), provider_type: settings.webSearchService }
    },
  }),
  route('POST /web-search/open-urls', 'openUrls', 'Read web pages', {
    description:
      'Reads pages as agents do: URLs of documents that the caller can see are read from the index, ' +
      'and only public addresses are fetched. Without a page reader: `DEPLOYMENT_UNSUPPORTED`.',
    readsOnly: true,
    input: { body: openUrlsRequestSchema },
    answer: { description: 'The pages, and the URLs that could not be read.', schema: openedUrlsSchema },
    errors: ['DEPLOYMENT_UNSUPPORTED', 'GATEWAY_TIMEOUT', 'INVALID_INPUT', 'BAD_REQUEST'],
    async handle({ body, request, requestId, caller, parts }) {
      const action = await actionOf('OpenURLTool', caller, parts)
      const signal = limited(request.signal)
      const outcomes = await Promise.all(
        [...new Set(body.urls.map((url) => url.trim()))].map((url) =>
          openUrl(action, url, { caller, requestId, signal }),
        ),
      )
      return {
        results: outcomes.filter((outcome) => 'content' in outcome),
        not_read: outcomes.filter((outcome) => 'reason' in outcome),
        provider_type: 'onyx_web_crawler',
      }
    },
  }),
  route('POST /image-generation/generate', 'generateImage', 'Make pictures', {
    description: 'Uses the image generator of agents; nothing is stored. Without one: `NOT_FOUND`.',
    input: { body: { kind: 'json', schema: imageGenerationRequestSchema, limit: 'maxIngestionBytes' } },
    answer: { description: 'The pictures.', schema: generatedPicturesSchema },
    errors: ['NOT_FOUND', 'BAD_GATEWAY', 'GATEWAY_TIMEOUT', 'INVALID_INPUT', 'UNSUPPORTED', 'BAD_REQUEST'],
    async handle({ body, request, requestId, caller, parts }) {
      const action = await findAction('ImageGenerationTool', caller, parts)
      if (!action)
        throw new InlayError('NOT_FOUND', {
          message:
            'There is no image generator: set one with INLAY_IMAGE_MODEL or the option imageGenerator, or enable it.',
        })
      const references = body.reference_images.map(({ data_base64: data }) => toReference(data))
      const call = { caller, requestId, userMessage: body.prompt, signal: limited(request.signal) }
      const images: GeneratedPicture[] = []
      // A generator may return several pictures per call, or only one.
      while (images.length < body.n) images.push(...(await makePictures(action, body, references, call)))
      return { images: images.slice(0, body.n) }
    },
  }),
]

/** @throws DEPLOYMENT_UNSUPPORTED if agents do not have the action */
async function actionOf(builtIn: string, caller: Principal, parts: ServerParts): Promise<Action> {
  const wanted = await findAction(builtIn, caller, parts)
  if (wanted) return wanted
  throw new InlayError('DEPLOYMENT_UNSUPPORTED', {
    message: 'This action is not available: it is not configured, or an administrator disabled it.',
  })
}

async function findAction(builtIn: string, caller: Principal, parts: ServerParts): Promise<Action | undefined> {
  return (await parts.agent.actions(caller)).find((action) => action.builtIn === builtIn)
}

const limited = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(actionTimeoutMs)])

async function run(action: Action, input: unknown, call: OutsideCall): Promise<ActionResult> {
  const checked = await action.input['~standard'].validate(input)
  if (checked.issues !== undefined)
    throw new InlayError('INVALID_INPUT', { message: 'The action does not accept these arguments.' })
  try {
    return await action.run(checked.value, turnOutsideChats(call))
  } catch (error) {
    // What a service does not know is not missing here.
    if (isInlayError(error) && error.code === 'NOT_FOUND')
      throw new InlayError('BAD_GATEWAY', { message: error.message, cause: error })
    if (isInlayError(error) || !call.signal.aborted) throw error
    throw new InlayError('GATEWAY_TIMEOUT', { message: 'The action took too long.', cause: error })
  }
}

function resultsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  // Both actions return an object with `results`.
  return (JSON.parse(text) as { readonly results: readonly Readonly<Record<string, unknown>>[] }).results
}

function toHit({ url, title, snippet }: Pick<WebSearchHit, 'url' | 'title' | 'snippet'>): WebSearchHit {
  return {
    type: 'web_search',
    document_citation_number: -1,
    unique_identifier_to_strip_away: url,
    url,
    title,
    snippet,
  }
}

type OpenedUrls = Wire<typeof openedUrlsSchema>

async function openUrl(
  action: Action,
  url: string,
  call: Omit<OutsideCall, 'userMessage'>,
): Promise<OpenedUrls['results'][number] | OpenedUrls['not_read'][number]> {
  try {
    // Without a question, the beginning of a long page is returned.
    const { text } = await run(action, { urls: [url] }, { ...call, userMessage: '' })
    return {
      type: 'open_url',
      document_citation_number: -1,
      unique_identifier_to_strip_away: url,
      content: String(resultsIn(text)[0]?.['content'] ?? ''),
    }
  } catch (error) {
    if (!isInlayError(error) || error.code !== 'BAD_GATEWAY') throw error
    const [unread] = (error.data['not_read'] ?? []) as readonly { readonly reason: string }[]
    return { url, reason: unread?.reason ?? 'The page could not be read.' }
  }
}

async function makePictures(
  action: Action,
  { prompt, shape }: ImageGenerationRequest,
  references: readonly PictureBytes[],
  call: OutsideCall,
): Promise<GeneratedPicture[]> {
  const files = createImageFiles(references)
  const ids = references.map((_, place) => files.referenceId(place))
  const { images = [] } = await run(action, { prompt, shape, reference_image_file_ids: ids }, { ...call, files })
  return images.flatMap(({ file_id: id, revised_prompt: revised }) => {
    const picture = files.picture(id)
    if (!picture) return []
    return [{ data_base64: toBase64(picture.bytes), mime_type: picture.mediaType, revised_prompt: revised }]
  })
}

/** @throws INVALID_INPUT for invalid base64 or data that is not a supported picture */
function toReference(data: string): PictureBytes {
  const bytes = fromBase64(data)
  const mediaType = bytes && bytes.byteLength <= maxReferenceBytes ? pictureType(bytes) : undefined
  if (bytes && mediaType !== undefined) return { bytes, mediaType }
  throw new InlayError('INVALID_INPUT', {
    message: `A reference image must be a PNG, JPEG or WebP in base64, of at most ${maxReferenceBytes / 2 ** 20} MiB.`,
  })
}

function pictureType(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 12))
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  return /^RIFF[\s\S]{4}WEBP/.test(start) ? 'image/webp' : undefined
}
