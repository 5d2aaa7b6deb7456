import * as v from 'valibot'
import { model, type WireSchema } from '../fields.ts'
import { queryInteger } from '../query.ts'

/** A metadata entry that searchable documents have, with their source. */
export interface ValidTag {
  /** Name of the metadata entry. */
  readonly tag_key: string
  /** One of its values. */
  readonly tag_value: string
  /** Kind of source of the documents that have it. */
  readonly source: string
}

/** Answer of `GET /query/valid-tags`. */
export interface ValidTags {
  /** By key, then value. */
  readonly tags: readonly ValidTag[]
}

export const validTagsSchema: WireSchema<ValidTags> = model('ValidTags', {
  tags: v.array(model('ValidTag', { tag_key: v.string(), tag_value: v.string(), source: v.string() })),
})

/** Query of `GET /query/valid-tags`. */
export interface ValidTagsQuery {
  /** Part of a key or value in any case; `key=value` asks for both. */
  readonly match_pattern?: string
  /** 1 to 1000. */
  readonly limit: number
}

export const validTagsQuerySchema: WireSchema<ValidTagsQuery> = model('ValidTagsQuery', {
  match_pattern: v.optional(v.string()),
  limit: v.optional(queryInteger({ least: 1, most: 1000 }), '50'),
})
