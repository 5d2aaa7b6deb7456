import * as v from 'valibot'
import { boolean, integer, model, orNull, rule, text, type WireSchema } from '../fields.ts'
import { rangeSchema, shortList, type Tag, tagSchema, type TimestampRange } from './filters.ts'
import { answeredTime, dateTime } from '../timestamps.ts'
import { sourceSchema, type SourceValue } from '../sources.ts'

/** Body of `POST /search` with all defaults applied. */
export interface SearchRequest {
  /** 1 to 2048 characters. */
  readonly query: string
  /** Only documents from these sources. */
  readonly sources: readonly SourceValue[] | null
  /** Only documents in the sets with these names. */
  readonly document_sets: readonly string[] | null
  /** Tags with the same key are alternatives; different keys must all match. */
  readonly tags: readonly Tag[] | null
  /** Only documents updated or created at or after this moment. */
  readonly time_cutoff: string | null
  /** Documents created in this range; those without that date are left out. */
  readonly created_at_range: TimestampRange | null
  /** Documents updated in this range; those without that date are left out. */
  readonly updated_at_range: TimestampRange | null
  /** Agent whose document sets and start date limit the search; null: the default agent. */
  readonly persona_id: number | null
  /** Provider of the model that generates additional queries; requires `model`. */
  readonly provider: string | null
  /** Model that generates additional queries; requires `provider`. */
  readonly model: string | null
  /** True: search for the given query only. */
  readonly skip_query_expansion: boolean
  /** Previous messages, oldest first. A query that refers to them is completed from them. */
  readonly message_history: readonly HistoryMessage[] | null
}

/** A previous message of the conversation. */
export interface HistoryMessage {
  /** Text of the message. */
  readonly message: string
  /** Author of the message. Only user and assistant messages are used. */
  readonly message_type: (typeof historyTypes)[number]
}

const historyTypes = ['system', 'user', 'assistant', 'user_reminder', 'tool_call', 'tool_call_response'] as const

/** Request body of `POST /search`; only `query` is required. */
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
  /** Number of the document among the results, from 1. Passages of the same document share it. */
  readonly citation_id: number
  /** Display title of the document. */
  readonly title: string
  /** Text of the passage. */
  readonly content: string
  /** URL of the passage. */
  readonly link: string | null
  /** Source of the document. */
  readonly source_type: string
  /** When the document was last changed. */
  readonly updated_at: string | null
}

/** Answer of `POST /search`. */
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
