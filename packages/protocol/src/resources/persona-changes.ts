import * as v from 'valibot'
import { boolean, integer, model, text, type Wire, type WireSchema } from '../fields.ts'
import { dateTime } from '../timestamps.ts'
import { groupNames } from './pairs.ts'
import { groundingSchema, starterMessageSchema, toolApprovalPolicySchema } from './personas.ts'

/** A field of an update where null means the same as absence. */
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

/** What a new agent needs. */
const required = {
  name,
  description: v.pipe(text, v.maxLength(10_000)),
  document_set_ids: listOf(integer),
  tool_ids: listOf(integer),
  system_prompt: prompt,
  task_prompt: prompt,
  datetime_aware: boolean,
}

const personaFieldsSchema = model('PersonaFields', {
  /** Name of the agent, 1 to 255 characters. */
  name: kept(required.name),
  /** Purpose of the agent. */
  description: kept(required.description),
  /** Document sets to search; []: all sets the caller can see. */
  document_set_ids: kept(required.document_set_ids),
  /** Actions the agent can use. */
  tool_ids: kept(required.tool_ids),
  /** Instructions for the model. */
  system_prompt: kept(required.system_prompt),
  /** Reminder added after every message. */
  task_prompt: kept(required.task_prompt),
  /** Whether prompts contain the current date. */
  datetime_aware: kept(required.datetime_aware),
  /** Whether `system_prompt` replaces the built-in instructions. */
  replace_base_system_prompt: kept(boolean),
  /**
   * How the model gets documents: it calls the search tool (`tools`), or receives search results with the prompt
   * (`search-first`); `auto` decides by model. Null: the setting of the model.
   */
  grounding: v.optional(v.nullable(groundingSchema)),
  /**
   * Whether citations and uncited sentences are compared with the documents the model read and cited where they match; null: the
   * setting of the model.
   */
  compared_citations: v.optional(v.nullable(boolean)),
  /**
   * Which tool calls a person has to approve: `writes`, those of MCP tools without `readOnlyHint` and of OpenAPI
   * operations other than GET and HEAD; `always`, all but the built-in ones; `never`, only those that ask themselves.
   * Null: the setting of the deployment. The stricter of both holds.
   */
  tool_approval: v.optional(v.nullable(toolApprovalPolicySchema)),
  /** Whether everybody can use it. */
  is_public: kept(boolean),
  /** Whether it appears in listings. */
  is_listed: kept(boolean),
  /** Whether it is listed first. */
  is_featured: kept(boolean),
  /** Id of the default model; null: the default of the deployment. */
  default_model_configuration_id: v.optional(v.nullable(integer)),
  /** Suggested first messages. */
  starter_messages: v.optional(v.nullable(listOf(starterMessageSchema))),
  /** Ids or e-mail addresses. */
  users: kept(listOf(text)),
  /** Names of groups. */
  groups: kept(groupNames),
  /** Name of its icon. */
  icon_name: v.optional(v.nullable(v.pipe(text, v.maxLength(255)))),
  /** Id of its picture, from `POST /persona/upload-image`; null leaves it as it is. */
  uploaded_image_id: v.optional(v.nullable(v.pipe(text, v.maxLength(255)))),
  /** True takes its picture away. */
  remove_image: kept(boolean),
  /** Documents older than this are not searched. */
  search_start_date: v.optional(v.nullable(dateTime)),
  /** Position in listings, lowest first. */
  display_priority: v.optional(v.nullable(integer)),
  /** Uploaded files that belong to the agent. */
  user_file_ids: kept(listOf(text)),
  /** Labels, as listed by `GET /persona/labels`. */
  label_ids: kept(listOf(integer)),
})

/**
 * Fields of a new or changed agent, parsed. Absent fields take their default in a new agent and stay unchanged in an
 * update.
 */
export type PersonaFields = Partial<Wire<typeof personaFieldsSchema>>

/** Body of `POST /persona`. */
export type PersonaCreation = PersonaFields &
  Required<
    Pick<
      PersonaFields,
      'name' | 'description' | 'document_set_ids' | 'tool_ids' | 'system_prompt' | 'task_prompt' | 'datetime_aware'
    >
  >

export const personaCreationSchema: WireSchema<PersonaCreation> = model('PersonaCreation', {
  ...personaFieldsSchema.entries,
  ...required,
})

/** Body of `PATCH /persona/{persona_id}`. Absent fields stay unchanged. */
export type PersonaUpdate = Readonly<PersonaFields>

export const personaUpdateSchema: WireSchema<PersonaUpdate> = model('PersonaUpdate', {
  ...personaFieldsSchema.entries,
})
