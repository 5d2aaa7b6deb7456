import * as v from 'valibot'
import { rule, type WireSchema } from './fields.ts'
import { readBoolean, readInteger } from './lax-values.ts'

/** Bounds of a number in a query, both inclusive. */
export interface NumberBounds {
  readonly least?: number
  readonly most?: number
}

/** Ids of records are 32 bits wide, and Postgres refuses wider numbers instead of finding nothing. */
const widestId = 2_147_483_647

/** A whole number written in a query or path; without bounds of its own it is one that can be the id of a record. */
/* @__NO_SIDE_EFFECTS__ */
export function queryInteger(bounds: NumberBounds): WireSchema<number, string> {
  const { least = -widestId - 1, most = widestId } = bounds
  return v.pipe(
    v.string(),
    v.metadata({
      type: 'integer',
      ...(bounds.least !== undefined && { minimum: least }),
      maximum: most,
    }),
    rule('int_parsing', 'must be a whole number', (value: string) => 'value' in readInteger(value)),
    v.transform((value) => {
      const reading = readInteger(value)
      return 'value' in reading ? reading.value : NaN
    }),
    v.minValue(least),
    v.maxValue(most),
  )
}

/** A boolean written in a query: `true`, `1`, `yes`, `y`, `on`, `t` and their opposites, in any case. */
export const queryBoolean: WireSchema<boolean, string> = v.pipe(
  v.string(),
  v.metadata({ type: 'boolean' }),
  rule('bool_parsing', 'must be true or false', (value: string) => 'value' in readBoolean(value)),
  v.transform((value) => {
    const reading = readBoolean(value)
    return 'value' in reading && reading.value
  }),
)
