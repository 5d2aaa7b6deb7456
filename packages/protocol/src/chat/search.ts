import * as v from 'valibot'
import { integer, model, orNull, rule, text, type WireSchema } from '../fields.ts'
import { shortList, type Tag, tagSchema } from './filters.ts'
import { dateTime } from '../timestamps.ts'
import { sourceSchema, type SourceValue } from '../ingestion/sources.ts'

/** Body of `POST /search`, as read: every default applied. */
export interface SearchBody {
  /** 1 to 2048 characters. */
  readonly query: string
  readonly sources: readonly SourceValue[] | null
  readonly document_sets: readonly string[] | null
  readonly tags: readonly Tag[] | null
  readonly time_cutoff: string | null
  /** Agent whose document sets and start date bound the search; null: the default one. */
  readonly persona_id: number | null
  /** Both or neither: the model that thinks of further queries. */
  readonly provider: string | null
  readonly model: string | null
  /** True: the query alone is searched for. */
  readonly skip_query_expansion: boolean
}

/** What a client may send to `POST /search`: only `query` is needed. */
export type SearchInput = Pick<SearchBody, 'query'> & {
  readonly [Name in Exclude<keyof SearchBody, 'query'>]?: SearchBody[Name] | null
}

const searchFields = model({
  query: v.pipe(text, v.minLength(1), v.maxLength(2048)),
  sources: orNull(shortList(sourceSchema)),
  document_sets: orNull(shortList(text)),
  tags: orNull(shortList(tagSchema)),
  time_cutoff: orNull(dateTime),
  persona_id: orNull(integer),
  provider: orNull(text),
  model: orNull(text),
  skip_query_expansion: v.nullish(v.boolean(), false),
})

/** Schema of {@link SearchBody}. */
export const searchRequestSchema: WireSchema<SearchBody, SearchInput> = v.pipe(
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
  readonly title: string
  readonly content: string
  readonly link: string | null
  readonly source_type: string
  readonly updated_at: string | null
}

/** Answer of `POST /search`, best first. */
export interface SearchResponse {
  readonly results: readonly SearchResult[]
}

/** Schema of {@link SearchResponse}. */
export const searchResponseSchema: WireSchema<SearchResponse> = model({
  results: v.array(
    model({
      citation_id: integer,
      title: v.string(),
      content: v.string(),
      link: orNull(v.string()),
      source_type: v.string(),
      updated_at: orNull(v.string()),
    }),
  ),
})
