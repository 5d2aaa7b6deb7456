import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { exactText, integer, model, type Wire } from '../fields.ts'

export const newHoldSchema = model('NewHold', {
  /** The id that the host's authentication returns, or the owner of a key. Null: everybody. */
  person: v.nullable(
    v.pipe(exactText, v.nonEmpty('must be the id of a person, or null for everybody [type=string_too_short]')),
  ),
  /** Why, for administrators: the name of a case, for instance. */
  reason: v.optional(v.pipe(exactText, v.maxLength(1000)), ''),
})

export const holdSchema = model('Hold', {
  /** Number of the hold. */
  id: integer,
  /** Null: everybody. */
  person: v.nullable(v.string()),
  /** Why, for administrators. */
  reason: v.string(),
  /** Time from which nothing is removed. */
  placed_at: answeredTime,
})

/** A legal hold: until it is lifted, nothing of a person is removed. */
export type HoldSnapshot = Wire<typeof holdSchema>
