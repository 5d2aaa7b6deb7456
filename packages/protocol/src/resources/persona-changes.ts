import * as v from 'valibot'
import { boolean, integer, model, text, type WireSchema } from '../fields.ts'
import { dateTime } from '../timestamps.ts'
import { groupNames } from './pairs.ts'
import { groundingSchema, starterMessageSchema, type StarterMessage } from './personas.ts'

/** What an agent can be given, as read: absent fields are left as they are, or take their default in a new one. */
export interface PersonaFields {
  /** What people call the agent, 1 to 255 characters. */
  readonly name?: string
  /** What the agent is for. */
  readonly description?: string
  /** Sets that it searches; [] means all that the caller may see. */
  readonly document_set_ids?: readonly number[]
  /** Actions that it may use. */
  readonly tool_ids?: readonly number[]
  /** Instructions to the model. */
  readonly system_prompt?: string
  /** A reminder after every message. */
  readonly task_prompt?: string
  /** Whether the model is told the date. */
  readonly datetime_aware?: boolean
  /** Whether `system_prompt` stands instead of the built-in instructions. */
  readonly replace_base_system_prompt?: boolean
  /**
   * How its model comes by documents: it calls the search, is given what was found, or shows which; null: as the model is
   * set.
   */
  readonly grounding?: 'auto' | 'tools' | 'search-first' | null
  /** Whether what its model leaves uncited is compared with what it read, and cited; null: as the model is set. */
  readonly compared_citations?: boolean | null
  /** Whether everybody may use it. */
  readonly is_public?: boolean
  /** Whether listings show it. */
  readonly is_listed?: boolean
  /** Whether it is shown first. */
  readonly is_featured?: boolean
  /** Null: the default model. */
  readonly default_model_configuration_id?: number | null
  /** Ways to begin a chat. */
  readonly starter_messages?: readonly StarterMessage[] | null
  /** Ids or e-mail addresses. */
  readonly users?: readonly string[]
  /** Names. */
  readonly groups?: readonly string[]
  /** Name of its icon. */
  readonly icon_name?: string | null
  /** Id of its picture, from `POST /persona/upload-image`; null leaves it as it is. */
  readonly uploaded_image_id?: string | null
  /** True takes its picture away. */
  readonly remove_image?: boolean
  /** Documents older than this are not searched. */
  readonly search_start_date?: string | null
  /** Place in listings, lowest first. */
  readonly display_priority?: number | null
  /** Uploaded files whose text the agent knows. */
  readonly user_file_ids?: readonly string[]
  /** Labels of it, as `GET /persona/labels` lists them. */
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

/** Body of `PATCH /persona/{persona_id}`: what is absent stays. */
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
