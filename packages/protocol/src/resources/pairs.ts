import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { boolean, closedModel, fault, integer, model, orNull, text, type WireSchema } from '../fields.ts'

/** Access to a pair or document set: everybody, or the listed people and groups. */
export const accessTypes = ['public', 'private'] as const

/** One of {@link accessTypes}. */
export type AccessType = (typeof accessTypes)[number]

/** A connector/credential pair: a source of documents and its access rules. */
export interface PairDescriptor {
  /** Number, used as `cc_pair_id` of an ingestion request. */
  readonly id: number
  /** Name of the pair. */
  readonly name: string
  /** Access to the documents: `public` or `private`. */
  readonly access_type: AccessType
  /** Ids or e-mail addresses of people with access while it is private. */
  readonly users: readonly string[]
  /** Names of groups with access while it is private. */
  readonly groups: readonly string[]
  /** While paused, new documents wait in the queue; indexed documents stay searchable. */
  readonly is_paused: boolean
  /** ISO 8601 with `Z`. */
  readonly created_at: string
}

/** Fields of {@link PairDescriptor}, for schemas that extend it. */
export const pairFields: { readonly [Name in keyof PairDescriptor]: WireSchema<PairDescriptor[Name]> } = {
  id: integer,
  name: v.string(),
  access_type: v.picklist(accessTypes),
  users: v.array(v.string()),
  groups: v.array(v.string()),
  is_paused: boolean,
  created_at: answeredTime,
}

export const pairDescriptorSchema: WireSchema<PairDescriptor> = model('PairDescriptor', pairFields)

/** Body of `POST /manage/admin/cc-pair`. */
export interface PairCreation {
  /** Name of the pair, 1 to 200 characters. */
  readonly name: string
  /** Access to the documents: `public` or `private`. */
  readonly access_type: AccessType
  /** Ids or e-mail addresses of people with access while it is private. */
  readonly users: readonly string[]
  /** Names of groups with access while it is private. */
  readonly groups: readonly string[]
  /** Whether the pair starts paused. */
  readonly is_paused: boolean
}

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

export const pairCreationSchema: WireSchema<PairCreation> = closedModel('PairCreation', {
  name: recordName,
  access_type: v.nullish(v.picklist(accessTypes), 'public'),
  users: v.nullish(nameList, () => []),
  groups: v.nullish(groupNames, () => []),
  is_paused: v.nullish(boolean, false),
})

/** Body of `PATCH /manage/admin/cc-pair/{cc_pair_id}`. Absent and null fields stay unchanged. */
export type PairUpdate = { readonly [Name in keyof PairCreation]: PairCreation[Name] | null }

export const pairUpdateSchema: WireSchema<PairUpdate> = closedModel('PairUpdate', {
  name: orNull(recordName),
  access_type: orNull(v.picklist(accessTypes)),
  users: orNull(nameList),
  groups: orNull(groupNames),
  is_paused: orNull(boolean),
})
