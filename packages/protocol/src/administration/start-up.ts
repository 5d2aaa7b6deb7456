import * as v from 'valibot'
import { integer, model, type WireSchema } from '../fields.ts'

/** Answer of `GET /health/ready`. Requests are answered without threads: existing monitors read the figures all the same. */
export interface Readiness {
  readonly success: true
  readonly message: string
  readonly data: {
    readonly threadpool_total_tokens: number
    readonly threadpool_borrowed_tokens: number
    readonly threadpool_tasks_waiting: number
  }
}

/** Schema of {@link Readiness}. */
export const readinessSchema: WireSchema<Readiness> = model({
  success: v.literal(true),
  message: v.string(),
  data: model({
    threadpool_total_tokens: integer,
    threadpool_borrowed_tokens: integer,
    threadpool_tasks_waiting: integer,
  }),
})

/** Answer of `GET /version`. */
export interface Versions {
  /** Version of the contract, which clients compare. */
  readonly backend_version: string
  readonly inlay_version: string
}

/** Schema of {@link Versions}. */
export const versionsSchema: WireSchema<Versions> = model({ backend_version: v.string(), inlay_version: v.string() })

/** Answer of `GET /auth/type`. There are no passwords, so their rules are 0 and false. */
export interface AuthType {
  readonly auth_type: string
  readonly multi_tenant: boolean
  readonly requires_verification: boolean
  readonly anonymous_user_enabled: boolean
  readonly password_min_length: number
  readonly password_max_length: number
  readonly password_require_uppercase: boolean
  readonly password_require_lowercase: boolean
  readonly password_require_digit: boolean
  readonly password_require_special_char: boolean
  readonly has_users: boolean
  readonly oauth_enabled: boolean
  readonly password_auth_enabled: boolean
  readonly sso_providers: readonly unknown[]
}

/** Schema of {@link AuthType}. */
export const authTypeSchema: WireSchema<AuthType> = model({
  auth_type: v.string(),
  multi_tenant: v.boolean(),
  requires_verification: v.boolean(),
  anonymous_user_enabled: v.boolean(),
  password_min_length: integer,
  password_max_length: integer,
  password_require_uppercase: v.boolean(),
  password_require_lowercase: v.boolean(),
  password_require_digit: v.boolean(),
  password_require_special_char: v.boolean(),
  has_users: v.boolean(),
  oauth_enabled: v.boolean(),
  password_auth_enabled: v.boolean(),
  sso_providers: v.array(v.unknown()),
})
