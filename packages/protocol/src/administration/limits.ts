import * as v from 'valibot'
import { closedModel, integer, model, rule, type WireSchema } from '../fields.ts'
import { limitNames, type CallerLimits } from '../resources/principal.ts'
import { answeredTime } from '../timestamps.ts'

/** Limits in wire format; null or absent: no limit. Minutes and days are calendar minutes and days in UTC. */
export interface LimitSet {
  /** Requests per minute. */
  readonly requests_per_minute: number | null
  /** Tokens of prompts and answers per day. An answer already started is completed. */
  readonly tokens_per_day: number | null
  /** Uploaded files per day. */
  readonly uploads_per_day: number | null
  /** New chat sessions per day. */
  readonly sessions_per_day: number | null
  /** Ingested documents per day. */
  readonly documents_per_day: number | null
  /** Documents waiting to be indexed at the same time. */
  readonly waiting_documents: number | null
}

/** Name of a limit on the wire. */
export type WireLimitName = keyof LimitSet

const names: Readonly<Record<keyof CallerLimits, WireLimitName>> = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerDay: 'tokens_per_day',
  uploadsPerDay: 'uploads_per_day',
  sessionsPerDay: 'sessions_per_day',
  documentsPerDay: 'documents_per_day',
  waitingDocuments: 'waiting_documents',
}

/** Converts the name of a limit to its wire name. */
export const wireLimitName = (name: keyof CallerLimits): WireLimitName => names[name]

const amount = v.nullish(
  v.pipe(
    integer,
    rule('greater_than_equal', 'must be 0 or more', (value: number) => value >= 0),
  ),
  null,
)

export const limitSetSchema: WireSchema<LimitSet> = closedModel('LimitSet', {
  requests_per_minute: amount,
  tokens_per_day: amount,
  uploads_per_day: amount,
  sessions_per_day: amount,
  documents_per_day: amount,
  waiting_documents: amount,
})

/** Converts limits from the wire format. */
export function fromLimitSet(limits: LimitSet): CallerLimits {
  return Object.fromEntries(
    limitNames.flatMap((name) => (limits[names[name]] === null ? [] : [[name, limits[names[name]]]])),
  )
}

/** Converts limits to the wire format. */
export function toLimitSet(limits: CallerLimits): LimitSet {
  const entries = limitNames.map((name) => [names[name], limits[name] ?? null])
  // The two sets of names map one to one.
  return Object.fromEntries(entries) as LimitSet
}

/** Usage of one limit in the current minute or day. */
export interface LimitUse {
  /** Scope of the count: one caller, one key, or all callers together. */
  readonly of: 'caller' | 'key' | 'tenant'
  /** Id of the caller; null for keys and the tenant. */
  readonly user_id: string | null
  /** Number of the key; null for callers and the tenant. */
  readonly api_key_id: number | null
  /** Name of the limit. */
  readonly limit: WireLimitName
  /** Amount used, across all processes. */
  readonly used: number
  /** Time when the count restarts at 0. */
  readonly resets_at: string
}

/** The limits in force and their usage. */
export interface LimitsInForce {
  /** Limits for each caller, over all keys without limits of their own. */
  readonly callers: LimitSet
  /** Limits for all callers together. */
  readonly tenant: LimitSet
  /** Usage; only limited amounts are counted. */
  readonly used: readonly LimitUse[]
}

export const limitsInForceSchema: WireSchema<LimitsInForce> = model('LimitsInForce', {
  callers: limitSetSchema,
  tenant: limitSetSchema,
  used: v.array(
    model('LimitUse', {
      of: v.picklist(['caller', 'key', 'tenant']),
      user_id: v.nullable(v.string()),
      api_key_id: v.nullable(integer),
      limit: v.picklist(Object.values(names)),
      used: integer,
      resets_at: answeredTime,
    }),
  ),
})

/** Body of `PATCH /admin/limits`. Absent fields stay unchanged; null restores the configured value. */
export interface LimitChange {
  /** Limits for each caller. */
  readonly callers?: LimitSet | null
  /** Limits for all callers together. */
  readonly tenant?: LimitSet | null
}

export const limitChangeSchema: WireSchema<LimitChange> = closedModel('LimitChange', {
  callers: v.optional(v.nullable(limitSetSchema)),
  tenant: v.optional(v.nullable(limitSetSchema)),
})
