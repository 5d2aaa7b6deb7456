import * as v from 'valibot'
import { fault, rule, type WireSchema } from './fields.ts'
import { readUnixTime } from './lax-values.ts'

const form = /^(\d{4}-\d\d-\d\d)(?:[Tt _](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,9}))?\s?(?:([Zz])|([+-])(\d\d):?(\d\d)?)?)?$/

/**
 * Reads an ISO 8601 date or date-time. Without an offset it is UTC; a date alone is its midnight.
 * @returns milliseconds since 1970 UTC (finer digits are truncated), or undefined if invalid
 */
export function readTimestamp(value: string): number | undefined {
  const parts = form.exec(value)
  if (!parts) return undefined
  const [, day, time = '00:00', seconds = ':00', fraction = '', , sign, hours = '00', minutes = '00'] = parts
  const local = Date.parse(`${day}T${time}${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}Z`)
  // Some engines roll over a nonexistent day, and accept 24:00 as the next day.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 16) !== `${day}T${time}`) return undefined
  if (!sign) return local
  const offsetMinutes = Number(hours) * 60 + Number(minutes)
  if (offsetMinutes >= 24 * 60 || Number(minutes) > 59) return undefined
  return local - (sign === '-' ? -offsetMinutes : offsetMinutes) * 60_000
}

const inRange = (ms: number): boolean => ms >= -62_135_596_800_000 && ms <= 253_402_300_799_999

/** A date-time in a request, converted to `YYYY-MM-DDTHH:MM:SS.sssZ`. Years 1 to 9999. */
export const dateTime: WireSchema<string, string> = withUnixTimes(
  v.pipe(
    v.string(fault('datetime_type', 'must be an ISO 8601 date-time')),
    v.metadata({ format: 'date-time' }),
    rule('datetime_parsing', 'must be an ISO 8601 date-time such as 2026-01-31T09:30:00Z', (value: string) => {
      const ms = readTimestamp(value)
      return ms !== undefined && inRange(ms)
    }),
    v.transform((value) => new Date(readTimestamp(value) ?? 0).toISOString()),
  ),
)

/** Also accepts numbers, which existing clients send: seconds or milliseconds since 1970 UTC. */
/* @__NO_SIDE_EFFECTS__ */
function withUnixTimes(schema: WireSchema<string, string>): WireSchema<string, string> {
  const run = schema['~run']
  return Object.assign(schema, {
    '~run': (dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) => {
      const ms = readUnixTime(dataset.value)
      const isTime = ms !== undefined && inRange(ms)
      return run.call(schema, isTime ? { ...dataset, value: new Date(ms).toISOString() } : dataset, config)
    },
  })
}

/** A date-time in an answer: ISO 8601 with an offset. */
export const timestamp: WireSchema<string, string> = v.pipe(v.string(), v.isoTimestamp())

/** A date-time in an answer, unchanged. */
export const answeredTime: WireSchema<string, string> = v.pipe(v.string(), v.metadata({ format: 'date-time' }))
