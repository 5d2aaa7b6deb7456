import * as v from 'valibot'
import { model, type WireSchema } from '../fields.ts'
import { queryInteger } from '../query.ts'

/** A metadata entry found in searchable documents, and their source. */
export interface ValidTag {
  /** Name of the metadata entry. */
  readonly tag_key: string
  /** One value of the entry. */
  readonly tag_value: string
  /** Source of the documents with this entry. */
  readonly source: string
}

/** Answer of `GET /query/valid-tags`. */
export interface ValidTags {
  /** Sorted by key, then value. */
  readonly tags: readonly ValidTag[]
}

export const validTagsSchema: WireSchema<ValidTags> = model('ValidTags', {
  tags: v.array(model('ValidTag', { tag_key: v.string(), tag_value: v.string(), source: v.string() })),
})

/** Query of `GET /query/valid-tags`. */
export interface ValidTagsQuery {
  /** Case-insensitive part of a key or value; `key=value` matches both. */
  readonly match_pattern?: string
  /** 1 to 1000. */
  readonly limit: number
}

export const validTagsQuerySchema: WireSchema<ValidTagsQuery> = model('ValidTagsQuery', {
  match_pattern: v.optional(v.string()),
  limit: v.optional(queryInteger({ least: 1, most: 1000 }), '50'),
})
