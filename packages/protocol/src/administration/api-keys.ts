import * as v from 'valibot'
import { answeredTime, dateTime } from '../timestamps.ts'
import { closedModel, exactText, integer, model, text, type WireSchema } from '../fields.ts'
import type { StreamFormat } from '../framing/sse-and-ndjson.ts'
import { scopes, type Scope } from '../resources/principal.ts'
import { limitSetSchema, type LimitSet } from './limits.ts'

/** An API key as administrators see it. */
export interface ApiKeyDescriptor {
  /** Number of the key, for the addresses that change it. */
  readonly api_key_id: number
  /** First and last characters. */
  readonly api_key_display: string
  /** The key itself. Returned only when it is created. */
  readonly api_key: string | null
  /** Name of the key. */
  readonly api_key_name: string | null
  /** Id of the person the key acts for. */
  readonly user_id: string
  /** E-mail address of its owner. */
  readonly email: string | null
  /** Groups the owner belongs to. */
  readonly groups: readonly string[]
  /** Scopes of the key. */
  readonly scopes: readonly Scope[]
  /** Stream format when `Accept` does not select one; null: the server's default. */
  readonly stream_format: StreamFormat | null
  /** ISO 8601 with `Z`, like `last_used_at`. */
  readonly created_at: string
  /** Time of the last use; null when never used. */
  readonly last_used_at: string | null
  /** Expiry time; null: never expires. */
  readonly expires_at: string | null
  /** Limits counted for this key only; null: the limits for all callers apply. */
  readonly limits: LimitSet | null
}

const streamFormats = ['sse', 'lines'] as const

export const apiKeyDescriptorSchema: WireSchema<ApiKeyDescriptor> = model('ApiKeyDescriptor', {
  api_key_id: integer,
  api_key_display: v.string(),
  api_key: v.nullable(v.string()),
  api_key_name: v.nullable(v.string()),
  user_id: v.string(),
  email: v.nullable(v.string()),
  groups: v.array(v.string()),
  scopes: v.array(v.picklist(scopes)),
  stream_format: v.nullable(v.picklist(streamFormats)),
  created_at: answeredTime,
  last_used_at: v.nullable(answeredTime),
  expires_at: v.nullable(answeredTime),
  limits: v.nullable(limitSetSchema),
})

/** Body of `POST /admin/api-key` with all defaults applied. */
export interface ApiKeyCreation {
  /** Name of the key, at most 200 characters. */
  readonly name: string | null
  /** Scopes of the key; default `chat`. */
  readonly scopes: readonly Scope[]
  /** Owner id. Keys of one owner share sessions and files; null creates a new owner. */
  readonly owner: string | null
  /** E-mail address of its owner. */
  readonly email: string | null
  /** Groups the owner belongs to. */
  readonly groups: readonly string[]
  /** Stream format when `Accept` does not select one; null: the server's default. */
  readonly stream_format: StreamFormat | null
  /** Expiry time; null: never expires. */
  readonly expires_at: string | null
  /** Limits counted for this key only; null: the limits for all callers apply. */
  readonly limits: LimitSet | null
  /** Must be empty: groups are identified by name, not by number. */
  readonly group_ids: readonly number[]
  /** Ignored: permissions follow from the scopes. */
  readonly role?: unknown
}

const keyName = v.pipe(text, v.maxLength(200))
// Access checks compare these names, so a name that cannot be stored exactly is refused rather than changed.
const principalName = v.pipe(exactText, v.minLength(1), v.maxLength(200))
const scopeList = v.pipe(v.array(v.picklist(scopes)), v.minLength(1))

export const apiKeyCreationSchema: WireSchema<ApiKeyCreation> = closedModel('ApiKeyCreation', {
  name: v.nullish(keyName, null),
  scopes: v.nullish(scopeList, () => ['chat' as const]),
  owner: v.nullish(principalName, null),
  email: v.nullish(exactText, null),
  groups: v.nullish(v.array(principalName), () => []),
  stream_format: v.nullish(v.picklist(streamFormats), null),
  expires_at: v.nullish(dateTime, null),
  limits: v.nullish(limitSetSchema, null),
  group_ids: v.nullish(v.array(integer), () => []),
  role: v.optional(v.unknown()),
})

/** Body of `PATCH /admin/api-key/{api_key_id}`. Absent fields stay unchanged. */
export interface ApiKeyUpdate {
  /** Name of the key. */
  readonly name?: string | null
  /** New scopes of the key. */
  readonly scopes?: readonly Scope[]
  /** E-mail address of its owner. */
  readonly email?: string | null
  /** Groups the owner belongs to. */
  readonly groups?: readonly string[]
  /** Stream format when `Accept` does not select one; null: the server's default. */
  readonly stream_format?: StreamFormat | null
  /** Expiry time; null: never expires. */
  readonly expires_at?: string | null
  /** Limits counted for this key only; null: the limits for all callers apply. */
  readonly limits?: LimitSet | null
  /** Must be empty: groups are identified by name, not by number. */
  readonly group_ids?: readonly number[] | null
  /** Ignored: permissions follow from the scopes. */
  readonly role?: unknown
}

export const apiKeyUpdateSchema: WireSchema<ApiKeyUpdate> = closedModel('ApiKeyUpdate', {
  name: v.optional(v.nullable(keyName)),
  scopes: v.optional(scopeList),
  email: v.optional(v.nullable(exactText)),
  groups: v.optional(v.array(principalName)),
  stream_format: v.optional(v.nullable(v.picklist(streamFormats))),
  expires_at: v.optional(v.nullable(dateTime)),
  limits: v.optional(v.nullable(limitSetSchema)),
  group_ids: v.optional(v.nullable(v.array(integer))),
  role: v.optional(v.unknown()),
})
