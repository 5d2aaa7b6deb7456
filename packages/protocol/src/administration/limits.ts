import * as v from 'valibot'
import { closedModel, integer, model, rule, type WireSchema } from '../fields.ts'
import { limitNames, type CallerLimits } from '../resources/principal.ts'
import { answeredTime } from '../timestamps.ts'

/** Limits as they travel; null or absent: none. Minutes and days are those of the clock, in UTC. */
export interface LimitSet {
  /** Requests in a minute. */
  readonly requests_per_minute: number | null
  /** Tokens of prompts and answers; an answer that has begun is made to its end. */
  readonly tokens_per_day: number | null
  /** Uploaded files in a day. */
  readonly uploads_per_day: number | null
  /** New chat sessions in a day. */
  readonly sessions_per_day: number | null
  /** Ingested documents in a day. */
  readonly documents_per_day: number | null
  /** Documents that wait to be indexed at a time. */
  readonly waiting_documents: number | null
}

/** Name of a limit as it travels. */
export type WireLimitName = keyof LimitSet

const names: Readonly<Record<keyof CallerLimits, WireLimitName>> = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerDay: 'tokens_per_day',
  uploadsPerDay: 'uploads_per_day',
  sessionsPerDay: 'sessions_per_day',
  documentsPerDay: 'documents_per_day',
  waitingDocuments: 'waiting_documents',
}

/** How a limit is called on the wire. */
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

/** Limits as the program holds them. */
export function fromLimitSet(limits: LimitSet): CallerLimits {
  return Object.fromEntries(
    limitNames.flatMap((name) => (limits[names[name]] === null ? [] : [[name, limits[names[name]]]])),
  )
}

/** Limits as they travel. */
export function toLimitSet(limits: CallerLimits): LimitSet {
  const entries = limitNames.map((name) => [names[name], limits[name] ?? null])
  // Each name of the one has its name of the other.
  return Object.fromEntries(entries) as LimitSet
}

/** What was used of a limit in the present minute or day. */
export interface LimitUse {
  /** Whom it is counted for. */
  readonly of: 'caller' | 'key' | 'tenant'
  /** The caller; null for keys and the tenant. */
  readonly user_id: string | null
  /** The key; null for callers and the tenant. */
  readonly api_key_id: number | null
  /** Which limit. */
  readonly limit: WireLimitName
  /** By all processes. */
  readonly used: number
  /** When it is counted from 0 again. */
  readonly resets_at: string
}

/** The limits that bind, and what was used of them. */
export interface LimitsInForce {
  /** Of each caller, over all keys that have no limits of their own. */
  readonly callers: LimitSet
  /** Of everybody together. */
  readonly tenant: LimitSet
  /** Only what is limited is counted. */
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

/** Body of `PATCH /admin/limits`: what is absent stays, null is what the deployment was set to. */
export interface LimitChange {
  /** Of each caller. */
  readonly callers?: LimitSet | null
  /** Of everybody together. */
  readonly tenant?: LimitSet | null
}

export const limitChangeSchema: WireSchema<LimitChange> = closedModel('LimitChange', {
  callers: v.optional(v.nullable(limitSetSchema)),
  tenant: v.optional(v.nullable(limitSetSchema)),
})
