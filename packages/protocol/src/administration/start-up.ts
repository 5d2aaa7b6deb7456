import * as v from 'valibot'
import { boolean, integer, model, orNull, type WireSchema } from '../fields.ts'

/** Figures of threads; there are none. */
export interface ThreadFigures {
  /** Always 0 here. */
  readonly threadpool_total_tokens: number
  /** Always 0 here. */
  readonly threadpool_borrowed_tokens: number
  /** Always 0 here. */
  readonly threadpool_tasks_waiting: number
}

/** Answer of `GET /health/ready`. Requests are answered without threads: existing monitors read the figures all the same. */
export interface Readiness {
  /** Always true: a service that is not ready answers 503. */
  readonly success: true
  /** A sentence that says so. */
  readonly message: string
  /** Figures that existing monitors read. */
  readonly data: ThreadFigures
  /** Embedding model that the documents have their vectors from; null when they have none. */
  readonly embedder: string | null
}

export const readinessSchema: WireSchema<Readiness> = model('Readiness', {
  success: v.literal(true),
  message: v.string(),
  data: model('ThreadFigures', {
    threadpool_total_tokens: integer,
    threadpool_borrowed_tokens: integer,
    threadpool_tasks_waiting: integer,
  }),
  embedder: orNull(v.string()),
})

/** Answer of `GET /service-api/notices`. */
export interface Notices {
  /** What an operator should know and do, a sentence each. */
  readonly notices: readonly string[]
}

export const noticesSchema: WireSchema<Notices> = model('Notices', { notices: v.array(v.string()) })

/** Answer of `GET /version`. */
export interface Versions {
  /** Version of the contract, which clients compare. */
  readonly backend_version: string
  /** Version of this software. */
  readonly inlay_version: string
}

export const versionsSchema: WireSchema<Versions> = model('Versions', {
  backend_version: v.string(),
  inlay_version: v.string(),
})

/** Answer of `GET /auth/type`. There are no passwords, so their rules are 0 and false. */
export interface AuthType {
  /** How people sign in. */
  readonly auth_type: string
  /** Always false here. */
  readonly multi_tenant: boolean
  /** Always false here. */
  readonly requires_verification: boolean
  /** Whether the API answers without a key. */
  readonly anonymous_user_enabled: boolean
  /** Always 0: there are no passwords. */
  readonly password_min_length: number
  /** Always 0: there are no passwords. */
  readonly password_max_length: number
  /** Always false here. */
  readonly password_require_uppercase: boolean
  /** Always false here. */
  readonly password_require_lowercase: boolean
  /** Always false here. */
  readonly password_require_digit: boolean
  /** Always false here. */
  readonly password_require_special_char: boolean
  /** Whether anybody has signed up. */
  readonly has_users: boolean
  /** Always false here. */
  readonly oauth_enabled: boolean
  /** Always false here. */
  readonly password_auth_enabled: boolean
  /** Always empty here. */
  readonly sso_providers: readonly unknown[]
}

export const authTypeSchema: WireSchema<AuthType> = model('AuthType', {
  auth_type: v.string(),
  multi_tenant: boolean,
  requires_verification: boolean,
  anonymous_user_enabled: boolean,
  password_min_length: integer,
  password_max_length: integer,
  password_require_uppercase: boolean,
  password_require_lowercase: boolean,
  password_require_digit: boolean,
  password_require_special_char: boolean,
  has_users: boolean,
  oauth_enabled: boolean,
  password_auth_enabled: boolean,
  sso_providers: v.array(v.unknown()),
})
