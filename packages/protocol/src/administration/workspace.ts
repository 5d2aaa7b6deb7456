import * as v from 'valibot'
import { always, boolean, integer, looseModel, model, orNull, text, type Wire, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'

/** Those besides the first three are fixed by the deployment. */
export const workspaceSettingsSchema = model('WorkspaceSettings', {
  /** Company name shown by clients; null: none. */
  company_name: orNull(v.string()),
  /** Company description shown by clients; null: none. */
  company_description: orNull(v.string()),
  /** Whether clients scroll along while an answer is streamed. */
  auto_scroll: boolean,
  /** Days after which sessions are deleted; null: never. */
  maximum_chat_retention_days: orNull(v.number()),
  /** Version of the service. */
  version: orNull(v.string()),
  gpu_enabled: always(null, v.null()),
  seat_count: always(null, v.null()),
  used_seats: always(null, v.null()),
  deep_research_enabled: always(true, boolean),
  craft_instructions: always(null, v.null()),
  application_status: always('active', v.string()),
  tier: always('community', v.string()),
  query_history_type: always('normal', v.string()),
  image_analysis_max_size_mb: always(20, integer),
  user_file_max_upload_size_mb: always(100, integer),
  file_token_count_threshold_k: always(200, integer),
  multi_model_chat_enabled: always(true, boolean),
  search_ui_enabled: always(true, boolean),
  auto_detect_search_filters: always(true, boolean),
  temperature_override_enabled: always(true, boolean),
  reasoning_override_enabled: always(true, boolean),
  image_extraction_and_analysis_enabled: always(true, boolean),
  user_knowledge_enabled: always(true, boolean),
  show_extra_connectors: always(false, boolean),
  craft_default_enabled: always(false, boolean),
  anonymous_user_enabled: always(false, boolean),
  invite_only_enabled: always(false, boolean),
  ee_features_enabled: always(false, boolean),
  hide_query_history_from_admin_panel: always(false, boolean),
  disable_default_assistant: always(false, boolean),
  opensearch_indexing_enabled: always(false, boolean),
  notifications: always([], v.array(v.unknown())),
  needs_reindexing: always(false, boolean),
  tenant_id: always('public', v.string()),
  onyx_craft_enabled: always(false, boolean),
  onyx_craft_available: always(false, boolean),
  opencode_debugging_enabled: always(false, boolean),
  vector_db_enabled: always(true, boolean),
  hooks_enabled: always(false, boolean),
  max_allowed_upload_size_mb: always(250, integer),
  default_pruning_freq: always(604_800, integer),
  default_user_file_max_upload_size_mb: always(100, integer),
  default_file_token_count_threshold_k: always(200, integer),
  is_containerized: always(false, boolean),
  posthog_key: always(null, v.null()),
  posthog_host: always(null, v.null()),
})

/** Answer of `GET /settings`. */
export type WorkspaceSettings = Wire<typeof workspaceSettingsSchema>

/** Schema of the body of `PATCH /admin/settings`. Absent fields stay unchanged. */
export const workspaceUpdateSchema: WireSchema<Readonly<Record<string, unknown>>> = looseModel({
  company_name: v.optional(v.nullable(v.pipe(text, v.maxLength(1000)))),
  company_description: v.optional(v.nullable(v.pipe(text, v.maxLength(10_000)))),
  auto_scroll: v.optional(v.nullable(boolean)),
})

export const inputPromptSchema = model('InputPrompt', {
  /** Number of the shortcut. */
  id: integer,
  /** Name of the shortcut. */
  prompt: v.string(),
  /** Text the shortcut expands to. */
  content: v.string(),
  /** Whether clients offer the shortcut. */
  active: boolean,
  /** Id of its owner. */
  user_id: orNull(v.string()),
  /** Always false here: shortcuts belong to one person. */
  is_public: always(false, boolean),
})

/** A prompt shortcut of one person. */
export type InputPrompt = Wire<typeof inputPromptSchema>

/** A group with a number. Groups have no numbers here, so there is never one. */
const knownGroupSchema = model('KnownGroup', {
  /** Its number. */
  id: integer,
  /** Display name. */
  name: v.string(),
})

export const knownUserSchema = model('KnownUser', {
  /** Id of the person. */
  id: v.string(),
  /** "" when unknown. */
  email: v.string(),
  /** Always `SERVICE_ACCOUNT` here. */
  account_type: always('SERVICE_ACCOUNT', v.string()),
  /** Whether one of the keys has the scope `admin`. */
  is_admin: boolean,
  /** Always true: people without a valid key are not listed. */
  is_active: always(true, boolean),
  /** Always false: there are no passwords. */
  password_configured: always(false, boolean),
  /** Name of one of the keys. */
  personal_name: orNull(v.string()),
  /** Creation time of the first key; ISO 8601 with `Z`. */
  created_at: answeredTime,
  /** Creation time of the latest key; ISO 8601 with `Z`. */
  updated_at: answeredTime,
  /** Groups of the person. */
  groups: always([], v.array(knownGroupSchema)),
  is_scim_synced: always(false, boolean),
  craft_enabled: always(null, orNull(boolean)),
})

/** A person who has a key. */
export type KnownUser = Wire<typeof knownUserSchema>

/** An invited person. Invitations are not supported, so there is never one. */
const invitedUserSchema = model('InvitedUser', {
  /** E-mail address. */
  email: v.string(),
})

/** Answer of `GET /manage/users`. */
export const knownUsersSchema = model('KnownUsers', {
  /** The people. */
  accepted: v.array(knownUserSchema),
  slack_users: always([], v.array(knownUserSchema)),
  invited: always([], v.array(invitedUserSchema)),
  /** Always 1: there is only one page. */
  accepted_pages: always(1, integer),
  slack_users_pages: always(0, integer),
  invited_pages: always(0, integer),
})

/** Schema of the answer of `GET /manage/users/accepted`. */
export const knownUserPageSchema = model({ items: v.array(knownUserSchema), total_items: integer })
