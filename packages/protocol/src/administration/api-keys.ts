import * as v from 'valibot'
import { answeredTime, dateTime } from '../timestamps.ts'
import { closedModel, exactText, integer, model, text, type Wire } from '../fields.ts'
import { scopes } from '../resources/principal.ts'
import { limitSetSchema } from './limits.ts'

const streamFormats = ['sse', 'lines'] as const

export const apiKeyDescriptorSchema = model('ApiKeyDescriptor', {
  /** Number of the key, for the addresses that change it. */
  api_key_id: integer,
  /** First and last characters. */
  api_key_display: v.string(),
  /** The key itself. Returned only when it is created. */
  api_key: v.nullable(v.string()),
  /** Name of the key. */
  api_key_name: v.nullable(v.string()),
  /** Id of the person the key acts for. */
  user_id: v.string(),
  /** E-mail address of its owner. */
  email: v.nullable(v.string()),
  /** Groups the owner belongs to. */
  groups: v.array(v.string()),
  /** Scopes of the key. */
  scopes: v.array(v.picklist(scopes)),
  /** Stream format when `Accept` does not select one; null: the server's default. */
  stream_format: v.nullable(v.picklist(streamFormats)),
  /** ISO 8601 with `Z`, like `last_used_at`. */
  created_at: answeredTime,
  /** Time of the last use; null when never used. */
  last_used_at: v.nullable(answeredTime),
  /** Expiry time; null: never expires. */
  expires_at: v.nullable(answeredTime),
  /** Limits counted for this key only; null: the limits for all callers apply. */
  limits: v.nullable(limitSetSchema),
})

/** An API key as administrators see it. */
export type ApiKeyDescriptor = Wire<typeof apiKeyDescriptorSchema>

const keyName = v.pipe(text, v.maxLength(200))
// Access checks compare these names, so a name that cannot be stored exactly is refused rather than changed.
const principalName = v.pipe(exactText, v.minLength(1), v.maxLength(200))
const scopeList = v.pipe(v.array(v.picklist(scopes)), v.minLength(1))

/** Body of `POST /admin/api-key` with all defaults applied. */
export const apiKeyCreationSchema = closedModel('ApiKeyCreation', {
  /** Name of the key, at most 200 characters. */
  name: v.nullish(keyName, null),
  /** Scopes of the key; default `chat`. */
  scopes: v.nullish(scopeList, () => ['chat' as const]),
  /** Owner id. Keys of one owner share sessions and files; null creates a new owner. */
  owner: v.nullish(principalName, null),
  /** E-mail address of its owner. */
  email: v.nullish(exactText, null),
  /** Groups the owner belongs to. */
  groups: v.nullish(v.array(principalName), () => []),
  /** Stream format when `Accept` does not select one; null: the server's default. */
  stream_format: v.nullish(v.picklist(streamFormats), null),
  /** Expiry time; null: never expires. */
  expires_at: v.nullish(dateTime, null),
  /** Limits counted for this key only; null: the limits for all callers apply. */
  limits: v.nullish(limitSetSchema, null),
  /** Must be empty: groups are identified by name, not by number. */
  group_ids: v.nullish(v.array(integer), () => []),
  /** Ignored: permissions follow from the scopes. */
  role: v.optional(v.unknown()),
})

/** Body of `PATCH /admin/api-key/{api_key_id}`. Absent fields stay unchanged. */
export const apiKeyUpdateSchema = closedModel('ApiKeyUpdate', {
  /** Name of the key. */
  name: v.optional(v.nullable(keyName)),
  /** New scopes of the key. */
  scopes: v.optional(scopeList),
  /** E-mail address of its owner. */
  email: v.optional(v.nullable(exactText)),
  /** Groups the owner belongs to. */
  groups: v.optional(v.array(principalName)),
  /** Stream format when `Accept` does not select one; null: the server's default. */
  stream_format: v.optional(v.nullable(v.picklist(streamFormats))),
  /** Expiry time; null: never expires. */
  expires_at: v.optional(v.nullable(dateTime)),
  /** Limits counted for this key only; null: the limits for all callers apply. */
  limits: v.optional(v.nullable(limitSetSchema)),
  /** Must be empty: groups are identified by name, not by number. */
  group_ids: v.optional(v.nullable(v.array(integer))),
  /** Ignored: permissions follow from the scopes. */
  role: v.optional(v.unknown()),
})
