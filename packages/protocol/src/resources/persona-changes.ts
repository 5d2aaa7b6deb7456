import * as v from 'valibot'
import { boolean, integer, model, text, type WireSchema } from '../fields.ts'
import { dateTime } from '../timestamps.ts'
import { groupNames } from './pairs.ts'
import { groundingSchema, starterMessageSchema, type StarterMessage } from './personas.ts'

/**
 * Fields of a new or changed agent, parsed. Absent fields take their default in a new agent and stay unchanged in an
 * update.
 */
export interface PersonaFields {
  /** Name of the agent, 1 to 255 characters. */
  readonly name?: string
  /** Purpose of the agent. */
  readonly description?: string
  /** Document sets to search; []: all sets the caller can see. */
  readonly document_set_ids?: readonly number[]
  /** Actions the agent can use. */
  readonly tool_ids?: readonly number[]
  /** Instructions for the model. */
  readonly system_prompt?: string
  /** Reminder added after every message. */
  readonly task_prompt?: string
  /** Whether prompts contain the current date. */
  readonly datetime_aware?: boolean
  /** Whether `system_prompt` replaces the built-in instructions. */
  readonly replace_base_system_prompt?: boolean
  /**
   * How the model gets documents: it calls the search tool (`tools`), or receives search results with the prompt
   * (`search-first`); `auto` decides by model. Null: the setting of the model.
   */
  readonly grounding?: 'auto' | 'tools' | 'search-first' | null
  /**
   * Whether citations and uncited sentences are compared with the documents the model read and cited where they match; null: the
   * setting of the model.
   */
  readonly compared_citations?: boolean | null
  /** Whether everybody can use it. */
  readonly is_public?: boolean
  /** Whether it appears in listings. */
  readonly is_listed?: boolean
  /** Whether it is listed first. */
  readonly is_featured?: boolean
  /** Id of the default model; null: the default of the deployment. */
  readonly default_model_configuration_id?: number | null
  /** Suggested first messages. */
  readonly starter_messages?: readonly StarterMessage[] | null
  /** Ids or e-mail addresses. */
  readonly users?: readonly string[]
  /** Names of groups. */
  readonly groups?: readonly string[]
  /** Name of its icon. */
  readonly icon_name?: string | null
  /** Id of its picture, from `POST /persona/upload-image`; null leaves it as it is. */
  readonly uploaded_image_id?: string | null
  /** True takes its picture away. */
  readonly remove_image?: boolean
  /** Documents older than this are not searched. */
  readonly search_start_date?: string | null
  /** Position in listings, lowest first. */
  readonly display_priority?: number | null
  /** Uploaded files that belong to the agent. */
  readonly user_file_ids?: readonly string[]
  /** Labels, as listed by `GET /persona/labels`. */
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

const ownFields = {
  name,
  description: v.pipe(text, v.maxLength(10_000)),
  document_set_ids: listOf(integer),
  tool_ids: listOf(integer),
  system_prompt: prompt,
  task_prompt: prompt,
  datetime_aware: boolean,
}

const moreFields = {
  replace_base_system_prompt: kept(boolean),
  grounding: v.optional(v.nullable(groundingSchema)),
  compared_citations: v.optional(v.nullable(boolean)),
  is_public: kept(boolean),
  is_listed: kept(boolean),
  is_featured: kept(boolean),
  default_model_configuration_id: v.optional(v.nullable(integer)),
  starter_messages: v.optional(v.nullable(listOf(starterMessageSchema))),
  users: kept(listOf(text)),
  groups: kept(groupNames),
  icon_name: v.optional(v.nullable(v.pipe(text, v.maxLength(255)))),
  uploaded_image_id: v.optional(v.nullable(v.pipe(text, v.maxLength(255)))),
  remove_image: kept(boolean),
  search_start_date: v.optional(v.nullable(dateTime)),
  display_priority: v.optional(v.nullable(integer)),
  user_file_ids: kept(listOf(text)),
  label_ids: kept(listOf(integer)),
}

export const personaCreationSchema: WireSchema<PersonaCreation> = model('PersonaCreation', {
  ...ownFields,
  ...moreFields,
})

/** Body of `PATCH /persona/{persona_id}`. Absent fields stay unchanged. */
export type PersonaUpdate = Readonly<PersonaFields>

export const personaUpdateSchema: WireSchema<PersonaUpdate> = model('PersonaUpdate', {
  name: kept(ownFields.name),
  description: kept(ownFields.description),
  document_set_ids: kept(ownFields.document_set_ids),
  tool_ids: kept(ownFields.tool_ids),
  system_prompt: kept(ownFields.system_prompt),
  task_prompt: kept(ownFields.task_prompt),
  datetime_aware: kept(ownFields.datetime_aware),
  ...moreFields,
})
