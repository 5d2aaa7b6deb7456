import * as v from 'valibot'
import { boolean, integer, model, orNull, rule, type Sent, text, type Wire, type WireSchema } from '../fields.ts'
import { rangeSchema, shortList, tagSchema } from './filters.ts'
import { answeredTime, dateTime } from '../timestamps.ts'
import { sourceSchema } from '../sources.ts'

const historyTypes = ['system', 'user', 'assistant', 'user_reminder', 'tool_call', 'tool_call_response'] as const

/** A previous message of the conversation. */
const historyMessageSchema = model('HistoryMessage', {
  /** Text of the message. */
  message: text,
  /** Author of the message. Only user and assistant messages are used. */
  message_type: v.picklist(historyTypes),
})

const searchFields = model('SearchRequest', {
  /** 1 to 2048 characters. */
  query: v.pipe(text, v.minLength(1), v.maxLength(2048)),
  /** Only documents from these sources. */
  sources: orNull(shortList(sourceSchema)),
  /** Only documents in the sets with these names. */
  document_sets: orNull(shortList(text)),
  /** Tags with the same key are alternatives; different keys must all match. */
  tags: orNull(shortList(tagSchema)),
  /** Only documents updated or created at or after this moment. */
  time_cutoff: orNull(dateTime),
  /** Documents created in this range; those without that date are left out. */
  created_at_range: orNull(rangeSchema),
  /** Documents updated in this range; those without that date are left out. */
  updated_at_range: orNull(rangeSchema),
  /** Agent whose document sets and start date limit the search; null: the default agent. */
  persona_id: orNull(integer),
  /** Provider of the model that generates additional queries; requires `model`. */
  provider: orNull(text),
  /** Model that generates additional queries; requires `provider`. */
  model: orNull(text),
  /** True: search for the given query only. */
  skip_query_expansion: v.nullish(boolean, false),
  /** True: results include `ranking`. */
  include_ranking: v.nullish(boolean, false),
  /** Previous messages, oldest first. A query that refers to them is completed from them. */
  message_history: orNull(shortList(historyMessageSchema)),
})

/** Body of `POST /search` with all defaults applied. */
export type SearchRequest = Wire<typeof searchFields>

/** Request body of `POST /search`; only `query` is required. */
export type SearchInput = Sent<typeof searchFields>

export const searchRequestSchema: WireSchema<SearchRequest, SearchInput> = v.pipe(
  searchFields,
  rule(
    'value_error',
    'needs provider and model, or neither',
    (body: v.InferOutput<typeof searchFields>) => (body.provider === null) === (body.model === null),
  ),
)

const searchRankingSchema = model('SearchRanking', {
  /** Final score, 0 to 1; comparable within one response only. */
  score: v.number(),
  /** Keyword score, 0 to 1: a share of the best one; null if unknown. */
  words: orNull(v.number()),
  /** Nearness in meaning, at most 1: 1 for the nearest passage; null without an embedding model. */
  vector: orNull(v.number()),
  /** Weight of `vector` in the score, 0 to 1; `words` has the rest; null if unknown. */
  vector_weight: orNull(v.number()),
  /** Factor for the age of the document, 0 to 1; null if age does not count. */
  recency: orNull(v.number()),
  /** Whether a reranker replaced the score of words and vectors. */
  reranked: boolean,
  /** Whether it moved up because the query names its document. */
  named: boolean,
})

/** Why a passage has its place among the results of `POST /search`. */
export type SearchRanking = Wire<typeof searchRankingSchema>

const searchResultSchema = model('SearchResult', {
  /** Number of the document among the results, from 1. Passages of the same document share it. */
  citation_id: integer,
  /** Display title of the document. */
  title: v.string(),
  /** Text of the passage. */
  content: v.string(),
  /** URL of the passage. */
  link: orNull(v.string()),
  /** Source of the document. */
  source_type: v.string(),
  /** When the document was last changed. */
  updated_at: orNull(answeredTime),
  /** Id of the document; only with `include_ranking`. */
  document_id: v.optional(v.string()),
  /** Index of its first chunk in the document, from 0; only with `include_ranking`. */
  chunk: v.optional(integer),
  /** How it was ranked; only with `include_ranking`. */
  ranking: v.optional(searchRankingSchema),
})

/** A passage found by `POST /search`. */
export type SearchResult = Wire<typeof searchResultSchema>

export const searchResponseSchema = model('SearchResponse', {
  /** The passages, best first. */
  results: v.array(searchResultSchema),
})

/** Answer of `POST /search`. */
export type SearchResponse = Wire<typeof searchResponseSchema>
