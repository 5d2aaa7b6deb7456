import * as v from 'valibot'
import { integer, model, orNull, rule, text, uuid, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'

/** Body of `POST /web-search/search-lite`. */
export interface WebSearchRequest {
  /** 1 to 8 queries, each of 1 to 1000 characters. */
  readonly queries: readonly string[]
  /** Most results of each query, 1 to 100; the search service gives 10 at most. */
  readonly max_results: number
}

const isGiven = rule('value_error', 'must not be blank', (value: string) => value.trim() !== '')

export const webSearchRequestSchema: WireSchema<WebSearchRequest> = model('WebSearchRequest', {
  queries: v.pipe(v.array(v.pipe(text, v.maxLength(1000), isGiven)), v.minLength(1), v.maxLength(8)),
  max_results: v.nullish(v.pipe(integer, v.minValue(1), v.maxValue(100)), 10),
})

/** A page that a web search found. */
export interface WebSearchHit {
  /** Always `web_search`. */
  readonly type: 'web_search'
  /** Always -1: the result belongs to no answer. */
  readonly document_citation_number: number
  /** The address. */
  readonly unique_identifier_to_strip_away: string
  /** Address of the page. */
  readonly url: string
  /** Title of the page. */
  readonly title: string
  /** What the page says about the query. */
  readonly snippet: string
}

/** Answer of `POST /web-search/search-lite`. */
export interface WebSearchResults {
  /** What was found, by query in the order given, then best first. */
  readonly results: readonly WebSearchHit[]
  /** Always `custom`: the deployment chooses the search service. */
  readonly provider_type: string
}

const hitFields = { document_citation_number: integer, unique_identifier_to_strip_away: v.string() }

export const webSearchResultsSchema: WireSchema<WebSearchResults> = model('WebSearchResults', {
  results: v.array(
    model('WebSearchHit', {
      type: v.literal('web_search'),
      ...hitFields,
      url: v.string(),
      title: v.string(),
      snippet: v.string(),
    }),
  ),
  provider_type: v.string(),
})

/** Body of `POST /web-search/open-urls`. */
export interface OpenUrlsRequest {
  /** 1 to 10 addresses. */
  readonly urls: readonly string[]
}

export const openUrlsRequestSchema: WireSchema<OpenUrlsRequest> = model('OpenUrlsRequest', {
  urls: v.pipe(v.array(v.pipe(text, v.maxLength(2000), isGiven)), v.minLength(1), v.maxLength(10)),
})

/** A page that was opened. */
export interface OpenedUrl {
  /** Always `open_url`. */
  readonly type: 'open_url'
  /** Always -1: the result belongs to no answer. */
  readonly document_citation_number: number
  /** The address, as it was asked for. */
  readonly unique_identifier_to_strip_away: string
  /** What the page says; of a long page the beginning. */
  readonly content: string
}

/** An address that could not be opened. */
export interface UnopenedUrl {
  /** The address, as it was asked for. */
  readonly url: string
  /** Why it could not be opened. */
  readonly reason: string
}

/** Answer of `POST /web-search/open-urls`. */
export interface OpenedUrls {
  /** The pages that could be read, in the order asked for. */
  readonly results: readonly OpenedUrl[]
  /** The addresses that could not be read. */
  readonly not_read: readonly UnopenedUrl[]
  /** Always `onyx_web_crawler`, the name that existing clients know for the reader of pages. */
  readonly provider_type: string
}

export const openedUrlsSchema: WireSchema<OpenedUrls> = model('OpenedUrls', {
  results: v.array(model('OpenedUrl', { type: v.literal('open_url'), ...hitFields, content: v.string() })),
  not_read: v.array(model('UnopenedUrl', { url: v.string(), reason: v.string() })),
  provider_type: v.string(),
})

/** A picture to start from. */
export interface ReferenceImage {
  /** The bytes, in base64. */
  readonly data_base64: string
  /** Ignored: the bytes tell. */
  readonly mime_type: string | null
}

/** Body of `POST /image-generation/generate`. */
export interface ImageGenerationRequest {
  /** What the picture shows, 1 to 8000 characters. */
  readonly prompt: string
  /** Outline of the picture. */
  readonly shape: 'square' | 'portrait' | 'landscape'
  /** Number of pictures, 1 to 4. */
  readonly n: number
  /** Ignored: the deployment sets the quality. */
  readonly quality: string | null
  /** Pictures to start from, 8 at most. */
  readonly reference_images: readonly ReferenceImage[]
}

export const imageGenerationRequestSchema: WireSchema<ImageGenerationRequest> = model('ImageGenerationRequest', {
  prompt: v.pipe(text, v.maxLength(8000), isGiven),
  shape: v.optional(v.picklist(['square', 'portrait', 'landscape']), 'square'),
  n: v.optional(v.pipe(integer, v.minValue(1), v.maxValue(4)), 1),
  quality: orNull(v.pipe(text, v.maxLength(100))),
  reference_images: v.optional(
    v.pipe(
      v.array(model('ReferenceImage', { data_base64: v.string(), mime_type: orNull(v.pipe(text, v.maxLength(200))) })),
      v.maxLength(8),
    ),
    [],
  ),
})

/** A picture that was made. */
export interface GeneratedPicture {
  /** The bytes, in base64. */
  readonly data_base64: string
  /** Media type of the bytes. */
  readonly mime_type: string
  /** What was drawn in the end. */
  readonly revised_prompt: string
}

/** Answer of `POST /image-generation/generate`. */
export interface GeneratedPictures {
  /** The pictures. */
  readonly images: readonly GeneratedPicture[]
}

export const generatedPicturesSchema: WireSchema<GeneratedPictures> = model('GeneratedPictures', {
  images: v.array(
    model('GeneratedPicture', { data_base64: v.string(), mime_type: v.string(), revised_prompt: v.string() }),
  ),
})

/** Answer of `GET /document/document-size-info`. */
export interface DocumentSizeInfo {
  /** Number of chunks. */
  readonly num_chunks: number
  /** About how many tokens the text has. */
  readonly num_tokens: number
}

export const documentSizeInfoSchema: WireSchema<DocumentSizeInfo> = model('DocumentSizeInfo', {
  num_chunks: integer,
  num_tokens: integer,
})

/** A search that the assistant made for a person. */
export interface PastSearch {
  /** The first query of the search. */
  readonly query: string
  /** Its other queries. */
  readonly query_expansions: readonly string[]
  /** When the answer that it belongs to was begun. */
  readonly created_at: string
}

/** Answer of `GET /search/search-history`. */
export interface SearchHistory {
  /** The searches, newest first. */
  readonly search_queries: readonly PastSearch[]
}

export const searchHistorySchema: WireSchema<SearchHistory> = model('SearchHistory', {
  search_queries: v.array(
    model('PastSearch', { query: v.string(), query_expansions: v.array(v.string()), created_at: answeredTime }),
  ),
})

/** What a caller used of one limit. */
export interface OwnUsage {
  /** Name of the limit. */
  readonly limit: string
  /** Whether it is counted for the person or for the key. */
  readonly of: 'caller' | 'key'
  /** What may be used in the present minute or day. */
  readonly max: number
  /** What was used in the present minute or day. */
  readonly used: number
  /** When counting begins anew; null for a limit without a period. */
  readonly resets_at: string | null
}

/** Answer of `GET /user/usage`. */
export interface OwnUsages {
  /** The limits that bind the caller; without limits nothing is counted. */
  readonly usage: readonly OwnUsage[]
}

export const ownUsagesSchema: WireSchema<OwnUsages> = model('OwnUsages', {
  usage: v.array(
    model('OwnUsage', {
      limit: v.string(),
      of: v.picklist(['caller', 'key']),
      max: integer,
      used: integer,
      resets_at: orNull(answeredTime),
    }),
  ),
})

/** Body of `POST /persona/{persona_id}/transfer-ownership`: one of the two. */
export interface PersonaTransfer {
  /** Id of the person who is to own the agent. */
  readonly new_owner_user_id: string | null
  /** Refused: groups own no agents here. */
  readonly new_owner_group_id: number | null
}

export const personaTransferSchema: WireSchema<PersonaTransfer> = v.pipe(
  model('PersonaTransfer', { new_owner_user_id: orNull(uuid), new_owner_group_id: orNull(integer) }),
  rule(
    'value_error',
    'needs new_owner_user_id or new_owner_group_id, and not both',
    (body: PersonaTransfer) => (body.new_owner_user_id === null) !== (body.new_owner_group_id === null),
  ),
)

/** Body of `POST /mcp/user-credentials`. */
export interface McpUserCredentials {
  /** Number of the MCP server. */
  readonly server_id: number
  /** Values by name. */
  readonly credentials: Readonly<Record<string, string>>
  /** How the server is reached. */
  readonly transport: string
}

export const mcpUserCredentialsSchema: WireSchema<McpUserCredentials> = model('McpUserCredentials', {
  server_id: integer,
  credentials: v.record(v.string(), v.pipe(v.string(), v.maxLength(10_000))),
  transport: v.pipe(text, v.maxLength(100)),
})

/** Form of `POST /persona/upload-image`, `multipart/form-data`, for the documentation: it is read as a stream. */
export interface PersonaImageForm {
  /** The picture: PNG, JPEG or WebP. */
  readonly file: string
}

export const personaImageFormSchema: v.GenericSchema = model('PersonaImageForm', {
  file: v.pipe(v.string(), v.metadata({ format: 'binary' })),
})
