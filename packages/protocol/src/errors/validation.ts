import * as v from 'valibot'
import { InlayError, validationFailed, type ValidationIssue } from './errors.ts'

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
  finite: () => ['finite_number', 'must be finite'],
  integer: () => ['int_from_float', 'must be a whole number'],
  safe_integer: () => ['int_parsing_size', 'must lie between -(2^53 - 1) and 2^53 - 1'],
  boolean: () => ['bool_type', 'must be true or false'],
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

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

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
  // Made by this schema, so of its type.
  if (isObject(value) && readBy.get(value) === schema) return value as v.InferOutput<Schema>
  const result = v.safeParse(schema, value, { abortPipeEarly: true })
  if (!result.success) throw validationFailed(toValidationIssues(result.issues, part))
  if (isObject(result.output)) readBy.set(result.output, schema)
  return result.output
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
