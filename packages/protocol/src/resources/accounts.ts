import * as v from 'valibot'
import { boolean, integer, model, orNull, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { personalizationSchema, type PersonalizationDetail } from './personalization.ts'

/** Answer of `GET /me`: the person the key acts for. */
export interface UserInfo {
  /** Id of the person. */
  readonly id: string
  /** "" when unknown. */
  readonly email: string
  /** Always true here. */
  readonly is_active: boolean
  /** Whether the key has the scope `admin`. */
  readonly is_superuser: boolean
  /** Always true here. */
  readonly is_verified: boolean
  /** Kind of the account. */
  readonly account_type: string
  /** Always false here. */
  readonly is_anonymous_user: boolean
  /** Scopes of the key. */
  readonly effective_permissions: readonly string[]
  /** Names of their groups. */
  readonly groups: readonly string[]
  /** Personal information and preferences for the assistant. */
  readonly personalization: PersonalizationDetail
  /** Fixed preferences. */
  readonly preferences: Readonly<Record<string, unknown>>
  /** Always null here. */
  readonly token_expires_at: string | null
  /** Always false here. */
  readonly is_cloud_superuser: boolean
  /** Always null here. */
  readonly team_name: null
  /** Always false here. */
  readonly password_configured: boolean
  /** Always null here. */
  readonly tenant_info: null
  /** Always false here. */
  readonly is_group_manager: boolean
  /** Always empty here. */
  readonly admin_capabilities: readonly string[]
}

export const userInfoSchema: WireSchema<UserInfo> = model('UserInfo', {
  id: v.string(),
  email: v.string(),
  is_active: boolean,
  is_superuser: boolean,
  is_verified: boolean,
  account_type: v.string(),
  is_anonymous_user: boolean,
  effective_permissions: v.array(v.string()),
  groups: v.array(v.string()),
  personalization: personalizationSchema,
  preferences: v.record(v.string(), v.unknown()),
  token_expires_at: orNull(answeredTime),
  is_cloud_superuser: boolean,
  team_name: v.null(),
  password_configured: boolean,
  tenant_info: v.null(),
  is_group_manager: boolean,
  admin_capabilities: v.array(v.string()),
})

/** Answer of `GET /me/permissions`. */
export interface UserPermissions {
  /** Permissions that correspond to the scopes, named as existing clients expect. */
  readonly permissions: readonly string[]
  /** Always false here. */
  readonly is_manager: boolean
  /** Always empty here. */
  readonly managed_group_ids: readonly number[]
}

export const userPermissionsSchema: WireSchema<UserPermissions> = model('UserPermissions', {
  permissions: v.array(v.string()),
  is_manager: boolean,
  managed_group_ids: v.array(integer),
})
