import * as v from 'valibot'
import { always, boolean, integer, model, orNull, type Wire } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { personalizationSchema } from './personalization.ts'

export const userInfoSchema = model('UserInfo', {
  /** Id of the person. */
  id: v.string(),
  /** "" when unknown. */
  email: v.string(),
  is_active: always(true, boolean),
  /** Whether the key has the scope `admin`. */
  is_superuser: boolean,
  is_verified: always(true, boolean),
  /** Kind of the account. */
  account_type: v.string(),
  is_anonymous_user: always(false, boolean),
  /** Scopes of the key. */
  effective_permissions: v.array(v.string()),
  /** Names of their groups. */
  groups: v.array(v.string()),
  /** Personal information and preferences for the assistant. */
  personalization: personalizationSchema,
  /** Fixed preferences. */
  preferences: v.record(v.string(), v.unknown()),
  token_expires_at: always(null, orNull(answeredTime)),
  is_cloud_superuser: always(false, boolean),
  team_name: always(null, v.null()),
  password_configured: always(false, boolean),
  tenant_info: always(null, v.null()),
  is_group_manager: always(false, boolean),
  admin_capabilities: always([], v.array(v.string())),
})

/** Answer of `GET /me`: the person the key acts for. */
export type UserInfo = Wire<typeof userInfoSchema>

/** Answer of `GET /me/permissions`. */
export const userPermissionsSchema = model('UserPermissions', {
  /** Permissions that correspond to the scopes, named as existing clients expect. */
  permissions: v.array(v.string()),
  is_manager: always(false, boolean),
  managed_group_ids: always([], v.array(integer)),
})
