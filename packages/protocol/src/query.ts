import * as v from 'valibot'
import { rule, type WireSchema } from './fields.ts'

/** Bounds of a number in a query, both inclusive. */
export interface NumberBounds {
  readonly least?: number
  readonly most?: number
}

/** Ids of records are 32 bits wide, and Postgres refuses wider numbers instead of finding nothing. */
const widestId = 2_147_483_647

/** A whole number written in a query or path; without bounds of its own it is one that can be the id of a record. */
export function queryInteger(bounds: NumberBounds): WireSchema<number, string> {
  const { least = -widestId - 1, most = widestId } = bounds
  return v.pipe(
    v.string(),
    v.metadata({
      type: 'integer',
      ...(bounds.least !== undefined && { minimum: least }),
      maximum: most,
    }),
    rule('int_parsing', 'must be a whole number', (value: string) => /^[+-]?\d{1,15}$/.test(value.trim())),
    v.transform(Number),
    v.minValue(least),
    v.maxValue(most),
  )
}

/** A yes or no written in a query: `true`, `1`, `yes`, `on` and their opposites, in any case. */
export const queryBoolean: WireSchema<boolean, string> = v.pipe(
  v.string(),
  v.metadata({ type: 'boolean' }),
  rule('bool_parsing', 'must be true or false', (value: string) => /^(true|1|yes|on|false|0|no|off)$/i.test(value)),
  v.transform((value) => /^(true|1|yes|on)$/i.test(value)),
)
