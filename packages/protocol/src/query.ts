import * as v from 'valibot'
import { rule, type WireSchema } from './fields.ts'

/** Bounds of a number in a query, both inclusive. */
export interface NumberBounds {
  readonly least?: number
  readonly most?: number
}

/** A whole number written in a query or path. */
export function queryInteger(bounds: NumberBounds): WireSchema<number, string> {
  const { least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER } = bounds
  return v.pipe(
    v.string(),
    v.metadata({
      type: 'integer',
      ...(bounds.least !== undefined && { minimum: least }),
      ...(bounds.most !== undefined && { maximum: most }),
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
