import * as v from 'valibot'
import { exactText, integer, model, text, type WireSchema } from '../fields.ts'
import { personalizationSchema, type PersonalizationDetail } from './personalization.ts'
import { scopes, type Scope } from './principal.ts'

/** Answer of `GET /me`: whom the key acts for. */
export interface UserInfo {
  readonly id: string
  /** "" when unknown. */
  readonly email: string
  readonly is_active: boolean
  /** Whether the scope `admin` is held. */
  readonly is_superuser: boolean
  readonly is_verified: boolean
  readonly account_type: string
  readonly is_anonymous_user: boolean
  /** The scopes held. */
  readonly effective_permissions: readonly string[]
  readonly groups: readonly string[]
  readonly personalization: PersonalizationDetail
  /** What follows has one value here: keys have no team and no password. */
  readonly preferences: Readonly<Record<string, unknown>>
  readonly token_expires_at: null
  readonly is_cloud_superuser: boolean
  readonly team_name: null
  readonly password_configured: boolean
  readonly tenant_info: null
  readonly is_group_manager: boolean
  readonly admin_capabilities: readonly string[]
}

/** Schema of {@link UserInfo}. */
export const userInfoSchema: WireSchema<UserInfo> = model({
  id: v.string(),
  email: v.string(),
  is_active: v.boolean(),
  is_superuser: v.boolean(),
  is_verified: v.boolean(),
  account_type: v.string(),
  is_anonymous_user: v.boolean(),
  effective_permissions: v.array(v.string()),
  groups: v.array(v.string()),
  personalization: personalizationSchema,
  preferences: v.record(v.string(), v.unknown()),
  token_expires_at: v.null(),
  is_cloud_superuser: v.boolean(),
  team_name: v.null(),
  password_configured: v.boolean(),
  tenant_info: v.null(),
  is_group_manager: v.boolean(),
  admin_capabilities: v.array(v.string()),
})

/** Answer of `GET /me/permissions`. */
export interface UserPermissions {
  /** What the scopes held amount to, in the words of existing clients. */
  readonly permissions: readonly string[]
  readonly is_manager: boolean
  readonly managed_group_ids: readonly number[]
}

/** Schema of {@link UserPermissions}. */
export const userPermissionsSchema: WireSchema<UserPermissions> = model({
  permissions: v.array(v.string()),
  is_manager: v.boolean(),
  managed_group_ids: v.array(integer),
})

/** An API key as administrators see it. */
export interface ApiKeyDescriptor {
  readonly api_key_id: number
  /** First and last characters. */
  readonly api_key_display: string
  /** The key itself, in the answer that made it and nowhere else. */
  readonly api_key: string | null
  readonly api_key_name: string | null
  /** Whom the key acts for. */
  readonly user_id: string
  readonly email: string | null
  readonly groups: readonly string[]
  readonly scopes: readonly Scope[]
  /** ISO 8601 with `Z`, as `last_used_at`. */
  readonly created_at: string
  readonly last_used_at: string | null
}

/** Schema of {@link ApiKeyDescriptor}. */
export const apiKeyDescriptorSchema: WireSchema<ApiKeyDescriptor> = model({
  api_key_id: integer,
  api_key_display: v.string(),
  api_key: v.nullable(v.string()),
  api_key_name: v.nullable(v.string()),
  user_id: v.string(),
  email: v.nullable(v.string()),
  groups: v.array(v.string()),
  scopes: v.array(v.picklist(scopes)),
  created_at: v.string(),
  last_used_at: v.nullable(v.string()),
})

/** Body of `POST /admin/api-key`, as read: every default applied. */
export interface ApiKeyCreation {
  readonly name: string | null
  readonly scopes: readonly Scope[]
  /** Several keys of one owner share sessions and files; null: an owner of its own. */
  readonly owner: string | null
  readonly email: string | null
  readonly groups: readonly string[]
}

const keyName = v.pipe(text, v.maxLength(200))
// Access is decided by comparing these: what cannot be stored exactly is refused, not trimmed into another name.
const principalName = v.pipe(exactText, v.minLength(1), v.maxLength(200))
const scopeList = v.pipe(v.array(v.picklist(scopes)), v.minLength(1))

/** Schema of {@link ApiKeyCreation}. */
export const apiKeyCreationSchema: WireSchema<ApiKeyCreation> = model({
  name: v.nullish(keyName, null),
  scopes: v.nullish(scopeList, () => ['chat' as const]),
  owner: v.nullish(principalName, null),
  email: v.nullish(exactText, null),
  groups: v.nullish(v.array(principalName), () => []),
})

/** Body of `PATCH /admin/api-key/{api_key_id}`: what is absent stays. */
export interface ApiKeyUpdate {
  readonly name?: string | null
  readonly scopes?: readonly Scope[]
  readonly email?: string | null
  readonly groups?: readonly string[]
}

/** Schema of {@link ApiKeyUpdate}. */
export const apiKeyUpdateSchema: WireSchema<ApiKeyUpdate> = model({
  name: v.optional(v.nullable(keyName)),
  scopes: v.optional(scopeList),
  email: v.optional(v.nullable(exactText)),
  groups: v.optional(v.array(principalName)),
})
