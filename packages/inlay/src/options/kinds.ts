import { isJsonObject, limitNames, readJson, type CallerLimits } from '@inlay/protocol'
import * as v from 'valibot'

/** A kind of value: how an option is checked, and how an environment variable is read. */
export interface Kind<Value> {
  /** Allowed values, as worded in an error. */
  readonly allowed: string
  /** Parses the text of a variable: undefined if it is not allowed, {@link asDefault} if it changes nothing. */
  readonly read: (text: string) => Value | typeof asDefault | undefined
  readonly check: v.GenericSchema
}

/** A kind that can also be a field of a JSON object. */
export interface JsonKind<Value> extends Kind<Value> {
  readonly fromJson: (value: unknown) => Value | undefined
}

/** The result of reading a variable that asks for the default. */
export const asDefault: unique symbol = Symbol('default')

export const text: v.GenericSchema<string> = v.pipe(v.string('must be a text'), v.trim(), v.nonEmpty('is empty'))

export const texts: v.GenericSchema = v.array(text, 'must be a list of texts')

export const yesOrNo: v.GenericSchema = v.boolean('must be true or false')

export const anyFunction: v.GenericSchema = v.function('must be a function')

export const amount: v.GenericSchema = v.pipe(
  v.number('must be a number, 0 or more'),
  v.minValue(0, 'must be a number, 0 or more'),
)

/** Check of a number, 1 or more: of a limit or a duration that would let nothing happen at 0. */
export const positive: v.GenericSchema = v.pipe(
  v.number('must be a number, 1 or more'),
  v.minValue(1, 'must be a number, 1 or more'),
)

/** Another check, before which a model object of the AI SDK is refused in a sentence that says what to hand in. */
export function sdkModelOr(instead: string, check: v.GenericSchema): v.GenericSchema {
  const refusal = v.custom(() => false, `is a model object of the AI SDK: ${instead}`)
  return v.lazy((value) => (typeof Object(value).specificationVersion === 'string' ? refusal : check))
}

export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): v.GenericSchema {
  const message = `must be a whole number, ${max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`}`
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message))
}

/** Also of a lazy component, or of an instance of a host's class. */
export const hasMethod = (value: unknown, name: string): boolean =>
  typeof value !== 'string' && typeof Object(value)[name] === 'function'

/** Check of an object with these methods. Only the names are checked, so lazy components and host classes pass too. */
export function withMethods(what: string, ...methods: readonly string[]): v.GenericSchema {
  return v.custom(
    (value) => methods.every((method) => hasMethod(value, method)),
    `must be ${what}, with ${methods.map((method) => `${method}()`).join(', ')}`,
  )
}

/** Check of an object with only these fields, all optional but the required ones; reports each issue. */
export function only(
  form: string,
  fields: Readonly<Record<string, v.GenericSchema>>,
  required: readonly string[] = [],
): v.GenericSchema {
  const entries = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, required.includes(name) ? schema : v.optional(schema)]),
  )
  return v.objectWithRest(entries, v.never(`is no field here: there are ${Object.keys(entries).join(', ')}`), (issue) =>
    issue.expected === 'Object' ? `must be ${form}` : 'is missing',
  )
}

/** {@link only} with a schema for each field of a type. */
export function fieldsOf<Options extends object>(
  form: string,
  fields: Readonly<Record<keyof Options & string, v.GenericSchema>>,
): v.GenericSchema {
  return only(form, fields)
}

export function anyText(allowed: string): JsonKind<string> {
  return { allowed, read: (given) => given, fromJson: ofString, check: text }
}

export function textLike(allowed: string, fits: (given: string) => boolean): Kind<string> {
  const check = v.pipe(text, v.check(fits, `must be ${allowed}`))
  return { allowed, read: (given) => (fits(given) ? given : undefined), check }
}

export function integer(min: number, max: number): JsonKind<number> {
  const read = (given: string): number | undefined => inBounds(given, min, max)
  return { allowed: `a whole number from ${min} to ${max}`, read, fromJson: ofNumber, check: wholeNumber(min, max) }
}

export function decimal(min: number, max: number): JsonKind<number> {
  const fits = (value: number): boolean => value >= min && value <= max
  const message = `must be a number, ${min} to ${max}`
  return {
    allowed: `a number from ${min} to ${max}`,
    read: (given) => (/^\d+(?:\.\d+)?$/.test(given) && fits(Number(given)) ? Number(given) : undefined),
    fromJson: ofNumber,
    check: v.pipe(v.number(message), v.minValue(min, message), v.maxValue(max, message)),
  }
}

/** A duration: whole seconds in a variable, milliseconds in an option. */
export function seconds(min: number, max: number): JsonKind<number> {
  const toMilliseconds = (value: number | undefined): number | undefined =>
    value === undefined ? undefined : value * 1000
  return {
    allowed: `a whole number from ${min} to ${max}`,
    read: (given) => toMilliseconds(inBounds(given, min, max)),
    fromJson: (value) => toMilliseconds(ofNumber(value)),
    check: wholeNumber(Math.min(min, 1)),
  }
}

/** A JSON object in a variable and in a list of models, otherwise an object. */
export function jsonObject<Value extends object>(allowed: string, fits: (value: object) => boolean): JsonKind<Value> {
  const fromJson = (value: unknown): Value | undefined =>
    // The rest of its type is what fits.
    isJsonObject(value) && fits(value) ? (value as unknown as Value) : undefined
  const check = v.custom((value) => fromJson(value) !== undefined, `must be ${allowed}`)
  return { allowed, read: (given) => fromJson(readJson(given)), fromJson, check }
}

export const httpHeaders: JsonKind<Readonly<Record<string, string>>> = jsonObject(
  'a JSON object of headers, such as {"x-team": "search"}',
  (value) => Object.entries(value).every(([name, each]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && isHeaderText(each)),
)

const isHeaderText = (value: unknown): boolean => typeof value === 'string' && /^[\t\x20-\x7e]*$/.test(value)

/** `on` or `off` in a variable, a boolean in an option. */
export const onOff: JsonKind<boolean> = {
  allowed: 'on or off',
  read: (given) => (/^(?:on|off)$/i.test(given) ? given.toLowerCase() === 'on' : undefined),
  fromJson: (value) => (typeof value === 'boolean' ? value : undefined),
  check: yesOrNo,
}

/** {@link onOff} where only `off` says more than the default. */
export function offAs<Value>(value: Value, check: v.GenericSchema): Kind<Value> {
  return {
    allowed: onOff.allowed,
    read: (given) => {
      const isOn = onOff.read(given)
      return isOn === undefined ? undefined : isOn ? asDefault : value
    },
    check,
  }
}

/** One of several words, case-insensitive in a variable. */
export function oneOf<const Value extends string>(...values: readonly Value[]): JsonKind<Value> {
  const quoted = inWords(values.map((value) => `"${value}"`))
  return {
    allowed: inWords(values),
    read: (given) => values.find((value) => value === given.toLowerCase()),
    fromJson: (value) => values.find((known) => known === value),
    check: v.picklist(values, `must be ${quoted}`),
  }
}

const inWords = (values: readonly string[]): string =>
  values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`

