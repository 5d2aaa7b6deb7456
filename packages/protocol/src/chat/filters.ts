import * as v from 'valibot'
import { model, orNull, text, type Wire, type WireSchema } from '../fields.ts'
import { dateTime } from '../timestamps.ts'
import { sourceSchema, type SourceValue } from '../sources.ts'

/** Search filters. All given filters must match; absent and null filters are ignored. */
export interface BaseFilters {
  /** Kinds of source; an empty list is ignored. */
  readonly source_type?: readonly SourceValue[] | null
  /** Names of document sets. Any list, even an empty one, replaces the document sets of the agent. */
  readonly document_set?: readonly string[] | null
  /** Documents created in this range; documents without a creation date are excluded. */
  readonly created_at_range?: TimestampRange | null
  /** Documents updated in this range; documents without an update date are excluded. */
  readonly updated_at_range?: TimestampRange | null
  /** Tags with the same key are alternatives; different keys must all match. */
  readonly tags?: readonly Tag[] | null
  /** Documents updated or created at or after this moment. */
  readonly time_cutoff?: string | null
}

/**
 * A list of at most 1000 entries that becomes part of a database or index query. Tens of thousands of entries crash an
 * embedded engine.
 */
export function shortList<Output, Input>(
  item: WireSchema<Output, Input>,
): WireSchema<readonly Output[], readonly Input[]> {
  return v.pipe(v.array(item), v.maxLength(1000))
}

/** A time range in ISO 8601, inclusive on both ends; either end can be open. */
export interface TimestampRange {
  /** Start of the range, inclusive; null: open. */
  readonly start?: string | null
  /** End of the range, inclusive; null: open. */
  readonly end?: string | null
}

export const rangeSchema: WireSchema<TimestampRange, TimestampRange> = model('TimestampRange', {
  start: orNull(dateTime),
  end: orNull(dateTime),
})

export const tagSchema = model('Tag', {
  /** Name of the metadata entry. */
  tag_key: text,
  /** Value of the entry, or one of its values. */
  tag_value: text,
})

/** A metadata entry a document must have. */
export type Tag = Wire<typeof tagSchema>

/** Schema of {@link BaseFilters}. Parsed filters have every field, and every time ends in `Z`. */
export const baseFiltersSchema: WireSchema<Required<BaseFilters>, BaseFilters> = model('BaseFilters', {
  source_type: orNull(shortList(sourceSchema)),
  document_set: orNull(shortList(text)),
  created_at_range: orNull(rangeSchema),
  updated_at_range: orNull(rangeSchema),
  tags: orNull(shortList(tagSchema)),
  time_cutoff: orNull(dateTime),
})
