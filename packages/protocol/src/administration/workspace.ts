import * as v from 'valibot'
import { boolean, integer, looseModel, model, orNull, text, type WireSchema } from '../fields.ts'
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

/** A prompt shortcut of one person. */
export interface InputPrompt {
  /** Number of the shortcut. */
  readonly id: number
  /** Name of the shortcut. */
  readonly prompt: string
  /** Text the shortcut expands to. */
  readonly content: string
  /** Whether clients offer the shortcut. */
  readonly active: boolean
  /** Id of its owner. */
  readonly user_id: string | null
  /** Always false here: shortcuts belong to one person. */
  readonly is_public: boolean
}

export const inputPromptSchema: WireSchema<InputPrompt> = model('InputPrompt', {
  id: integer,
  prompt: v.string(),
  content: v.string(),
  active: boolean,
  user_id: orNull(v.string()),
  is_public: boolean,
})

/** A group with a number. Groups have no numbers here, so there is never one. */
export interface KnownGroup {
  /** Its number. */
  readonly id: number
  /** Display name. */
  readonly name: string
}

/** An invited person. Invitations are not supported, so there is never one. */
export interface InvitedUser {
  /** E-mail address. */
  readonly email: string
}

/** A person who has a key. */
export interface KnownUser {
  /** Id of the person. */
  readonly id: string
  /** "" when unknown. */
  readonly email: string
  /** Always `SERVICE_ACCOUNT` here. */
  readonly account_type: string
  /** Whether one of the keys has the scope `admin`. */
  readonly is_admin: boolean
  /** Always true: people without a valid key are not listed. */
  readonly is_active: boolean
  /** Always false: there are no passwords. */
  readonly password_configured: boolean
  /** Name of one of the keys. */
  readonly personal_name: string | null
  /** Creation time of the first key; ISO 8601 with `Z`. */
  readonly created_at: string
  /** Creation time of the latest key; ISO 8601 with `Z`. */
  readonly updated_at: string
  /** Groups of the person. */
  readonly groups: readonly KnownGroup[]
  /** Always false here. */
  readonly is_scim_synced: boolean
  /** Always null here. */
  readonly craft_enabled: boolean | null
}

export const knownUserSchema: WireSchema<KnownUser> = model('KnownUser', {
  id: v.string(),
  email: v.string(),
  account_type: v.string(),
  is_admin: boolean,
  is_active: boolean,
  password_configured: boolean,
  personal_name: orNull(v.string()),
  created_at: answeredTime,
  updated_at: answeredTime,
  groups: v.array(model('KnownGroup', { id: integer, name: v.string() })),
  is_scim_synced: boolean,
  craft_enabled: orNull(boolean),
})

/** Answer of `GET /manage/users`. */
export interface KnownUsers {
  /** The people. */
  readonly accepted: readonly KnownUser[]
  /** Always empty here. */
  readonly slack_users: readonly KnownUser[]
  /** Always empty here. */
  readonly invited: readonly InvitedUser[]
  /** Always 1: there is only one page. */
  readonly accepted_pages: number
  /** Always 0 here. */
  readonly slack_users_pages: number
  /** Always 0 here. */
  readonly invited_pages: number
}

export const knownUsersSchema: WireSchema<KnownUsers> = model('KnownUsers', {
  accepted: v.array(knownUserSchema),
  slack_users: v.array(knownUserSchema),
  invited: v.array(model('InvitedUser', { email: v.string() })),
  accepted_pages: integer,
  slack_users_pages: integer,
  invited_pages: integer,
})

/** Schema of the answer of `GET /manage/users/accepted`. */
export const knownUserPageSchema: WireSchema<{ readonly items: readonly KnownUser[]; readonly total_items: number }> =
  model({ items: v.array(knownUserSchema), total_items: integer })