export const isHttp = (given: string): boolean => URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)

export const hasUser = (url: string): boolean => new URL(url).username + new URL(url).password !== ''

export const address: v.GenericSchema = v.pipe(
  text,
  v.check(isHttp, 'must be an http or https address with its version, such as http://localhost:11434/v1'),
)

/** An http or https URL; trailing slashes of a variable are removed. */
export function httpAddress(details: string): JsonKind<string> {
  return {
    allowed: `an http or https address${details}`,
    read: (given) => (isHttp(given) ? given.replace(/(?<!\/)\/+$/, '') : undefined),
    fromJson: ofString,
    check: address,
  }
}

/** Entries `name=value` separated by spaces or commas. */
export function namedTexts(allowed: string, fits: (value: string) => boolean): Kind<Readonly<Record<string, string>>> {
  return { allowed, read: (given) => namedValues(given, fits), check: v.record(v.string(), v.string()) }
}

/** An object of numbers with known names; in a variable `name=number` entries. */
export function namedNumbers<Name extends string>(
  allowed: string,
  form: string,
  names: readonly Name[],
  [min, max]: readonly [min: number, max?: number],
): Kind<Partial<Record<Name, number>>> {
  return {
    allowed: `${allowed}; names: ${names.join(', ')}`,
    read: (given) => {
      const values = namedValues(given, (value) => inBounds(value, min, max ?? Number.MAX_SAFE_INTEGER) !== undefined)
      if (!values || Object.keys(values).some((name) => names.every((known) => known !== name))) return undefined
      // Only known names are left.
      return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)])) as Partial<
        Record<Name, number>
      >
    },
    check: only(form, Object.fromEntries(names.map((name) => [name, wholeNumber(min, max)]))),
  }
}

export const usageLimits: Kind<CallerLimits> = namedNumbers(
  'entries like tokensPerDay=50000, separated by commas',
  'an object of limits',
  limitNames,
  [0],
)

/** Lists separated by commas or spaces, whose items fit a form. */
export function listOf(allowed: string, fits: (item: string) => boolean): Kind<readonly string[]> {
  return {
    allowed,
    read: (given) => {
      const items = given.split(/[\s,]+/).filter((item) => item !== '')
      return items.every(fits) ? items : undefined
    },
    check: texts,
  }
}

/** {@link listOf} host names or addresses, in lower case and without the brackets of IPv6. */
export function hostsLike(allowed: string, fits: (item: string) => boolean): Kind<readonly string[]> {
  const list = listOf(allowed, fits)
  return { ...list, read: (given) => list.read(given.toLowerCase().replace(/\[([\da-f:]+)\]/g, '$1')) }
}

function inBounds(given: string, min: number, max: number): number | undefined {
  if (!/^\d{1,15}$/.test(given)) return undefined
  const value = Number(given)
  return value >= min && value <= max ? value : undefined
}

const ofString = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const ofNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** Reads `name=value` entries; undefined for an invalid entry or a repeated name. */
function namedValues(given: string, fits: (value: string) => boolean): Readonly<Record<string, string>> | undefined {
  const values = new Map<string, string>()
  for (const entry of given.split(/[\s,]+/).filter((part) => part !== '')) {
    const [, name, value] = /^([\w.-]{1,64})=(.+)$/.exec(entry) ?? []
    if (name === undefined || value === undefined || values.has(name) || !fits(value)) return undefined
    values.set(name, value)
  }
  return Object.fromEntries(values)
}
