import * as v from 'valibot'
import { fault, rule, type WireSchema } from './fields.ts'

const form = /^(?:urn:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?$/i

/** A UUID of any common spelling in lower case with hyphens; undefined for any other text. */
export function asUuid(value: string): string | undefined {
  return form.exec(value)?.slice(1).join('-').toLowerCase()
}

const isBlank = (value: string | null): boolean => value === null || value.trim() === ''

/** A UUID of any version and common spelling; afterwards lower case with hyphens. */
export const uuid: WireSchema<string, string> = v.pipe(
  v.string(fault('uuid_type', 'must be a UUID')),
  v.metadata({ format: 'uuid' }),
  rule('uuid_parsing', 'must be a UUID', (value: string) => form.test(value)),
  v.transform((value) => asUuid(value) ?? value),
)

/** As {@link uuid}, but blank text counts as null, and so does absence. */
export const uuidOrBlank: WireSchema<string | null, string | null | undefined> = v.pipe(
  v.nullish(v.string(fault('uuid_type', 'must be a UUID')), null),
  v.metadata({ format: 'uuid' }),
  rule('uuid_parsing', 'must be a UUID', (value: string | null) => isBlank(value) || form.test(value ?? '')),
  v.transform((value) => (isBlank(value) ? null : (asUuid(value ?? '') ?? null))),
)
