import * as v from 'valibot'
import type { ValidationIssue } from './error-codes.ts'
import { model, type WireSchema } from '../fields.ts'

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

/** Body of a 422: every fault and where it stands. */
export interface ValidationErrorBody {
  /** Every fault of the request. */
  readonly detail: readonly ValidationIssue[]
}

export const validationErrorBodySchema: WireSchema<ValidationErrorBody> = model('ValidationErrorBody', {
  detail: v.array(model('ValidationIssue', { loc: v.array(v.string()), msg: v.string(), type: v.string() })),
})
