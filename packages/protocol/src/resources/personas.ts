import * as v from 'valibot'
import { documentSetSummarySchema, type DocumentSetSummary } from './document-sets.ts'
import { integer, model, orNull, text, type WireSchema } from '../fields.ts'
import { groupNames } from './pairs.ts'
import { dateTime } from '../timestamps.ts'
import { queryBoolean, queryInteger } from '../query.ts'
import { toolSnapshotSchema, type ToolSnapshot } from './tools.ts'

/** A way to begin a chat with an agent. */
export interface StarterMessage {
  readonly name: string
  readonly message: string
}

/** A label of agents. */
export interface PersonaLabel {
  readonly id: number
  readonly name: string
}

/** What every view of an agent tells. */
export interface PersonaBase {
  /** 0 is the default agent. */
  readonly id: number
  readonly name: string
  readonly description: string
  /** Those of its actions that can be used now. */
  readonly tools: readonly ToolSnapshot[]
  readonly starter_messages: readonly StarterMessage[] | null
  /** Those of its document sets that the caller may see. */
  readonly document_sets: readonly DocumentSetSummary[]
  /** Of the models that `GET /llm/provider` lists; null: the default model. */
  readonly default_model_configuration_id: number | null
  readonly uploaded_image_id: string | null
  readonly icon_name: string | null
  readonly is_public: boolean
  readonly is_listed: boolean
  readonly is_featured: boolean
  readonly builtin_persona: boolean
  readonly display_priority: number | null
  readonly labels: readonly PersonaLabel[]
  /** The e-mail address is "" unless the caller is the owner or an administrator. */
  readonly owner: { readonly id: string; readonly email: string } | null
  readonly owner_group: { readonly id: string; readonly name: string } | null
  readonly user_permission: 'OWNER' | 'EDITOR' | 'VIEWER' | null
  readonly permissions: Readonly<Record<string, boolean>>
}

/** An agent in a listing. */
export interface MinimalPersona extends PersonaBase {
  readonly hierarchy_node_count: number
  readonly attached_document_count: number
  readonly knowledge_sources: readonly string[]
}

/** An agent with everything that makes it what it is. */
export interface FullPersona extends PersonaBase {
  readonly user_file_ids: readonly string[]
  readonly users: readonly { readonly id: string; readonly email: string }[]
  /** Names of groups. */
  readonly groups: readonly string[]
  readonly user_shares: readonly {
    readonly user: { readonly id: string; readonly email: string }
    readonly permission: 'EDITOR' | 'VIEWER'
  }[]
  readonly group_shares: readonly unknown[]
  /** What everybody may do with it while it is public. */
  readonly public_permission: 'EDITOR' | 'VIEWER'
  readonly sharing_status: 'PRIVATE' | 'SHARED' | 'PUBLIC'
  readonly hierarchy_nodes: readonly unknown[]
  readonly attached_documents: readonly unknown[]
  readonly system_prompt: string | null
  /** Whether `system_prompt` stands instead of the built-in instructions rather than beside them. */
  readonly replace_base_system_prompt: boolean
  readonly task_prompt: string | null
  readonly datetime_aware: boolean
  readonly search_start_date: string | null
  readonly admin_count: number
  readonly ownership_vacant: boolean
}

const baseFields = {
  id: integer,
  name: v.string(),
  description: v.string(),
  tools: v.array(toolSnapshotSchema),
  starter_messages: orNull(v.array(model({ name: v.string(), message: v.string() }))),
  document_sets: v.array(documentSetSummarySchema),
  default_model_configuration_id: orNull(integer),
  uploaded_image_id: orNull(v.string()),
  icon_name: orNull(v.string()),
  is_public: v.boolean(),
  is_listed: v.boolean(),
  is_featured: v.boolean(),
  builtin_persona: v.boolean(),
  display_priority: orNull(integer),
  labels: v.array(model({ id: integer, name: v.string() })),
  owner: orNull(model({ id: v.string(), email: v.string() })),
  owner_group: orNull(model({ id: v.string(), name: v.string() })),
  user_permission: orNull(v.picklist(['OWNER', 'EDITOR', 'VIEWER'])),
  permissions: v.record(v.string(), v.boolean()),
}

/** Schema of {@link MinimalPersona}. */
export const minimalPersonaSchema: WireSchema<MinimalPersona> = model({
  ...baseFields,
  hierarchy_node_count: integer,
  attached_document_count: integer,
  knowledge_sources: v.array(v.string()),
})

/** Schema of {@link FullPersona}. */
export const fullPersonaSchema: WireSchema<FullPersona> = model({
  ...baseFields,
  user_file_ids: v.array(v.string()),
  users: v.array(model({ id: v.string(), email: v.string() })),
  groups: v.array(v.string()),
  user_shares: v.array(
    model({ user: model({ id: v.string(), email: v.string() }), permission: v.picklist(['EDITOR', 'VIEWER']) }),
  ),
  group_shares: v.array(v.unknown()),
  public_permission: v.picklist(['EDITOR', 'VIEWER']),
  sharing_status: v.picklist(['PRIVATE', 'SHARED', 'PUBLIC']),
  hierarchy_nodes: v.array(v.unknown()),
  attached_documents: v.array(v.unknown()),
  system_prompt: orNull(v.string()),
  replace_base_system_prompt: v.boolean(),
  task_prompt: orNull(v.string()),
  datetime_aware: v.boolean(),
  search_start_date: orNull(v.string()),
  admin_count: integer,
  ownership_vacant: v.boolean(),
})

