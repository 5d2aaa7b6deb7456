import * as v from 'valibot'
import { rule, type WireSchema } from './fields.ts'
import { readBoolean, readInteger } from './lax-values.ts'

/** Bounds of a number in a query, both inclusive. */
export interface NumberBounds {
  readonly least?: number
  readonly most?: number
}

/** Record ids are 32-bit, and Postgres raises an error for larger numbers instead of finding nothing. */
const widestId = 2_147_483_647

/** An integer in a query or path. Default bounds: those of a record id. */
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
