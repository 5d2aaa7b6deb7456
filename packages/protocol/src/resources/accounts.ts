import * as v from 'valibot'
import { boolean, integer, model, orNull, type Wire } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { personalizationSchema } from './personalization.ts'

export const userInfoSchema = model('UserInfo', {
  /** Id of the person. */
  id: v.string(),
  /** "" when unknown. */
  email: v.string(),
  /** Always true here. */
  is_active: boolean,
  /** Whether the key has the scope `admin`. */
  is_superuser: boolean,
  /** Always true here. */
  is_verified: boolean,
  /** Kind of the account. */
  account_type: v.string(),
  /** Always false here. */
  is_anonymous_user: boolean,
  /** Scopes of the key. */
  effective_permissions: v.array(v.string()),
  /** Names of their groups. */
  groups: v.array(v.string()),
  /** Personal information and preferences for the assistant. */
  personalization: personalizationSchema,
  /** Fixed preferences. */
  preferences: v.record(v.string(), v.unknown()),
  /** Always null here. */
  token_expires_at: orNull(answeredTime),
  /** Always false here. */
  is_cloud_superuser: boolean,
  /** Always null here. */
  team_name: v.null(),
  /** Always false here. */
  password_configured: boolean,
  /** Always null here. */
  tenant_info: v.null(),
  /** Always false here. */
  is_group_manager: boolean,
  /** Always empty here. */
  admin_capabilities: v.array(v.string()),
})

/** Answer of `GET /me`: the person the key acts for. */
export type UserInfo = Wire<typeof userInfoSchema>

export const userPermissionsSchema = model('UserPermissions', {
  /** Permissions that correspond to the scopes, named as existing clients expect. */
  permissions: v.array(v.string()),
  /** Always false here. */
  is_manager: boolean,
  /** Always empty here. */
  managed_group_ids: v.array(integer),
})

/** Answer of `GET /me/permissions`. */
export type UserPermissions = Wire<typeof userPermissionsSchema>
