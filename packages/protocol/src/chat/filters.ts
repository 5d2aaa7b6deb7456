import * as v from 'valibot'
import { model, orNull, type Sent, text, type Wire, type WireSchema } from '../fields.ts'
import { dateTime } from '../timestamps.ts'
import { sourceSchema } from '../sources.ts'

/** At most 1000 entries of a database or index query: tens of thousands crash an embedded engine. */
export function shortList<Output, Input>(
  item: WireSchema<Output, Input>,
): WireSchema<readonly Output[], readonly Input[]> {
  return v.pipe(v.array(item), v.maxLength(1000))
}

export const rangeSchema = model('TimestampRange', {
  /** Start of the range, inclusive; null: open. */
  start: orNull(dateTime),
  /** End of the range, inclusive; null: open. */
  end: orNull(dateTime),
})

/** A time range in ISO 8601, inclusive on both ends; either end can be open. */
export type TimestampRange = Sent<typeof rangeSchema>

export const tagSchema = model('Tag', {
  /** Name of the metadata entry. */
  tag_key: text,
  /** Value of the entry, or one of its values. */
  tag_value: text,
})

/** A metadata entry a document must have. */
export type Tag = Wire<typeof tagSchema>

/** Schema of {@link BaseFilters}. Parsed filters have every field, and every time ends in `Z`. */
export const baseFiltersSchema = model('BaseFilters', {
  /** Kinds of source; an empty list is ignored. */
  source_type: orNull(shortList(sourceSchema)),
  /** Names of document sets. Any list, even an empty one, replaces the document sets of the agent. */
  document_set: orNull(shortList(text)),
  /** Documents created in this range; documents without a creation date are excluded. */
  created_at_range: orNull(rangeSchema),
  /** Documents updated in this range; documents without an update date are excluded. */
  updated_at_range: orNull(rangeSchema),
  /** Tags with the same key are alternatives; different keys must all match. */
  tags: orNull(shortList(tagSchema)),
  /** Documents updated or created at or after this moment. */
  time_cutoff: orNull(dateTime),
})

/** Search filters. All given filters must match; absent and null filters are ignored. */
export type BaseFilters = Sent<typeof baseFiltersSchema>