/** A page of agents: answer of `GET /agents`. */
export interface PersonaPage {
  readonly items: readonly MinimalPersona[]
  /** Over all pages. */
  readonly total_items: number
}

/** Schema of {@link PersonaPage}. */
export const personaPageSchema: WireSchema<PersonaPage> = model({
  items: v.array(minimalPersonaSchema),
  total_items: integer,
})

/** Query of `GET /persona`. */
export interface PersonaQuery {
  /** Whether those that were removed are listed too. */
  readonly include_deleted: boolean
  /** Only these. */
  readonly persona_ids?: readonly number[]
}

const idList = v.pipe(
  v.union([v.array(queryInteger({})), queryInteger({})]),
  v.transform((ids) => (typeof ids === 'number' ? [ids] : ids)),
)

/** Schema of {@link PersonaQuery}. */
export const personaQuerySchema: WireSchema<PersonaQuery> = model({
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

/** Schema of {@link PersonaPageQuery}. */
export const personaPageQuerySchema: WireSchema<PersonaPageQuery> = model({
  include_deleted: v.optional(queryBoolean, 'false'),
  persona_ids: v.optional(idList),
  page_num: v.optional(queryInteger({ least: 0, most: 1_000_000 }), '0'),
  page_size: v.optional(queryInteger({ least: 1, most: 1000 }), '10'),
})

/** What an agent can be given, as read: absent fields are left as they are, or take their default in a new one. */
export interface PersonaFields {
  readonly name?: string
  readonly description?: string
  readonly document_set_ids?: readonly number[]
  readonly tool_ids?: readonly number[]
  readonly system_prompt?: string
  readonly task_prompt?: string
  readonly datetime_aware?: boolean
  readonly replace_base_system_prompt?: boolean
  readonly is_public?: boolean
  readonly is_listed?: boolean
  readonly is_featured?: boolean
  /** Null: the default model. */
  readonly default_model_configuration_id?: number | null
  readonly starter_messages?: readonly StarterMessage[] | null
  /** Ids or e-mail addresses. */
  readonly users?: readonly string[]
  /** Names. */
  readonly groups?: readonly string[]
  readonly icon_name?: string | null
  /** Documents older than this are not searched. */
  readonly search_start_date?: string | null
  readonly display_priority?: number | null
  readonly user_file_ids?: readonly string[]
  /** Of `GET /persona/labels`. */
  readonly label_ids?: readonly number[]
}

/** Body of `POST /persona`. */
export type PersonaCreation = PersonaFields &
  Required<
    Pick<
      PersonaFields,
      'name' | 'description' | 'document_set_ids' | 'tool_ids' | 'system_prompt' | 'task_prompt' | 'datetime_aware'
    >
  >

/** A field of an update: null means the same as absence. */
function kept<Output, Input>(
  schema: WireSchema<Output, Input>,
): WireSchema<Output | undefined, Input | null | undefined> {
  return v.pipe(
    v.nullish(schema),
    v.transform((value) => value ?? undefined),
  )
}

const name = v.pipe(text, v.trim(), v.minLength(1), v.maxLength(255))
const prompt = v.pipe(text, v.maxLength(200_000))
const listOf = <Output, Input>(schema: WireSchema<Output, Input>): WireSchema<Output[], Input[]> =>
  v.pipe(v.array(schema), v.maxLength(1000))

const ownFields = {
  name,
  description: text,
  document_set_ids: listOf(integer),
  tool_ids: listOf(integer),
  system_prompt: prompt,
  task_prompt: prompt,
  datetime_aware: v.boolean(),
}

const moreFields = {
  replace_base_system_prompt: kept(v.boolean()),
  is_public: kept(v.boolean()),
  is_listed: kept(v.boolean()),
  is_featured: kept(v.boolean()),
  default_model_configuration_id: v.optional(v.nullable(integer)),
  starter_messages: v.optional(v.nullable(listOf(model({ name: text, message: text })))),
  users: kept(listOf(text)),
  groups: kept(groupNames),
  icon_name: v.optional(v.nullable(text)),
  search_start_date: v.optional(v.nullable(dateTime)),
  display_priority: v.optional(v.nullable(integer)),
  user_file_ids: kept(listOf(text)),
  label_ids: kept(listOf(integer)),
}

/** Schema of {@link PersonaCreation}. */
export const personaCreationSchema: WireSchema<PersonaCreation> = model({ ...ownFields, ...moreFields })

/** Schema of the body of `PATCH /persona/{persona_id}`. */
export const personaUpdateSchema: WireSchema<PersonaFields> = model({
  name: kept(ownFields.name),
  description: kept(ownFields.description),
  document_set_ids: kept(ownFields.document_set_ids),
  tool_ids: kept(ownFields.tool_ids),
  system_prompt: kept(ownFields.system_prompt),
  task_prompt: kept(ownFields.task_prompt),
  datetime_aware: kept(ownFields.datetime_aware),
  ...moreFields,
})
