import * as v from 'valibot'
import { readBoolean, readInteger, readNumber, type LaxReading } from './lax-values.ts'
import { suggestionFor } from './suggestion.ts'

/** A wire schema: the accepted input and the parsed value with defaults applied. */
export type WireSchema<Output, Input = unknown> = v.GenericSchema<Input, Output>

/** The parsed value of a schema, deeply read-only: wire types are inferred from their schemas. */
export type Wire<Schema extends v.GenericSchema> = ReadOnly<v.InferOutput<Schema>>

/** What may be sent for a schema, deeply read-only. */
export type Sent<Schema extends v.GenericSchema> = ReadOnly<v.InferInput<Schema>>

type ReadOnly<Value> = Value extends object ? { readonly [Name in keyof Value]: ReadOnly<Value[Name]> } : Value

// The builders carry `@__NO_SIDE_EFFECTS__`, so that bundlers drop unused schemas.

/** The message of an issue, one clause, with pydantic's name for it; validation separates the two again. */
/* @__NO_SIDE_EFFECTS__ */
export function fault(type: string, message: string): string {
  return `${message} [type=${type}]`
}

/** A check whose issue has a pydantic name, for use in a pipe. */
/* @__NO_SIDE_EFFECTS__ */
export function rule<Value>(
  type: string,
  message: string,
  holds: (value: Value) => boolean,
): v.CheckAction<Value, string> {
  return v.check(holds, fault(type, message))
}

/** Valibot accepts a list as an object; the wire does not. */
/* @__NO_SIDE_EFFECTS__ */
function withoutLists<Schema extends v.GenericSchema>(schema: Schema): Schema {
  const run = schema['~run']
  return Object.assign(schema, {
    '~run': (dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) =>
      run.call(schema, Array.isArray(dataset.value) ? { ...dataset, value: null } : dataset, config),
  })
}

const nameMark: unique symbol = Symbol('name')

/** Sets the name of a schema in the OpenAPI document. */
/* @__NO_SIDE_EFFECTS__ */
export function named<Schema extends v.GenericSchema>(name: string, schema: Schema): Schema {
  return Object.assign(schema, { [nameMark]: name })
}

/** The name set by {@link named}; a pipe has the name of its first schema. */
export function nameOf(schema: object): string | undefined {
  // Only `named` writes this property.
  return nameMark in schema ? (schema[nameMark] as string) : undefined
}

/**
 * An object with known fields; unknown fields are ignored. With a name it becomes a schema of the OpenAPI document,
 * whose descriptions are the comments of its fields and of the type inferred from it.
 */
export function model<const Entries extends v.ObjectEntries>(
  name: string,
  entries: Entries,
): v.ObjectSchema<Entries, undefined>
export function model<const Entries extends v.ObjectEntries>(entries: Entries): v.ObjectSchema<Entries, undefined>
/* @__NO_SIDE_EFFECTS__ */
export function model<const Entries extends v.ObjectEntries>(
  ...[first, second]: [string, Entries] | [Entries]
): v.ObjectSchema<Entries, undefined> {
  if (typeof first !== 'string') return withoutLists(v.object(first))
  // A name is always followed by entries, see the overloads.
  return named(first, withoutLists(v.object(second as Entries)))
}

/** Like {@link model}, but refuses unknown fields: a misspelt one could leave a limit or an expiry unset. */
/* @__NO_SIDE_EFFECTS__ */
export function closedModel<const Entries extends v.ObjectEntries>(
  name: string,
  entries: Entries,
): v.ObjectSchema<Entries, undefined> {
  return Object.assign(
    refusing(model(name, entries), entries, () => true),
    { [closedMark]: true },
  )
}

/**
 * As {@link model}, but names that differ from a known one by case and separators alone are refused: for bodies of
 * existing clients, whose other fields are ignored, where a misspelt name would leave something public.
 */
