import * as v from 'valibot'
import type { ValidationIssue } from './error-codes.ts'
import { integer, model, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'

/** Body of every failed request but the 422. */
export interface ErrorBody {
  /** Code of the failure. */
  readonly error_code: string
  /** What failed and what to do about it. */
  readonly detail: string
  /** Of a 5xx: the id under which the log knows the failure. */
  readonly request_id?: string
}

export const errorBodySchema: WireSchema<ErrorBody> = model('ErrorBody', {
  error_code: v.string(),
  detail: v.string(),
  request_id: v.optional(v.string()),
})

/** Body of a 429: an error, whose limit is used up, and when to try again. */
export interface RateLimitedBody extends ErrorBody {
  /** `user`: that of the caller or the key. `global`: that of all callers, or of the server itself. */
  readonly scope: 'user' | 'user_group' | 'global'
  /** When there is room again, ISO 8601 with `Z`. */
  readonly reset_at: string
  /** Seconds until then; the header `Retry-After` has the same. */
  readonly retry_after_seconds: number
}

export const rateLimitedBodySchema: WireSchema<RateLimitedBody> = model('RateLimitedBody', {
  error_code: v.string(),
  detail: v.string(),
  request_id: v.optional(v.string()),
  scope: v.picklist(['user', 'user_group', 'global']),
  reset_at: answeredTime,
  retry_after_seconds: integer,
})

/** Body of a 422: every fault and where it stands. */
export interface ValidationErrorBody {
  /** Every fault of the request. */
  readonly detail: readonly ValidationIssue[]
}

export const validationErrorBodySchema: WireSchema<ValidationErrorBody> = model('ValidationErrorBody', {
  detail: v.array(model('ValidationIssue', { loc: v.array(v.string()), msg: v.string(), type: v.string() })),
})
