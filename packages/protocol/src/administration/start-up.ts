import * as v from 'valibot'
import { boolean, integer, model, orNull, type WireSchema } from '../fields.ts'

/** Thread pool figures; always 0, as there is no thread pool. */
export interface ThreadFigures {
  /** Always 0 here. */
  readonly threadpool_total_tokens: number
  /** Always 0 here. */
  readonly threadpool_borrowed_tokens: number
  /** Always 0 here. */
  readonly threadpool_tasks_waiting: number
}

/** Answer of `GET /health/ready`. The thread pool figures exist only because existing monitors read them. */
export interface Readiness {
  /** Always true: a service that is not ready returns 503. */
  readonly success: true
  /** Confirmation as text. */
  readonly message: string
  /** Figures that existing monitors read. */
  readonly data: ThreadFigures
  /** Embedding model the stored vectors were made with; null when there are none. */
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
  /** Messages for the operator: each says what to know and do. */
  readonly notices: readonly string[]
}

export const noticesSchema: WireSchema<Notices> = model('Notices', { notices: v.array(v.string()) })

/** Answer of `GET /version`. */
export interface Versions {
  /** API version, which clients compare. */
  readonly backend_version: string
  /** Version of Inlay. */
  readonly inlay_version: string
}

export const versionsSchema: WireSchema<Versions> = model('Versions', {
  backend_version: v.string(),
  inlay_version: v.string(),
})

/** Answer of `GET /auth/type`. Passwords are not supported, so all password rules are 0 or false. */
export interface AuthType {
  /** Authentication method. */
  readonly auth_type: string
  /** Always false here. */
  readonly multi_tenant: boolean
  /** Always false here. */
  readonly requires_verification: boolean
  /** Whether the API can be used without a key. */
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
  /** Whether any user exists. */
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