/* @__NO_SIDE_EFFECTS__ */
export function spelledModel<const Entries extends v.ObjectEntries>(
  name: string,
  entries: Entries,
): v.ObjectSchema<Entries, undefined> {
  const letters = (key: string): string => key.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  const known = new Set(Object.keys(entries).map(letters))
  return refusing(model(name, entries), entries, (key) => known.has(letters(key)))
}

function refusing<const Entries extends v.ObjectEntries>(
  schema: v.ObjectSchema<Entries, undefined>,
  entries: Entries,
  isRefused: (key: string) => boolean,
): v.ObjectSchema<Entries, undefined> {
  const run = schema['~run']
  const names = Object.keys(entries)
  return Object.assign(schema, {
    '~run': (dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) => {
      const input = dataset.value
      const result = run.call(schema, dataset, config)
      if (typeof input !== 'object' || input === null || Array.isArray(input)) return result
      const unknown = Object.entries(input).filter(([key]) => !Object.hasOwn(entries, key) && isRefused(key))
      // No more are reported, and each takes time.
      for (const [key, value] of unknown.slice(0, 100)) {
        v._addIssue(schema, 'key', result, config, {
          input: key,
          message: fault('extra_forbidden', unknownName(key, names)),
          path: [{ type: 'object', origin: 'key', input: { ...input }, key, value }],
        })
      }
      return result
    },
  })
}

export function unknownName(given: string, names: readonly string[]): string {
  const suggestion = suggestionFor(given, names)
  return `is not known here: ${suggestion === undefined ? `use ${names.join(', ')}` : `did you mean "${suggestion}"?`}`
}

const closedMark: unique symbol = Symbol('closed')

export const isClosed = (schema: object): boolean => closedMark in schema

/** Like {@link model}, but unknown fields are kept. */
/* @__NO_SIDE_EFFECTS__ */
export function looseModel<const Entries extends v.ObjectEntries>(
  entries: Entries,
): v.LooseObjectSchema<Entries, undefined> {
  return withoutLists(v.looseObject(entries))
}

/* @__NO_SIDE_EFFECTS__ */
export function dictionary<Output, Input>(
  value: WireSchema<Output, Input>,
): WireSchema<Readonly<Record<string, Output>>, Readonly<Record<string, Input>>> {
  return withoutLists(v.record(v.string(), value))
}

/**
 * A union that selects the option for a value, so that issues are reported for that option only.
 * @param pick returns the schema for the value, possibly one that only reports the issue
 */
/* @__NO_SIDE_EFFECTS__ */
export function choice<const Options extends v.UnionOptions>(
  options: Options,
  pick: (value: unknown) => v.GenericSchema,
): v.UnionSchema<Options, undefined> {
  const schema = v.union(options)
  return Object.assign(schema, {
    '~run': (dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) =>
      pick(dataset.value)['~run'](dataset, config),
  })
}

const unstorable = /[\0\uD800-\uDFFF]/

/** Whether databases and indexes can store the text: no NUL and no lone surrogate. */
export function isStorable(text: string): boolean {
  return !unstorable.test(text) || (text.isWellFormed() && !text.includes('\0'))
}

/** Removes NUL and lone surrogates, the only characters that cannot be stored. */
export function storable(text: string): string {
  return isStorable(text) ? text : text.replace(/[\0\p{Surrogate}]+/gu, '')
}

/** Free text of a request, with unstorable characters removed. */
export const text: WireSchema<string, string> = v.pipe(v.string(), v.transform(storable))

/** Name of a chat session; lists hold many of them. */
export const sessionName: WireSchema<string, string> = v.pipe(text, v.maxLength(1000))

/** Text used as a name; refused if it cannot be stored exactly. */
export const exactText: WireSchema<string, string> = v.pipe(
  v.string(),
  rule('value_error', 'must not hold NUL characters or unpaired surrogates', isStorable),
)

/**
 * A schema that also accepts what pydantic's lax mode converts to its type, such as `"false"` or `"12"`, since existing
 * clients send it. The OpenAPI document shows only the type.
 */
