import * as v from 'valibot'
import { integer, model, type Wire } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'

export const errorBodySchema = model('ErrorBody', {
  /** Error code. */
  error_code: v.string(),
  /** Describes the failure and how to fix it. */
  detail: v.string(),
  /** Id of the failure in the log; only for 5xx responses. */
  request_id: v.optional(v.string()),
})

/** Body of every error response except 422. */
export type ErrorBody = Wire<typeof errorBodySchema>

export const rateLimitedBodySchema = model('RateLimitedBody', {
  ...errorBodySchema.entries,
  /** Scope of the limit. `user`: the caller or key. `global`: all callers, or the server itself. */
  scope: v.picklist(['user', 'user_group', 'global']),
  /** Time when capacity is available again, ISO 8601 with `Z`. */
  reset_at: answeredTime,
  /** Seconds until `reset_at`; also sent as the `Retry-After` header. */
  retry_after_seconds: integer,
})

/** Body of a 429: the error, the scope of the exceeded limit, and when to retry. */
export type RateLimitedBody = Wire<typeof rateLimitedBodySchema>

export const validationErrorBodySchema = model('ValidationErrorBody', {
  /** All validation issues. */
  detail: v.array(model('ValidationIssue', { loc: v.array(v.string()), msg: v.string(), type: v.string() })),
})

/** Body of a 422: all validation issues and their locations. */
export type ValidationErrorBody = Wire<typeof validationErrorBodySchema>
