import * as v from 'valibot'
import { nextSlice } from './concurrency.ts'
import { InlayError, validationFailed, type ValidationIssue } from './errors/error-codes.ts'

/** Where a checked value stood in the request. */
export type RequestPart = 'body' | 'query' | 'path'

/** Most faults told about one request: a list of a million wrong items has no use for more. */
const mostIssues = 100

type Issue = v.BaseIssue<unknown>
type Fault = readonly [type: string, message: string]

const listed = (expected: string | null): string =>
  (expected ?? '')
    .replace(/^\(|\)$/g, '')
    .replaceAll('"', '')
    .split(' | ')
    .join(', ')

/** Lengths of texts have names of their own. */
const ofText = (issue: Issue): string => (typeof issue.input === 'string' ? 'string_' : '')

/** Faults of valibot's own schemas and checks, by its name of them, in pydantic's. */
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
  // Messages of this package carry their type; valibot's own would repeat what was sent, so none of them is used.
  const named = / \[type=(\w+)\]$/.exec(issue.message)
  if (named?.[1]) return [named[1], issue.message.slice(0, named.index)]
  const known = Object.hasOwn(faults, issue.type) ? faults[issue.type] : undefined
  return known?.(issue) ?? ['value_error', 'does not have the documented form']
}

/** Of a union that no option took: the fault found deepest, since that option came closest. */
function closest(issue: Issue): Issue {
  if (issue.type !== 'union' || !issue.issues) return issue
  const depth = (candidate: Issue): number => candidate.path?.length ?? 0
  const deepest = issue.issues.reduce((best, next) => (depth(next) > depth(best) ? next : best))
  if (depth(deepest) === 0) return issue
  // A part of a union keeps its own path only; that of the union comes before it. Paths are lists that valibot types
  // as never empty, which this one is not either.
  const path = [...(issue.path ?? []), ...(deepest.path ?? [])] as unknown as Issue['path']
  return closest({ ...deepest, path })
}

/** Valibot's issues as the wire tells them; at most 100. */
export function toValidationIssues(issues: readonly Issue[], part: RequestPart): ValidationIssue[] {
  return issues.slice(0, mostIssues).map((raw) => {
    const issue = closest(raw)
    const [type, message] = faultOf(issue)
    return { loc: [part, ...(issue.path ?? []).map((item) => String(item.key))], msg: message, type }
  })
}

/** What a schema has made: read again by the same schema, it is taken as it is. */
const readBy = new WeakMap<object, v.GenericSchema>()

/**
 * Reads a value by its schema; what the schema itself has made is not read twice.
 * @returns what the schema makes of it, defaults applied
 * @throws VALIDATION_FAILED with every fault and where it stands
 */
export function parseWith<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  part: RequestPart,
): v.InferOutput<Schema> {
  // Made by this schema, so of its type. What is no object is no key.
  if (readBy.get(value as object) === schema) return value as v.InferOutput<Schema>
  const result = v.safeParse(schema, value, { abortPipeEarly: true })
  if (!result.success) throw validationFailed(toValidationIssues(result.issues, part))
  const { output } = result
  if (typeof output === 'object' && output !== null) readBy.set(output, schema)
  return output
}

/** Shorter bodies are read at once, and without counting their values first. */
const harmlessCharacters = 200_000
/** Most values in one body: each is read in a fraction of a microsecond, and all of them without a pause. */
export const mostValues = 100_000

/** Whether a JSON text has more values than a process should hold; whatever stands in strings counts nothing. */
function holdsTooMuch(json: string): boolean {
  let values = 0
  for (let at = 0; at < json.length && values <= mostValues; at++) {
    const unit = json.charCodeAt(at)
    if (unit === 0x22) at = endOfString(json, at)
    // A comma, an opening bracket or brace: each begins a value.
    else if (unit === 0x2c || unit === 0x5b || unit === 0x7b) values++
  }
  return values > mostValues
}

/** Position of the quote that closes the string opened at `start`. */
function endOfString(json: string, start: number): number {
  const end = json.indexOf('"', start + 1)
  if (end === -1) return json.length
  if (json.charCodeAt(end - 1) !== 0x5c) return end
  // Texts with one escaped quote have many: unit by unit is then faster than a search for each.
  for (let at = start + 1; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (unit === 0x5c) at++
    else if (unit === 0x22) return at
  }
  return json.length
}

/** Refuses a body of more than {@link mostValues}. */
export function tooManyValues(): InlayError {
  return new InlayError('PAYLOAD_TOO_LARGE', {
    message: 'The body holds more than 100,000 values: send fewer at once.',
  })
}

/**
 * Reads a JSON text by its schema; a leading byte order mark is skipped. The event loop gets its turn between the steps
 * of a long one.
 * @throws VALIDATION_FAILED, also for an empty or malformed text; PAYLOAD_TOO_LARGE for a long text of more than
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

/**
 * Reads what a service answered by its schema.
 * @throws BAD_GATEWAY when it is something else
 */
export function parseAnswer<Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  throw new InlayError('BAD_GATEWAY', { message: 'The service answered with something else than documented.' })
}
