import * as v from 'valibot'
import { closedModel, integer, model, rule, type Wire } from '../fields.ts'
import { limitNames, type CallerLimits } from '../resources/principal.ts'
import { answeredTime } from '../timestamps.ts'

export type WireLimitName = keyof LimitSet

const names: Readonly<Record<keyof CallerLimits, WireLimitName>> = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerDay: 'tokens_per_day',
  uploadsPerDay: 'uploads_per_day',
  sessionsPerDay: 'sessions_per_day',
  documentsPerDay: 'documents_per_day',
  waitingDocuments: 'waiting_documents',
}

export const wireLimitName = (name: keyof CallerLimits): WireLimitName => names[name]

const amount = v.nullish(
  v.pipe(
    integer,
    rule('greater_than_equal', 'must be 0 or more', (value: number) => value >= 0),
  ),
  null,
)

export const limitSetSchema = closedModel('LimitSet', {
  /** Requests per minute. */
  requests_per_minute: amount,
  /** Tokens of prompts and answers per day. An answer already started is completed. */
  tokens_per_day: amount,
  /** Uploaded files per day. */
  uploads_per_day: amount,
  /** New chat sessions per day. */
  sessions_per_day: amount,
  /** Ingested documents per day. */
  documents_per_day: amount,
  /** Documents waiting to be indexed at the same time. */
  waiting_documents: amount,
})

/** Limits in wire format; null or absent: no limit. Minutes and days are calendar minutes and days in UTC. */
export type LimitSet = Wire<typeof limitSetSchema>

export function fromLimitSet(limits: LimitSet): CallerLimits {
  return Object.fromEntries(
    limitNames.flatMap((name) => (limits[names[name]] === null ? [] : [[name, limits[names[name]]]])),
  )
}

export function toLimitSet(limits: CallerLimits): LimitSet {
  const entries = limitNames.map((name) => [names[name], limits[name] ?? null])
  // The two sets of names map one to one.
  return Object.fromEntries(entries) as LimitSet
}

/** Usage of one limit in the current minute or day. */
const limitUseSchema = model('LimitUse', {
  /** Scope of the count: one caller, one key, or all callers together. */
  of: v.picklist(['caller', 'key', 'tenant']),
  /** Id of the caller; null for keys and the tenant. */
  user_id: v.nullable(v.string()),
  /** Number of the key; null for callers and the tenant. */
  api_key_id: v.nullable(integer),
  /** Name of the limit. */
  limit: v.picklist(Object.values(names)),
  /** Amount used, across all processes. */
  used: integer,
  /** Time when the count restarts at 0. */
  resets_at: answeredTime,
})

export const limitsInForceSchema = model('LimitsInForce', {
  /** Limits for each caller, over all keys without limits of their own. */
  callers: limitSetSchema,
  /** Limits for all callers together. */
  tenant: limitSetSchema,
  /** Usage; only limited amounts are counted. */
  used: v.array(limitUseSchema),
})

/** The limits in force and their usage. */
export type LimitsInForce = Wire<typeof limitsInForceSchema>

export const limitChangeSchema = closedModel('LimitChange', {
  /** Limits for each caller. */
  callers: v.optional(v.nullable(limitSetSchema)),
  /** Limits for all callers together. */
  tenant: v.optional(v.nullable(limitSetSchema)),
})

/** Body of `PATCH /admin/limits`. Absent fields stay unchanged; null restores the configured value. */
export type LimitChange = Wire<typeof limitChangeSchema>
