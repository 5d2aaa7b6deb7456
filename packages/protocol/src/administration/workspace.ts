import * as v from 'valibot'
import { always, boolean, integer, looseModel, model, orNull, text, type Wire, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'

/** Settings that an administrator can change; all others are fixed by the deployment. */
export interface WorkspaceTexts {
  /** Company name shown by clients; null: none. */
  readonly company_name: string | null
  /** Company description shown by clients; null: none. */
  readonly company_description: string | null
  /** Whether clients scroll along while an answer is streamed. */
  readonly auto_scroll: boolean
}

/** Settings that cannot be changed over the API, with their defaults when the deployment does not set them. */
export const fixedSettings = {
  maximum_chat_retention_days: null,
  gpu_enabled: null,
  seat_count: null,
  used_seats: null,
  deep_research_enabled: true,
  craft_instructions: null,
  application_status: 'active',
  tier: 'community',
  query_history_type: 'normal',
  image_analysis_max_size_mb: 20,
  user_file_max_upload_size_mb: 100,
  file_token_count_threshold_k: 200,
  multi_model_chat_enabled: true,
  search_ui_enabled: true,
  auto_detect_search_filters: true,
  temperature_override_enabled: true,
  reasoning_override_enabled: true,
  image_extraction_and_analysis_enabled: true,
  user_knowledge_enabled: true,
  show_extra_connectors: false,
  craft_default_enabled: false,
  anonymous_user_enabled: false,
  invite_only_enabled: false,
  ee_features_enabled: false,
  hide_query_history_from_admin_panel: false,
  disable_default_assistant: false,
  opensearch_indexing_enabled: false,
  notifications: [],
  needs_reindexing: false,
  tenant_id: 'public',
  onyx_craft_enabled: false,
  onyx_craft_available: false,
  opencode_debugging_enabled: false,
  vector_db_enabled: true,
  hooks_enabled: false,
  max_allowed_upload_size_mb: 250,
  default_pruning_freq: 604_800,
  default_user_file_max_upload_size_mb: 100,
  default_file_token_count_threshold_k: 200,
  is_containerized: false,
  posthog_key: null,
  posthog_host: null,
} as const

/** Answer of `GET /settings`. */
export type WorkspaceSettings = Omit<typeof fixedSettings, 'maximum_chat_retention_days'> &
  WorkspaceTexts & {
    /** Retention in days; null: sessions are kept. */
    readonly maximum_chat_retention_days: number | null
    readonly version: string | null
  }

const named = (value: unknown): v.GenericSchema =>
  value === null
    ? v.nullable(v.union([v.string(), v.number(), boolean]))
    : typeof value === 'boolean'
      ? boolean
      : typeof value === 'number'
        ? v.number()
        : Array.isArray(value)
          ? v.array(v.unknown())
          : v.string()

export const workspaceSettingsSchema: v.GenericSchema = model({
  ...Object.fromEntries(Object.entries(fixedSettings).map(([name, value]) => [name, named(value)])),
  company_name: orNull(v.string()),
  company_description: orNull(v.string()),
  auto_scroll: boolean,
  version: orNull(v.string()),
})

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
