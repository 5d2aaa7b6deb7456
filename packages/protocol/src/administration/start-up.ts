import * as v from 'valibot'
import { always, boolean, integer, model, orNull, type Wire } from '../fields.ts'

/** Thread pool figures; always 0, as there is no thread pool. */
const threadFiguresSchema = model('ThreadFigures', {
  threadpool_total_tokens: always(0, integer),
  threadpool_borrowed_tokens: always(0, integer),
  threadpool_tasks_waiting: always(0, integer),
})

export const serviceNoteSchema = model('ServiceNote', {
  /**
   * What it is about: `index_rebuilding`, `disk_full`, `embedder_mismatch` (another embedding model than that of the
   * documents), `unused_data` (in the data folder) or `model_refusal` (what the server of a model does not take, such as
   * a tool). Later versions may add others.
   */
  code: v.string(),
  /** For people: what to know, and in notices what to do. */
  message: v.string(),
})

/** Something that an operator should know. */
export type ServiceNote = Wire<typeof serviceNoteSchema>

export const readinessSchema = model('Readiness', {
  /** Always true: a service that is not ready returns 503. */
  success: v.literal(true),
  /** Confirmation as text. */
  message: v.string(),
  /** What `message` says besides `ok`. */
  notes: v.array(serviceNoteSchema),
  /** Figures that existing monitors read. */
  data: threadFiguresSchema,
  /** Embedding model the stored vectors were made with; null when there are none. */
  embedder: orNull(v.string()),
})

/** Answer of `GET /health/ready`. The thread pool figures exist only because existing monitors read them. */
export type Readiness = Wire<typeof readinessSchema>

/** Answer of `GET /service-api/notices`. */
export const noticesSchema = model('Notices', {
  /** Messages for the operator: each says what to know and do. */
  notices: v.array(v.string()),
  /** The same messages, in this order, each with its code. */
  details: v.array(serviceNoteSchema),
})

/** Answer of `GET /version`. */
export const versionsSchema = model('Versions', {
  /** API version, which clients compare. */
  backend_version: v.string(),
  /** Version of Inlay. */
  inlay_version: v.string(),
  /** `knowledge` leaves out chat, `search` all but the search. */
  serves: v.picklist(['everything', 'knowledge', 'search']),
})

/** Answer of `GET /auth/type`. Passwords are not supported, so all password rules are 0 or false. */
export const authTypeSchema = model('AuthType', {
  /** Authentication method. */
  auth_type: v.string(),
  multi_tenant: always(false, boolean),
  requires_verification: always(false, boolean),
  /** Whether the API can be used without a key. */
  anonymous_user_enabled: boolean,
  /** Always 0: there are no passwords. */
  password_min_length: always(0, integer),
  /** Always 0: there are no passwords. */
  password_max_length: always(0, integer),
  password_require_uppercase: always(false, boolean),
  password_require_lowercase: always(false, boolean),
  password_require_digit: always(false, boolean),
  password_require_special_char: always(false, boolean),
  /** Whether any user exists. */
  has_users: boolean,
  oauth_enabled: always(false, boolean),
  password_auth_enabled: always(false, boolean),
  sso_providers: always([], v.array(v.unknown())),
})
