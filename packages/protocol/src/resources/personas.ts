import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { documentSetSummarySchema, type DocumentSetSummary } from './document-sets.ts'
import { boolean, integer, model, orNull, text, type WireSchema } from '../fields.ts'
import { queryBoolean, queryInteger } from '../query.ts'
import { toolSnapshotSchema, type ToolSnapshot } from './tools.ts'

/** A suggested first message. */
export interface StarterMessage {
  /** Short label, for a button. */
  readonly name: string
  /** Text of the message. */
  readonly message: string
}

export const starterMessageSchema: WireSchema<StarterMessage, StarterMessage> = model('StarterMessage', {
  name: text,
  message: text,
})

/** A label of agents. */
export interface PersonaLabel {
  /** Number of the label. */
  readonly id: number
  /** Text of the label. */
  readonly name: string
}

/** A person, by id and e-mail address. */
export interface PersonaUser {
  /** Id of the person. */
  readonly id: string
  /** E-mail address; "" when hidden. */
  readonly email: string
}

/** A group that owns an agent. */
export interface PersonaGroup {
  /** Id of the group. */
  readonly id: string
  /** Name of the group. */
  readonly name: string
}

/** A person the agent is shared with. */
export interface PersonaShare {
  /** The person. */
  readonly user: PersonaUser
  /** Permission of this person. */
  readonly permission: 'EDITOR' | 'VIEWER'
}

export const personaLabelSchema: WireSchema<PersonaLabel> = model('PersonaLabel', { id: integer, name: v.string() })

/** Fields common to all views of an agent. */
export interface PersonaBase {
  /** 0 is the default agent. */
  readonly id: number
  /** Name of the agent. */
  readonly name: string
  /** Purpose of the agent. */
  readonly description: string
  /** The agent's actions that are currently available. */
  readonly tools: readonly ToolSnapshot[]
  /** Suggested first messages. */
  readonly starter_messages: readonly StarterMessage[] | null
  /** The agent's document sets that the caller can see. */
  readonly document_sets: readonly DocumentSetSummary[]
  /** Id of a model listed by `GET /llm/provider`; null: the default model. */
  readonly default_model_configuration_id: number | null
  /** Id of its image. */
  readonly uploaded_image_id: string | null
  /** Name of its icon. */
  readonly icon_name: string | null
  /** Whether everybody can use it. */
  readonly is_public: boolean
  /** Whether it appears in listings. */
  readonly is_listed: boolean
  /** Whether it is listed first. */
  readonly is_featured: boolean
  /** Whether it is built in. */
  readonly builtin_persona: boolean
  /** Position in listings, lowest first. */
  readonly display_priority: number | null
  /** Its labels; always empty here. */
  readonly labels: readonly PersonaLabel[]
  /** Owner. The e-mail address is "" unless the caller is the owner or an administrator. */
  readonly owner: PersonaUser | null
  /** The group that owns it. */
  readonly owner_group: PersonaGroup | null
  /** Role of the caller. */
  readonly user_permission: 'OWNER' | 'EDITOR' | 'VIEWER' | null
  /** Permissions of the caller, by action. */
  readonly permissions: Readonly<Record<string, boolean>>
}

/** An agent in a listing. */
export interface MinimalPersona extends PersonaBase {
  /** Always 0 here. */
  readonly hierarchy_node_count: number
  /** Always 0 here. */
  readonly attached_document_count: number
  /** Always empty here. */
  readonly knowledge_sources: readonly string[]
}

/** An agent with all its settings. */
export interface FullPersona extends PersonaBase {
  /** Uploaded files that belong to the agent. */
  readonly user_file_ids: readonly string[]
  /** People it is shared with. */
  readonly users: readonly PersonaUser[]
  /** Names of groups it is shared with. */
  readonly groups: readonly string[]
  /** People it is shared with, and their permissions. */
  readonly user_shares: readonly PersonaShare[]
  /** Always empty here. */
  readonly group_shares: readonly unknown[]
  /** Permission for everybody while it is public. */
  readonly public_permission: 'EDITOR' | 'VIEWER'
  /** Visibility: only its owner, people it is shared with, or everybody. */
  readonly sharing_status: 'PRIVATE' | 'SHARED' | 'PUBLIC'
  /** Always empty here. */
  readonly hierarchy_nodes: readonly unknown[]
  /** Always empty here. */
  readonly attached_documents: readonly unknown[]
  /** Instructions for the model. */
  readonly system_prompt: string | null
  /** Whether `system_prompt` replaces the built-in instructions instead of extending them. */
  readonly replace_base_system_prompt: boolean
  /** Reminder added after every message. */
  readonly task_prompt: string | null
  /** Whether prompts contain the current date. */
  readonly datetime_aware: boolean
  /** How the model gets documents; null: the setting of the model. */
  readonly grounding: 'auto' | 'tools' | 'search-first' | null
  /**
   * Whether uncited sentences are compared with the documents the model read and cited where they match; null: the
   * setting of the model.
   */
  readonly compared_citations: boolean | null
  /** Documents older than this are excluded from search. */
  readonly search_start_date: string | null
  /** Number of people who can administer it. */
  readonly admin_count: number
  /** Whether its owner no longer exists. */
  readonly ownership_vacant: boolean
}

