import * as v from 'valibot'
import { model, type Wire } from '../fields.ts'
import { queryInteger } from '../query.ts'

const validTagSchema = model('ValidTag', {
  /** Name of the metadata entry. */
  tag_key: v.string(),
  /** One value of the entry. */
  tag_value: v.string(),
  /** Source of the documents with this entry. */
  source: v.string(),
})

/** A metadata entry found in searchable documents, and their source. */
export type ValidTag = Wire<typeof validTagSchema>

export const validTagsSchema = model('ValidTags', {
  /** Sorted by key, then value. */
  tags: v.array(validTagSchema),
})

/** Answer of `GET /query/valid-tags`. */
export type ValidTags = Wire<typeof validTagsSchema>

/** Query of `GET /query/valid-tags`. */
export const validTagsQuerySchema = model('ValidTagsQuery', {
  /** Case-insensitive part of a key or value; `key=value` matches both. */
  match_pattern: v.optional(v.string()),
  /** 1 to 1000. */
  limit: v.optional(queryInteger({ least: 1, most: 1000 }), '50'),
})
