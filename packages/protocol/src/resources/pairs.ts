import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { boolean, closedModel, fault, integer, model, orNull, text, type WireSchema } from '../fields.ts'

/** Who may see a pair or a document set: everybody, or those named in it. */
export const accessTypes = ['public', 'private'] as const

/** One of {@link accessTypes}. */
export type AccessType = (typeof accessTypes)[number]

/** A connector/credential pair: where documents come from, and who may see them. */
export interface PairDescriptor {
  /** For `cc_pair_id` of an ingestion request. */
  readonly id: number
  /** What the pair is called. */
  readonly name: string
  /** Who may see its documents. */
  readonly access_type: AccessType
  /** Ids or e-mail addresses of those who may see it while it is private. */
  readonly users: readonly string[]
  /** Names of groups who may. */
  readonly groups: readonly string[]
  /** While true its documents wait in the queue; what is indexed stays searchable. */
  readonly is_paused: boolean
  /** ISO 8601 with `Z`. */
  readonly created_at: string
}

/** The fields of {@link PairDescriptor}, for what has more. */
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
  /** What the pair is called, 1 to 200 characters. */
  readonly name: string
  /** Who may see its documents. */
  readonly access_type: AccessType
  /** Ids or e-mail addresses of those who may while it is private. */
  readonly users: readonly string[]
  /** Names of groups who may. */
  readonly groups: readonly string[]
  /** Whether its documents wait in the queue. */
  readonly is_paused: boolean
}

/** Name of a pair or a document set. */
export const recordName: WireSchema<string, string> = v.pipe(text, v.trim(), v.minLength(1), v.maxLength(200))

/** Names of people or groups. */
export const nameList: WireSchema<string[], string[]> = v.pipe(v.array(v.pipe(text, v.minLength(1))), v.maxLength(1000))

/** Names of groups. Clients that number them are told so. */
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

/** Body of `PATCH /manage/admin/cc-pair/{cc_pair_id}`: what is absent or null stays. */
export type PairUpdate = { readonly [Name in keyof PairCreation]: PairCreation[Name] | null }

export const pairUpdateSchema: WireSchema<PairUpdate> = closedModel('PairUpdate', {
  name: orNull(recordName),
  access_type: orNull(v.picklist(accessTypes)),
  users: orNull(nameList),
  groups: orNull(groupNames),
  is_paused: orNull(boolean),
})
