import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { boolean, closedModel, fault, integer, model, orNull, text, type Wire, type WireSchema } from '../fields.ts'

/** Access to a pair or document set: everybody, or the listed people and groups. */
export const accessTypes = ['public', 'private'] as const

export type AccessType = (typeof accessTypes)[number]

export const pairDescriptorSchema = model('PairDescriptor', {
  /** Number, used as `cc_pair_id` of an ingestion request. */
  id: integer,
  /** Name of the pair. */
  name: v.string(),
  /** Access to the documents: `public` or `private`. */
  access_type: v.picklist(accessTypes),
  /** Ids or e-mail addresses of people with access while it is private. */
  users: v.array(v.string()),
  /** Names of groups with access while it is private. */
  groups: v.array(v.string()),
  /** While paused, new documents wait in the queue; indexed documents stay searchable. */
  is_paused: boolean,
  /** ISO 8601 with `Z`. */
  created_at: answeredTime,
})

/** A connector/credential pair: a source of documents and its access rules. */
export type PairDescriptor = Wire<typeof pairDescriptorSchema>

/** Name of a pair or a document set. */
export const recordName: WireSchema<string, string> = v.pipe(text, v.trim(), v.minLength(1), v.maxLength(200))

/** Names of people or groups. */
export const nameList: WireSchema<string[], string[]> = v.pipe(v.array(v.pipe(text, v.minLength(1))), v.maxLength(1000))

/** Names of groups. Numbers are refused with an explanation. */
export const groupNames: WireSchema<string[], string[]> = v.pipe(
  v.array(
    v.pipe(v.string(fault('string_type', 'must be the name of a group: groups have no numbers here')), v.minLength(1)),
  ),
  v.maxLength(1000),
)

export const pairCreationSchema = closedModel('PairCreation', {
  /** Name of the pair, 1 to 200 characters. */
  name: recordName,
  /** Access to the documents: `public` or `private`. */
  access_type: v.nullish(v.picklist(accessTypes), 'public'),
  /** Ids or e-mail addresses of people with access while it is private. */
  users: v.nullish(nameList, () => []),
  /** Names of groups with access while it is private. */
  groups: v.nullish(groupNames, () => []),
  /** Whether the pair starts paused. */
  is_paused: v.nullish(boolean, false),
})

/** Body of `POST /manage/admin/cc-pair`. */
export type PairCreation = Wire<typeof pairCreationSchema>

/** Body of `PATCH /manage/admin/cc-pair/{cc_pair_id}`. Absent and null fields stay unchanged. */
export type PairUpdate = { readonly [Name in keyof PairCreation]: PairCreation[Name] | null }

export const pairUpdateSchema: WireSchema<PairUpdate> = closedModel('PairUpdate', {
  name: orNull(recordName),
  access_type: orNull(v.picklist(accessTypes)),
  users: orNull(nameList),
  groups: orNull(groupNames),
  is_paused: orNull(boolean),
})
