import * as v from 'valibot'
import { model, orNull, text, type WireSchema } from '../fields.ts'
import { dateTime } from '../timestamps.ts'
import { sourceSchema, type SourceValue } from '../sources.ts'

/** A stretch of time: ISO 8601, both ends inclusive, either may be open. */
export interface TimestampRange {
  /** First moment of the range, inclusive; null leaves it open. */
  readonly start?: string | null
  /** Last moment of the range, inclusive; null leaves it open. */
  readonly end?: string | null
}

/** A metadata entry a document must have. */
export interface Tag {
  /** Name of the metadata entry. */
  readonly tag_key: string
  /** Value of the entry, or one of its values. */
  readonly tag_value: string
}

/** What narrows a search; all given parts bind together. Absent and null mean no narrowing. */
export interface BaseFilters {
  /** An empty list narrows nothing. */
  readonly source_type?: readonly SourceValue[] | null
  /** Names of document sets; a list, also an empty one, replaces the agent's own. */
  readonly document_set?: readonly string[] | null
  /** Documents created in this range; those without that date are left out. */
  readonly created_at_range?: TimestampRange | null
  /** Documents updated in this range; those without that date are left out. */
  readonly updated_at_range?: TimestampRange | null
  /** Several tags of one key: any of them; different keys: all of them. */
  readonly tags?: readonly Tag[] | null
  /** Documents updated or created at or after this moment. */
  readonly time_cutoff?: string | null
}

/**
 * A list that databases and indexes have to look through: at most 1000 entries. Each becomes part of a query, and some
 * tens of thousands end the process of an embedded engine.
 */
export function shortList<Output, Input>(
  item: WireSchema<Output, Input>,
): WireSchema<readonly Output[], readonly Input[]> {
  return v.pipe(v.array(item), v.maxLength(1000))
}

export const rangeSchema: WireSchema<TimestampRange, TimestampRange> = model('TimestampRange', {
  start: orNull(dateTime),
  end: orNull(dateTime),
})

export const tagSchema: WireSchema<Tag, Tag> = model('Tag', { tag_key: text, tag_value: text })

/** Schema of {@link BaseFilters}; afterwards no field is absent and every moment ends in `Z`. */
export const baseFiltersSchema: WireSchema<Required<BaseFilters>, BaseFilters> = model('BaseFilters', {
  source_type: orNull(shortList(sourceSchema)),
  document_set: orNull(shortList(text)),
  created_at_range: orNull(rangeSchema),
  updated_at_range: orNull(rangeSchema),
  tags: orNull(shortList(tagSchema)),
  time_cutoff: orNull(dateTime),
})
