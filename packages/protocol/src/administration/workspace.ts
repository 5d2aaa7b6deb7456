import * as v from 'valibot'
import { boolean, integer, looseModel, model, orNull, text, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'

/** What an administrator may set for clients to show; everything else is fixed by the deployment. */
export interface WorkspaceTexts {
  /** Shown by clients; null: nothing. */
  readonly company_name: string | null
  /** Shown by clients; null: nothing. */
  readonly company_description: string | null
  /** Whether clients follow an answer as it grows. */
  readonly auto_scroll: boolean
}

/** Settings that nobody can change over the API, with their values unless the deployment sets them. */
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
    /** Null where sessions are kept. */
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

/** Schema of the body of `PATCH /admin/settings`: any subset; what is absent stays. */
export const workspaceUpdateSchema: WireSchema<Readonly<Record<string, unknown>>> = looseModel({
  company_name: v.optional(v.nullable(v.pipe(text, v.maxLength(1000)))),
  company_description: v.optional(v.nullable(v.pipe(text, v.maxLength(10_000)))),
  auto_scroll: v.optional(v.nullable(boolean)),
})

/** A prompt shortcut of a person. */
export interface InputPrompt {
  /** Number of the shortcut. */
  readonly id: number
  /** Name of the shortcut. */
  readonly prompt: string
  /** Text that it stands for. */
  readonly content: string
  /** Whether clients offer it. */
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

/** A group with a number; there are none here. */
export interface KnownGroup {
  /** Its number. */
  readonly id: number
  /** What people call it. */
  readonly name: string
}

/** Somebody who was invited; nobody is here. */
export interface InvitedUser {
  /** E-mail address. */
  readonly email: string
}

/** Somebody who has a key. */
export interface KnownUser {
  /** Its number. */
  readonly id: string
  /** "" when unknown. */
  readonly email: string
  /** Always `SERVICE_ACCOUNT` here. */
  readonly account_type: string
  /** Whether a key of theirs is an administrator's. */
  readonly is_admin: boolean
  /** Always true: keys that were revoked are not listed. */
  readonly is_active: boolean
  /** Always false: there are no passwords. */
  readonly password_configured: boolean
  /** Name of a key of theirs. */
  readonly personal_name: string | null
  /** When their first key was made; ISO 8601 with `Z`. */
  readonly created_at: string
  /** When their latest key was made; ISO 8601 with `Z`. */
  readonly updated_at: string
  /** Names of groups that may see the documents. */
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
  /** Always 1: all are on one page. */
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
