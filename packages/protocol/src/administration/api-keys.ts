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
  /** The key itself, in the answer that made it and nowhere else. */
  readonly api_key: string | null
  /** What the key is called. */
  readonly api_key_name: string | null
  /** Whom the key acts for. */
  readonly user_id: string
  /** E-mail address of its owner. */
  readonly email: string | null
  /** Names of the groups that its owner belongs to. */
  readonly groups: readonly string[]
  /** What the key may do. */
  readonly scopes: readonly Scope[]
  /** Framing of its streams where `Accept` decides nothing; null: that of the server. */
  readonly stream_format: StreamFormat | null
  /** ISO 8601 with `Z`, as `last_used_at`. */
  readonly created_at: string
  /** When it was last used; null when it never was. */
  readonly last_used_at: string | null
  /** From when on it is refused; null: never. */
  readonly expires_at: string | null
  /** What may be used with this key, counted for it alone; null: what all callers may. */
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

/** Body of `POST /admin/api-key`, as read: every default applied. */
export interface ApiKeyCreation {
  /** What the key is called, at most 200 characters. */
  readonly name: string | null
  /** What the key may do; absent: `chat`. */
  readonly scopes: readonly Scope[]
  /** Several keys of one owner share sessions and files; null: an owner of its own. */
  readonly owner: string | null
  /** E-mail address of its owner. */
  readonly email: string | null
  /** Names of the groups that its owner belongs to. */
  readonly groups: readonly string[]
  /** Framing of its streams where `Accept` decides nothing; null: that of the server. */
  readonly stream_format: StreamFormat | null
  /** From when on it is refused; null: never. */
  readonly expires_at: string | null
  /** What may be used with this key, counted for it alone; null: what all callers may. */
  readonly limits: LimitSet | null
  /** Only an empty list: groups have names here. */
  readonly group_ids: readonly number[]
  /** Ignored: what a key may do follows from its scopes. */
  readonly role?: unknown
}

const keyName = v.pipe(text, v.maxLength(200))
// Access is decided by comparing these: what cannot be stored exactly is refused, not trimmed into another name.
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

/** Body of `PATCH /admin/api-key/{api_key_id}`: what is absent stays. */
export interface ApiKeyUpdate {
  /** What the key is called. */
  readonly name?: string | null
  /** What the key may do from now on. */
  readonly scopes?: readonly Scope[]
  /** E-mail address of its owner. */
  readonly email?: string | null
  /** Names of the groups that its owner belongs to. */
  readonly groups?: readonly string[]
  /** Framing of its streams where `Accept` decides nothing; null: that of the server. */
  readonly stream_format?: StreamFormat | null
  /** From when on it is refused; null: never. */
  readonly expires_at?: string | null
  /** What may be used with this key, counted for it alone; null: what all callers may. */
  readonly limits?: LimitSet | null
  /** Only an empty list: groups have names here. */
  readonly group_ids?: readonly number[] | null
  /** Ignored: what a key may do follows from its scopes. */
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