/** Schema of the ways in which a model gets documents. */
export const groundingSchema: WireSchema<'auto' | 'tools' | 'search-first'> = v.picklist([
  'auto',
  'tools',
  'search-first',
])

const personaUser = model('PersonaUser', { id: v.string(), email: v.string() })

const baseFields = {
  id: integer,
  name: v.string(),
  description: v.string(),
  tools: v.array(toolSnapshotSchema),
  starter_messages: orNull(v.array(starterMessageSchema)),
  document_sets: v.array(documentSetSummarySchema),
  default_model_configuration_id: orNull(integer),
  uploaded_image_id: orNull(v.string()),
  icon_name: orNull(v.string()),
  is_public: boolean,
  is_listed: boolean,
  is_featured: boolean,
  builtin_persona: boolean,
  display_priority: orNull(integer),
  labels: v.array(personaLabelSchema),
  owner: orNull(personaUser),
  owner_group: orNull(model('PersonaGroup', { id: v.string(), name: v.string() })),
  user_permission: orNull(v.picklist(['OWNER', 'EDITOR', 'VIEWER'])),
  permissions: v.record(v.string(), boolean),
}

export const minimalPersonaSchema: WireSchema<MinimalPersona> = model('MinimalPersona', {
  ...baseFields,
  hierarchy_node_count: integer,
  attached_document_count: integer,
  knowledge_sources: v.array(v.string()),
})

export const fullPersonaSchema: WireSchema<FullPersona> = model('FullPersona', {
  ...baseFields,
  user_file_ids: v.array(v.string()),
  users: v.array(personaUser),
  groups: v.array(v.string()),
  user_shares: v.array(model('PersonaShare', { user: personaUser, permission: v.picklist(['EDITOR', 'VIEWER']) })),
  group_shares: v.array(v.unknown()),
  public_permission: v.picklist(['EDITOR', 'VIEWER']),
  sharing_status: v.picklist(['PRIVATE', 'SHARED', 'PUBLIC']),
  hierarchy_nodes: v.array(v.unknown()),
  attached_documents: v.array(v.unknown()),
  system_prompt: orNull(v.string()),
  replace_base_system_prompt: boolean,
  task_prompt: orNull(v.string()),
  datetime_aware: boolean,
  grounding: orNull(groundingSchema),
  compared_citations: orNull(boolean),
  search_start_date: orNull(answeredTime),
  admin_count: integer,
  ownership_vacant: boolean,
})

/** Answer of `GET /agents`: a page of agents. */
export interface PersonaPage {
  /** Agents on this page. */
  readonly items: readonly MinimalPersona[]
  /** Number of agents on all pages. */
  readonly total_items: number
}

export const personaPageSchema: WireSchema<PersonaPage> = model('PersonaPage', {
  items: v.array(minimalPersonaSchema),
  total_items: integer,
})

/** Query of `GET /persona`. */
export interface PersonaQuery {
  /** Whether deleted agents are included. */
  readonly include_deleted: boolean
  /** Only agents with these ids. */
  readonly persona_ids?: readonly number[]
}

const idList = v.pipe(
  v.union([v.array(queryInteger({})), queryInteger({})]),
  v.transform((ids) => (typeof ids === 'number' ? [ids] : ids)),
)

export const personaQuerySchema: WireSchema<PersonaQuery> = model('PersonaQuery', {
  include_deleted: v.optional(queryBoolean, 'false'),
  persona_ids: v.optional(idList),
})

/** Query of `GET /agents`. */
export interface PersonaPageQuery extends PersonaQuery {
  /** From 0. */
  readonly page_num: number
  /** 1 to 1000. */
  readonly page_size: number
}

export const personaPageQuerySchema: WireSchema<PersonaPageQuery> = model('PersonaPageQuery', {
  include_deleted: v.optional(queryBoolean, 'false'),
  persona_ids: v.optional(idList),
  page_num: v.optional(queryInteger({ least: 0, most: 1_000_000 }), '0'),
  page_size: v.optional(queryInteger({ least: 1, most: 1000 }), '10'),
})
