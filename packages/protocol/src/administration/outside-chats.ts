import * as v from 'valibot'
import { always, integer, model, orNull, rule, text, uuid, type Wire, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'

const isGiven = rule('value_error', 'must not be blank', (value: string) => value.trim() !== '')

/** Body of `POST /web-search/search-lite`. */
export const webSearchRequestSchema = model('WebSearchRequest', {
  /** 1 to 8 queries, each of 1 to 1000 characters. */
  queries: v.pipe(v.array(v.pipe(text, v.maxLength(1000), isGiven)), v.minLength(1), v.maxLength(8)),
  /** Maximum number of results per query, 1 to 100; the search service returns at most 10. */
  max_results: v.nullish(v.pipe(integer, v.minValue(1), v.maxValue(100)), 10),
})

const webSearchHitSchema = model('WebSearchHit', {
  /** Always `web_search`. */
  type: v.literal('web_search'),
  /** Always -1: the result belongs to no answer. */
  document_citation_number: integer,
  /** The address. */
  unique_identifier_to_strip_away: v.string(),
  /** Address of the page. */
  url: v.string(),
  /** Title of the page. */
  title: v.string(),
  /** Excerpt of the page that matches the query. */
  snippet: v.string(),
})

/** A page that a web search found. */
export type WebSearchHit = Wire<typeof webSearchHitSchema>

/** Answer of `POST /web-search/search-lite`. */
export const webSearchResultsSchema = model('WebSearchResults', {
  /** Results of each query in the order given, best first. */
  results: v.array(webSearchHitSchema),
  /** The search service; `searxng` for one that clients do not know by name. */
  provider_type: v.string(),
})

/** Body of `POST /web-search/open-urls`. */
export const openUrlsRequestSchema = model('OpenUrlsRequest', {
  /** 1 to 10 addresses. */
  urls: v.pipe(v.array(v.pipe(text, v.maxLength(2000), isGiven)), v.minLength(1), v.maxLength(10)),
})

/** An address that could not be opened. */
const unopenedUrlSchema = model('UnopenedUrl', {
  /** The requested address. */
  url: v.string(),
  /** Why it could not be opened. */
  reason: v.string(),
})

/** A page that was opened. */
const openedUrlSchema = model('OpenedUrl', {
  /** Always `open_url`. */
  type: v.literal('open_url'),
  /** Always -1: the result belongs to no answer. */
  document_citation_number: integer,
  /** The requested address. */
  unique_identifier_to_strip_away: v.string(),
  /** Text of the page; only the beginning of a long page. */
  content: v.string(),
})

/** Answer of `POST /web-search/open-urls`. */
export const openedUrlsSchema = model('OpenedUrls', {
  /** The pages that could be read, in the order asked for. */
  results: v.array(openedUrlSchema),
  /** The addresses that could not be read. */
  not_read: v.array(unopenedUrlSchema),
  /** Always `onyx_web_crawler`, the name that existing clients know for the reader of pages. */
  provider_type: v.string(),
})

/** A picture to start from. */
const referenceImageSchema = model('ReferenceImage', {
  /** The bytes, in base64. */
  data_base64: v.string(),
  /** Ignored: the bytes tell. */
  mime_type: orNull(v.pipe(text, v.maxLength(200))),
})

export const imageGenerationRequestSchema = model('ImageGenerationRequest', {
  /** Description of the picture, 1 to 8000 characters. */
  prompt: v.pipe(text, v.maxLength(8000), isGiven),
  /** Outline of the picture. */
  shape: v.optional(v.picklist(['square', 'portrait', 'landscape']), 'square'),
  /** Number of pictures, 1 to 4. */
  n: v.optional(v.pipe(integer, v.minValue(1), v.maxValue(4)), 1),
  /** Ignored: the deployment sets the quality. */
  quality: orNull(v.pipe(text, v.maxLength(100))),
  /** Pictures to start from, 8 at most. */
  reference_images: v.optional(v.pipe(v.array(referenceImageSchema), v.maxLength(8)), []),
})

/** Body of `POST /image-generation/generate`. */
export type ImageGenerationRequest = Wire<typeof imageGenerationRequestSchema>

const generatedPictureSchema = model('GeneratedPicture', {
  /** The bytes, in base64. */
  data_base64: v.string(),
  /** Media type of the bytes. */
  mime_type: v.string(),
  /** The description that the picture was generated from. */
  revised_prompt: v.string(),
})

/** A picture that was made. */
export type GeneratedPicture = Wire<typeof generatedPictureSchema>

/** Answer of `POST /image-generation/generate`. */
export const generatedPicturesSchema = model('GeneratedPictures', {
  /** The pictures. */
  images: v.array(generatedPictureSchema),
})

/** Answer of `GET /document/document-size-info`. */
export const documentSizeInfoSchema = model('DocumentSizeInfo', {
  /** Number of chunks. */
  num_chunks: integer,
  /** About how many tokens the text has. */
  num_tokens: integer,
})

/** A search that the assistant made for a person. */
const pastSearchSchema = model('PastSearch', {
  /** The first query of the search. */
  query: v.string(),
  /** Its other queries. */
  query_expansions: v.array(v.string()),
  /** When the answer that it belongs to was begun. */
  created_at: answeredTime,
})

/** Answer of `GET /search/search-history`. */
export const searchHistorySchema = model('SearchHistory', {
  /** The searches, newest first. */
  search_queries: v.array(pastSearchSchema),
})

/** Usage of one limit by the caller. */
const ownUsageSchema = model('OwnUsage', {
  /** Name of the limit, such as `requests_per_minute`. */
  limit: v.string(),
  /** Whether it is counted for the person or for the key. */
  of: v.picklist(['caller', 'key']),
  /** Maximum for the current minute or day. */
  max: integer,
  /** Usage in the current minute or day. */
  used: integer,
  /** End of the current minute or day; null for a limit without a period. */
  resets_at: orNull(answeredTime),
})

export const ownUsagesSchema = model('OwnUsages', {
  /** The limits that bind the caller; without limits nothing is counted. */
  usage: v.array(ownUsageSchema),
  per_day_by_model: always([], v.array(v.unknown())),
  /** Always 0: costs are not counted, prices are not known, and there are no budgets. */
  window_cost_cents: always(0, v.number()),
  budget_cents: always(null, v.null()),
  budget_remaining_cents: always(null, v.null()),
  budget_period_hours: always(null, v.null()),
  budget_reset_at: always(null, orNull(answeredTime)),
  selected_model_price: always(null, v.null()),
  available_model_prices: always([], v.array(v.unknown())),
})

/** Answer of `GET /user/usage`. */
export type OwnUsages = Wire<typeof ownUsagesSchema>

const transferFields = model('PersonaTransfer', {
  /** Id of the new owner. */
  new_owner_user_id: orNull(uuid),
  /** Refused: groups own no agents here. */
  new_owner_group_id: orNull(integer),
})

/** Body of `POST /persona/{persona_id}/transfer-ownership`: one of the two. */
export type PersonaTransfer = Wire<typeof transferFields>

export const personaTransferSchema: WireSchema<PersonaTransfer> = v.pipe(
  transferFields,
  rule(
    'value_error',
    'needs new_owner_user_id or new_owner_group_id, and not both',
    (body: PersonaTransfer) => (body.new_owner_user_id === null) !== (body.new_owner_group_id === null),
  ),
)

/** Body of `POST /mcp/user-credentials`. */
export const mcpUserCredentialsSchema = model('McpUserCredentials', {
  /** Number of the MCP server. */
  server_id: integer,
  /** Values by name. */
  credentials: v.record(v.string(), v.pipe(v.string(), v.maxLength(10_000))),
  /** How the server is reached. */
  transport: v.pipe(text, v.maxLength(100)),
})

/** Form of `POST /persona/upload-image`, `multipart/form-data`, for the documentation: it is read as a stream. */
export const personaImageFormSchema = model('PersonaImageForm', {
  /** The picture: PNG, JPEG or WebP. */
  file: v.pipe(v.string(), v.metadata({ format: 'binary' })),
})