/* @__NO_SIDE_EFFECTS__ */
function lax<Value>(
  schema: WireSchema<Value, Value>,
  read: (input: unknown) => LaxReading<Value>,
): WireSchema<Value, Value> {
  const run = schema['~run']
  return Object.assign(schema, {
    '~run': (dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) => {
      const reading = read(dataset.value)
      if ('value' in reading) return run.call(schema, { ...dataset, value: reading.value }, config)
      // Null fits neither a number nor a boolean, so the schema reports the issue with this message.
      const message = fault(reading.fault, reading.words)
      return run.call({ ...schema, message } as typeof schema, { ...dataset, value: null }, config)
    },
  })
}

/** A boolean; requests may also send 0, 1 or words such as "true", "off" or "y". */
export const boolean: WireSchema<boolean, boolean> = lax(v.boolean(), readBoolean)

/** A finite number; requests may also send it as text. */
export const float: WireSchema<number, number> = lax(v.number(), readNumber)

/** An integer within double precision; requests may also send it as text. */
export const integer: WireSchema<number, number> = v.pipe(
  lax(v.number(), readInteger),
  v.metadata({ type: 'integer', minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
)

/** A field that can be absent or null, both meaning null. */
/* @__NO_SIDE_EFFECTS__ */
export function orNull<Output, Input>(
  schema: WireSchema<Output, Input>,
): v.NullishSchema<WireSchema<Output, Input>, null> {
  return v.nullish(schema, null)
}

const fixedValue: unique symbol = Symbol('fixed value')

export interface Fixed {
  readonly [fixedValue]: unknown
}

/**
 * A field of an answer that has one value here, because clients expect it of a feature that is not supported. Its
 * description is "Always … here." unless it has a comment. {@link complete} fills it in.
 */
/* @__NO_SIDE_EFFECTS__ */
export function always<Schema extends v.GenericSchema>(
  value: v.InferInput<Schema> & (null | boolean | number | string | readonly never[]),
  schema: Schema,
): Schema & Fixed {
  // Schemas are shared between fields, so the mark is on a copy.
  return { ...schema, [fixedValue]: value }
}

type FixedNames<Entries> = { [Name in keyof Entries]: Entries[Name] extends Fixed ? Name : never }[keyof Entries]

/** An answer of a schema, in the order of its fields, from the values of those that are not fixed by {@link always}. */
export function complete<Entries extends v.ObjectEntries>(
  { entries }: v.ObjectSchema<Entries, undefined>,
  values: Omit<Wire<v.ObjectSchema<Entries, undefined>>, FixedNames<Entries>>,
): Wire<v.ObjectSchema<Entries, undefined>> {
  const given: Readonly<Record<string, unknown>> = values
  const fields = Object.entries(entries).map(([name, entry]) => [
    name,
    fixedValue in entry ? entry[fixedValue] : given[name],
  ])
  // Every field is either fixed or among the values.
  return Object.fromEntries(fields) as Wire<v.ObjectSchema<Entries, undefined>>
}

const form = /^(?:urn:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?$/i

/** Converts a UUID in any common spelling to lower case with hyphens; undefined for other text. */
export function asUuid(value: string): string | undefined {
  return form.exec(value)?.slice(1).join('-').toLowerCase()
}

/** A UUID of any version and common spelling, converted to lower case with hyphens. */
export const uuid: WireSchema<string, string> = v.pipe(
  v.string(fault('uuid_type', 'must be a UUID')),
  v.metadata({ format: 'uuid' }),
  rule('uuid_parsing', 'must be a UUID', (value: string) => form.test(value)),
  v.transform((value) => asUuid(value) ?? value),
)

/** Like {@link uuid}, but blank text and absence count as null. */
export const uuidOrBlank: v.NullishSchema<WireSchema<string, string>, null> = v.pipe(
  v.nullish(v.string(fault('uuid_type', 'must be a UUID')), null),
  v.metadata({ format: 'uuid' }),
  v.transform((value) => (value?.trim() ? value : null)),
  rule('uuid_parsing', 'must be a UUID', (value: string | null) => value === null || form.test(value)),
  v.transform((value) => (value === null ? null : (asUuid(value) ?? null))),
)
