import * as v from 'valibot'
import { float, integer, model, orNull, type Wire } from '../fields.ts'
import { queryInteger } from '../query.ts'

/** The period of `GET /admin/usage`. */
export const usageQuerySchema = model('UsageQuery', {
  /** Days back from now, 1 to 366. */
  days: v.optional(queryInteger({ least: 1, most: 366 }), '30'),
})

const usageEntrySchema = model('UsageEntry', {
  /** Id of the person who asked. */
  user_id: v.string(),
  /** Name of the person: that of their key, else their id at the host app, as in the audit log. */
  name: v.string(),
  /** E-mail address of the person, where a key names it. */
  email: orNull(v.string()),
  /** Configured name of the provider; null where no model was found. */
  model_provider: orNull(v.string()),
  /** Name of the model; null where no model was found. */
  model_version: orNull(v.string()),
  /** Number of answers. */
  answers: integer,
  /** Answers among them that failed. */
  failed: integer,
  /** Answers with tokens, as the provider counted them, estimated for a step that was stopped; the others add nothing. */
  counted: integer,
  /** Tokens of prompts. */
  input_tokens: integer,
  /** Tokens of answers, including reasoning. */
  output_tokens: integer,
  /** Time of all answers. */
  seconds: float,
})

/** Answers of one model to one person. */
export type UsageEntry = Wire<typeof usageEntrySchema>

export const usageReportSchema = model('UsageReport', {
  /** Beginning of the period, in ISO 8601. */
  since: v.string(),
  /** Most answers first. */
  entries: v.array(usageEntrySchema),
})

/** Usage by person and model. */
export type UsageReport = Wire<typeof usageReportSchema>
