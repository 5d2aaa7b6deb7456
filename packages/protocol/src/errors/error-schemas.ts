import * as v from 'valibot'
import type { ValidationIssue } from './error-codes.ts'
import { integer, model, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'

/** Body of every error response except 422. */
export interface ErrorBody {
  /** Error code. */
  readonly error_code: string
  /** What failed and how to fix it. */
  readonly detail: string
  /** Id of the failure in the log; only for 5xx responses. */
  readonly request_id?: string
}

export const errorBodySchema: WireSchema<ErrorBody> = model('ErrorBody', {
  error_code: v.string(),
  detail: v.string(),
  request_id: v.optional(v.string()),
})

/** Body of a 429: the error, the scope of the exceeded limit, and when to retry. */
export interface RateLimitedBody extends ErrorBody {
  /** Scope of the limit. `user`: the caller or key. `global`: all callers, or the server itself. */
  readonly scope: 'user' | 'user_group' | 'global'
  /** Time when capacity is available again, ISO 8601 with `Z`. */
  readonly reset_at: string
  /** Seconds until `reset_at`; also sent as the `Retry-After` header. */
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

/** Body of a 422: all validation issues and their locations. */
export interface ValidationErrorBody {
  /** All validation issues. */
  readonly detail: readonly ValidationIssue[]
}

export const validationErrorBodySchema: WireSchema<ValidationErrorBody> = model('ValidationErrorBody', {
  detail: v.array(model('ValidationIssue', { loc: v.array(v.string()), msg: v.string(), type: v.string() })),
})
