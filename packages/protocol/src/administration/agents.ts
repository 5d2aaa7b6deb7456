import * as v from 'valibot'
import {
  boolean,
  exactText,
  integer,
  model,
  orNull,
  spelledModel,
  text,
  type WireSchema,
  type Wire,
} from '../fields.ts'
import { queryBoolean, queryInteger } from '../query.ts'
import { groupNames } from '../resources/pairs.ts'
import { fullPersonaSchema } from '../resources/personas.ts'

export const adminPersonaQuerySchema = model({
  /** Whether deleted agents are included. */
  include_deleted: v.optional(queryBoolean, 'false'),
  /** Only agents the caller can edit. */
  get_editable: v.optional(queryBoolean, 'false'),
})

/** Query of `GET /admin/persona`. */
export type AdminPersonaQuery = Wire<typeof adminPersonaQuerySchema>

/** Schema of the query of `GET /admin/agents`. */
export const adminPersonaPageQuerySchema = model({
  ...adminPersonaQuerySchema.entries,
  include_default: v.optional(queryBoolean, 'true'),
  page_num: v.optional(queryInteger({ least: 0, most: 1_000_000 }), '0'),
  page_size: v.optional(queryInteger({ least: 1, most: 1000 }), '10'),
})

/** Schema of the answer of `GET /admin/agents`. */
export const adminPersonaPageSchema = model({ items: v.array(fullPersonaSchema), total_items: integer })

const labelName: WireSchema<string, string> = v.pipe(text, v.trim(), v.minLength(1), v.maxLength(200))

/** Schema of the body of `POST /persona/labels`. */
export const labelCreationSchema = model({ name: labelName })

/** Schema of the body of `PATCH /admin/persona/label/{label_id}`. */
export const labelUpdateSchema = model({ label_name: labelName })

/** Schema of the body of `PATCH /admin/agents/display-priorities`: id of the agent → place in the list. */
export const displayPrioritiesSchema = model({
  display_priority_map: v.record(v.pipe(v.string(), v.regex(/^\d{1,9}$/, 'must be the id of an agent')), integer),
})

const permission = v.picklist(['VIEWER', 'EDITOR'])

/** A person the agent is shared with. */
const sharedWithSchema = model('SharedWith', {
  /** Id or e-mail address. */
  user_id: exactText,
  /** Always `VIEWER`: sharing never grants editing. */
  permission,
})

const sharing = spelledModel('PersonaSharing', {
  /** Ids or e-mail addresses of people who can use the agent. Cannot be combined with `user_shares`. */
  user_ids: orNull(v.array(exactText)),
  /** People who can use the agent, each with `VIEWER`. Cannot be combined with `user_ids`. */
  user_shares: orNull(v.array(sharedWithSchema)),
  /** Names of groups the agent is shared with. */
  group_ids: orNull(groupNames),
  /** Must be empty: groups are identified by name, not by number. */
  group_shares: orNull(v.array(v.unknown())),
  /** Whether everybody can use it. Only administrators can set this. */
  is_public: orNull(boolean),
  /** Must be `VIEWER`: sharing never grants editing. */
  public_permission: orNull(permission),
  /** Its labels. */
  label_ids: orNull(v.array(integer)),
})

/** Body of `PATCH /persona/{persona_id}/share`. Absent and null fields stay unchanged. */
export type PersonaSharing = Wire<typeof sharing>

export const personaSharingSchema: WireSchema<PersonaSharing> = v.pipe(
  sharing,
  v.check(
    ({ user_ids: ids, user_shares: shares }) => ids === null || shares === null,
    'takes user_ids or user_shares, not both [type=value_error]',
  ),
  v.check(
    ({ group_ids: ids, group_shares: shares }) => ids === null || shares === null,
    'takes group_ids or group_shares, not both [type=value_error]',
  ),
)
