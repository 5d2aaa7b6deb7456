import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { documentSetSummarySchema } from './document-sets.ts'
import { always, boolean, integer, model, orNull, text, type Wire, type WireSchema } from '../fields.ts'
import { queryBoolean, queryInteger } from '../query.ts'
import { toolSnapshotSchema } from './tools.ts'

export const starterMessageSchema = model('StarterMessage', {
  /** Short label, for a button. */
  name: text,
  /** Text of the message. */
  message: text,
})

/** A suggested first message. */
export type StarterMessage = Wire<typeof starterMessageSchema>

export const personaLabelSchema = model('PersonaLabel', {
  /** Number of the label. */
  id: integer,
  /** Text of the label. */
  name: v.string(),
})

/** A label of agents. */
export type PersonaLabel = Wire<typeof personaLabelSchema>

export const groundingSchema: WireSchema<'auto' | 'tools' | 'search-first'> = v.picklist([
  'auto',
  'tools',
  'search-first',
])

export const toolApprovalPolicySchema: WireSchema<'never' | 'writes' | 'always'> = v.picklist([
  'never',
  'writes',
  'always',
])

/** A person, by id and e-mail address. */
const personaUser = model('PersonaUser', {
  /** Id of the person. */
  id: v.string(),
  /** E-mail address; "" when hidden. */
  email: v.string(),
})

/** A group that owns an agent. */
const personaGroupSchema = model('PersonaGroup', {
  /** Id of the group. */
  id: v.string(),
  /** Name of the group. */
  name: v.string(),
})

const personaBaseSchema = model('PersonaBase', {
  /** 0 is the default agent. */
  id: integer,
  /** Name of the agent. */
  name: v.string(),
  /** Purpose of the agent. */
  description: v.string(),
  /** The agent's actions that are currently available. */
  tools: v.array(toolSnapshotSchema),
  /** Suggested first messages. */
  starter_messages: orNull(v.array(starterMessageSchema)),
  /** The agent's document sets that the caller can see. */
  document_sets: v.array(documentSetSummarySchema),
  /** Id of a model listed by `GET /llm/provider`; null: the default model. */
  default_model_configuration_id: orNull(integer),
  /** Id of its image. */
  uploaded_image_id: orNull(v.string()),
  /** Name of its icon. */
  icon_name: orNull(v.string()),
  /** Whether everybody can use it. */
  is_public: boolean,
  /** Whether it appears in listings. */
  is_listed: boolean,
  /** Whether it is listed first. */
  is_featured: boolean,
  /** Whether it is built in. */
  builtin_persona: boolean,
  /** Position in listings, lowest first. */
  display_priority: orNull(integer),
  /** Its labels. */
  labels: v.array(personaLabelSchema),
  /** Owner. The e-mail address is "" unless the caller is the owner or an administrator. */
  owner: orNull(personaUser),
  owner_group: always(null, orNull(personaGroupSchema)),
  /** Role of the caller. */
  user_permission: orNull(v.picklist(['OWNER', 'EDITOR', 'VIEWER'])),
  /** Permissions of the caller, by action. */
  permissions: v.record(v.string(), boolean),
})

/** Fields common to all views of an agent. */
export type PersonaBase = Wire<typeof personaBaseSchema>

export const minimalPersonaSchema = model('MinimalPersona', {
  ...personaBaseSchema.entries,
  hierarchy_node_count: always(0, integer),
  /** Number of uploaded files that belong to the agent. */
  attached_document_count: integer,
  /** `user_file` if there are such files. */
  knowledge_sources: v.array(v.string()),
})

/** An agent in a listing. */
export type MinimalPersona = Wire<typeof minimalPersonaSchema>

/** A person the agent is shared with. */
const personaShareSchema = model('PersonaShare', {
  /** The person. */
  user: personaUser,
  /** Permission of this person. */
  permission: v.picklist(['EDITOR', 'VIEWER']),
})

export const fullPersonaSchema = model('FullPersona', {
  ...personaBaseSchema.entries,
  /** Uploaded files that belong to the agent. */
  user_file_ids: v.array(v.string()),
  /** People it is shared with. */
  users: v.array(personaUser),
  /** Names of groups it is shared with. */
  groups: v.array(v.string()),
  /** People it is shared with, and their permissions. */
  user_shares: v.array(personaShareSchema),
  group_shares: always([], v.array(v.unknown())),
  /** Permission for everybody while it is public; always `VIEWER` here. */
  public_permission: always('VIEWER', v.picklist(['EDITOR', 'VIEWER'])),
  /** Visibility: only its owner, people it is shared with, or everybody. */
  sharing_status: v.picklist(['PRIVATE', 'SHARED', 'PUBLIC']),
  hierarchy_nodes: always([], v.array(v.unknown())),
  attached_documents: always([], v.array(v.unknown())),
  /** Instructions for the model. */
  system_prompt: orNull(v.string()),
  /** Whether `system_prompt` replaces the built-in instructions instead of extending them. */
  replace_base_system_prompt: boolean,
  /** Reminder added after every message. */
  task_prompt: orNull(v.string()),
  /** Whether prompts contain the current date. */
  datetime_aware: boolean,
  /** How the model gets documents; null: the setting of the model. */
  grounding: orNull(groundingSchema),
  /**
   * Whether citations and uncited sentences are compared with the documents the model read and cited where they match; null: the
   * setting of the model.
   */
  compared_citations: orNull(boolean),
  /** Which tool calls a person has to approve; null: the setting of the deployment. The stricter of both holds. */
  tool_approval: orNull(toolApprovalPolicySchema),
  /** Documents older than this are excluded from search. */
  search_start_date: orNull(answeredTime),
  admin_count: always(0, integer),
  ownership_vacant: always(false, boolean),
})

/** An agent with all its settings. */
export type FullPersona = Wire<typeof fullPersonaSchema>

export const personaPageSchema = model('PersonaPage', {
  /** Agents on this page. */
  items: v.array(minimalPersonaSchema),
  /** Number of agents on all pages. */
  total_items: integer,
})

/** Answer of `GET /agents`: a page of agents. */
export type PersonaPage = Wire<typeof personaPageSchema>

const idList = v.pipe(
  v.union([v.array(queryInteger({})), queryInteger({})]),
  v.transform((ids) => (typeof ids === 'number' ? [ids] : ids)),
)

/** Query of `GET /persona`. */
export const personaQuerySchema = model('PersonaQuery', {
  /** Whether deleted agents are included. */
  include_deleted: v.optional(queryBoolean, 'false'),
  /** Only agents with these ids. */
  persona_ids: v.optional(idList),
})

/** Query of `GET /agents`. */
export const personaPageQuerySchema = model('PersonaPageQuery', {
  ...personaQuerySchema.entries,
  /** From 0. */
  page_num: v.optional(queryInteger({ least: 0, most: 1_000_000 }), '0'),
  /** 1 to 1000. */
  page_size: v.optional(queryInteger({ least: 1, most: 1000 }), '10'),
})
