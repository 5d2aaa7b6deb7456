import * as v from 'valibot'
import { boolean, integer, model, orNull, rule, text, type WireSchema } from '../fields.ts'
import { rangeSchema, shortList, type Tag, tagSchema, type TimestampRange } from './filters.ts'
import { answeredTime, dateTime } from '../timestamps.ts'
import { sourceSchema, type SourceValue } from '../sources.ts'

/** Body of `POST /search`, as read: every default applied. */
export interface SearchRequest {
  /** 1 to 2048 characters. */
  readonly query: string
  /** Only documents from these kinds of source. */
  readonly sources: readonly SourceValue[] | null
  /** Only documents of the sets with these names. */
  readonly document_sets: readonly string[] | null
  /** Several tags of one key: any of them; different keys: all of them. */
  readonly tags: readonly Tag[] | null
  /** Only documents updated or created at or after this moment. */
  readonly time_cutoff: string | null
  /** Documents created in this range; those without that date are left out. */
  readonly created_at_range: TimestampRange | null
  /** Documents updated in this range; those without that date are left out. */
  readonly updated_at_range: TimestampRange | null
  /** Agent whose document sets and start date bound the search; null: the default one. */
  readonly persona_id: number | null
  /** Provider of the model that thinks of further queries; goes with `model`. */
  readonly provider: string | null
  /** The model that thinks of further queries; goes with `provider`. */
  readonly model: string | null
  /** True: the query alone is searched for. */
  readonly skip_query_expansion: boolean
  /** The conversation before the query, oldest first: a query that leans on it is searched with what it leans on. */
  readonly message_history: readonly HistoryMessage[] | null
}

/** A message of the conversation before a query. */
export interface HistoryMessage {
  /** Text of the message. */
  readonly message: string
  /** Who said it. Only messages of users and assistants count. */
  readonly message_type: (typeof historyTypes)[number]
}

const historyTypes = ['system', 'user', 'assistant', 'user_reminder', 'tool_call', 'tool_call_response'] as const

/** What a client may send to `POST /search`: only `query` is needed. */
export type SearchInput = Pick<SearchRequest, 'query'> & {
  readonly [Name in Exclude<keyof SearchRequest, 'query'>]?: SearchRequest[Name] | null
}

const searchFields = model('SearchRequest', {
  query: v.pipe(text, v.minLength(1), v.maxLength(2048)),
  sources: orNull(shortList(sourceSchema)),
  document_sets: orNull(shortList(text)),
  tags: orNull(shortList(tagSchema)),
  time_cutoff: orNull(dateTime),
  created_at_range: orNull(rangeSchema),
  updated_at_range: orNull(rangeSchema),
  persona_id: orNull(integer),
  provider: orNull(text),
  model: orNull(text),
  skip_query_expansion: v.nullish(boolean, false),
  message_history: orNull(
    shortList(model('HistoryMessage', { message: text, message_type: v.picklist(historyTypes) })),
  ),
})

export const searchRequestSchema: WireSchema<SearchRequest, SearchInput> = v.pipe(
  searchFields,
  rule(
    'value_error',
    'needs provider and model, or neither',
    (body: v.InferOutput<typeof searchFields>) => (body.provider === null) === (body.model === null),
  ),
)

/** A passage found by `POST /search`. */
export interface SearchResult {
  /** Number of the document among the results, from 1; passages of one document share it. */
  readonly citation_id: number
  /** Display title of the document. */
  readonly title: string
  /** Text of the passage. */
  readonly content: string
  /** Address of the passage. */
  readonly link: string | null
  /** Kind of source it came from. */
  readonly source_type: string
  /** When the document was last changed. */
  readonly updated_at: string | null
}

/** Answer of `POST /search`, best first. */
export interface SearchResponse {
  /** The passages, best first. */
  readonly results: readonly SearchResult[]
}

export const searchResponseSchema: WireSchema<SearchResponse> = model('SearchResponse', {
  results: v.array(
    model('SearchResult', {
      citation_id: integer,
      title: v.string(),
      content: v.string(),
      link: orNull(v.string()),
      source_type: v.string(),
      updated_at: orNull(answeredTime),
    }),
  ),
})
