import * as v from 'valibot'
import { nextSlice } from '@inlay/scheduling'
import { InlayError, validationFailed, type ValidationIssue } from './errors/error-codes.ts'

export type RequestPart = 'body' | 'query' | 'path'

const maxIssues = 100

type Issue = v.BaseIssue<unknown>
type Fault = readonly [type: string, message: string]

const listed = (expected: string | null): string =>
  (expected ?? '')
    .replace(/^\(|\)$/g, '')
    .replaceAll('"', '')
    .split(' | ')
    .join(', ')

/** Text lengths have their own pydantic names. */
const ofText = (issue: Issue): string => (typeof issue.input === 'string' ? 'string_' : '')

/** Pydantic's equivalents for the issues of valibot's schemas and checks. */
const faults: Readonly<Record<string, (issue: Issue) => Fault>> = {
  string: () => ['string_type', 'must be text'],
  number: () => ['float_type', 'must be a number'],
  array: () => ['list_type', 'must be a list'],
  object: () => ['model_attributes_type', 'must be an object'],
  record: () => ['dict_type', 'must be an object'],
  picklist: (issue) => ['enum', `must be one of ${listed(issue.expected)}`],
  literal: (issue) => ['literal_error', `must be ${listed(issue.expected)}`],
  variant: (issue) => ['union_tag_invalid', `must be one of ${listed(issue.expected)}`],
  min_length: (issue) => [`${ofText(issue)}too_short`, `must not be shorter than ${String(issue.requirement)}`],
  max_length: (issue) => [`${ofText(issue)}too_long`, `must not be longer than ${String(issue.requirement)}`],
  min_value: (issue) => ['greater_than_equal', `must be at least ${String(issue.requirement)}`],
  max_value: (issue) => ['less_than_equal', `must be at most ${String(issue.requirement)}`],
  iso_timestamp: () => ['datetime_parsing', 'must be an ISO 8601 date-time with an offset'],
}

function faultOf(issue: Issue): Fault {
  if (issue.input === undefined) return ['missing', 'is required']
  // Messages of this package contain their type. Valibot's own are not used, since they would repeat the input.
  const named = / \[type=(\w+)\]$/.exec(issue.message)
  if (named?.[1]) return [named[1], issue.message.slice(0, named.index)]
  const known = Object.hasOwn(faults, issue.type) ? faults[issue.type] : undefined
  return known?.(issue) ?? ['value_error', 'does not have the documented form']
}

/** The deepest issue of a union where no option matched, since that option came closest. */
function closest(issue: Issue): Issue {
  if (issue.type !== 'union' || !issue.issues) return issue
  const depth = (candidate: Issue): number => candidate.path?.length ?? 0
  const deepest = issue.issues.reduce((best, next) => (depth(next) > depth(best) ? next : best))
  if (depth(deepest) === 0) return issue
  // An issue inside a union has only its own path, so the path of the union is prepended. Valibot types paths as
  // non-empty lists, which this one may not be.
  const path = [...(issue.path ?? []), ...(deepest.path ?? [])] as unknown as Issue['path']
  return closest({ ...deepest, path })
}

/** Converts valibot's issues to the wire format; at most 100. */
export function toValidationIssues(issues: readonly Issue[], part: RequestPart): ValidationIssue[] {
  return issues.slice(0, maxIssues).map((raw) => {
    const issue = closest(raw)
    const [type, message] = faultOf(issue)
    return { loc: [part, ...(issue.path ?? []).map((item) => String(item.key))], msg: message, type }
  })
}

/** Values produced by a schema, so that the same schema does not parse them again. */
const readBy = new WeakMap<object, v.GenericSchema>()

/**
 * Parses a value with a schema. Values that the same schema produced are returned unchanged.
 * @returns the parsed value with defaults applied
 * @throws VALIDATION_FAILED with all issues and their locations
 */
export function parseWith<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  part: RequestPart,
): v.InferOutput<Schema> {
  // Produced by this schema, so of its type. Primitives are never in the map.
  if (readBy.get(value as object) === schema) return value as v.InferOutput<Schema>
  const result = v.safeParse(schema, value, { abortPipeEarly: true })
  if (!result.success) throw validationFailed(toValidationIssues(result.issues, part))
  const { output } = result
  if (typeof output === 'object' && output !== null) readBy.set(output, schema)
  return output
}

/** Shorter bodies are parsed at once, without counting their values first. */
const harmlessCharacters = 200_000
/** Maximum number of values in a body. Parsing is synchronous and takes a fraction of a microsecond per value. */
export const maxValues = 100_000

/** Whether a JSON text has too many values to parse. Characters inside strings are not counted. */
function holdsTooMuch(json: string): boolean {
  let values = 0
  for (let at = 0; at < json.length && values <= maxValues; at++) {
    const unit = json.charCodeAt(at)
    if (unit === 0x22) at = endOfString(json, at)
    // A comma or an opening bracket or brace: each begins a value.
    else if (unit === 0x2c || unit === 0x5b || unit === 0x7b) values++
  }
  return values > maxValues
}

/** Position of the quote that closes the string starting at `start`. */
function endOfString(json: string, start: number): number {
  const end = json.indexOf('"', start + 1)
  if (end === -1) return json.length
  if (json.charCodeAt(end - 1) !== 0x5c) return end
  // A text with one escaped quote usually has many, so scanning by unit is faster than searching for each.
  for (let at = start + 1; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (unit === 0x5c) at++
    else if (unit === 0x22) return at
  }
  return json.length
}

export function tooManyValues(): InlayError {
  return new InlayError('PAYLOAD_TOO_LARGE', {
    message: 'The body holds more than 100,000 values: send fewer at once.',
  })
}

/**
 * Parses a JSON text with a schema, skipping a leading byte order mark. Yields to the event loop between the steps of a
 * long text.
 * @throws VALIDATION_FAILED, also for an empty or malformed text; PAYLOAD_TOO_LARGE for a long text with more than
 * 100,000 values
 */
export async function parseJsonBody<Schema extends v.GenericSchema>(
  text: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text
  const isLong = json.length > harmlessCharacters
  if (isLong && holdsTooMuch(json)) throw tooManyValues()
  if (isLong) await nextSlice()
  let value: unknown
  try {
    value = json.trim() === '' ? undefined : JSON.parse(json)
  } catch {
    throw validationFailed([{ loc: ['body'], msg: 'is not valid JSON', type: 'json_invalid' }])
  }
  if (isLong) await nextSlice()
  const read = parseWith(schema, value, 'body')
  if (isLong) await nextSlice()
  return read
}

/** @throws BAD_GATEWAY when it does not match */
export function parseAnswer<Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  throw new InlayError('BAD_GATEWAY', { message: 'The service answered with something else than documented.' })
}
