import * as v from 'valibot'
import { dictionary, exactText, integer, model, type WireSchema } from '../fields.ts'
import { queryInteger } from '../query.ts'

/** An administrative action, a deletion, a change of sharing, or the first use of a key on a day. */
export interface AuditEvent {
  /** Increases with time. */
  readonly id: string
  /** Time of the response, in ISO 8601. */
  readonly time: string
  /** Owner of the key; null when the caller was not authenticated. */
  readonly caller_id: string | null
  /** `operationId` of the request, such as `deleteDocument`; `useKey` for the use of a key. */
  readonly operation: string
  /** Ids from the path of the request, and the id of the created object. Never contains user content. */
  readonly target: Readonly<Record<string, string>>
  /** HTTP status of the response; below 400 means the action was carried out. */
  readonly status: number
  /** Request id, also sent as the `x-request-id` header and written to the log. */
  readonly request_id: string
}

export const auditEventSchema: WireSchema<AuditEvent> = model('AuditEvent', {
  id: v.string(),
  time: v.string(),
  caller_id: v.nullable(v.string()),
  operation: v.string(),
  target: dictionary(v.string()),
  status: integer,
  request_id: v.string(),
})

/** Filters for `GET /admin/audit`. */
export interface AuditQuery {
  /** Only events of this caller. */
  readonly caller_id?: string
  /** Only events with this operation, such as `deleteDocument`. */
  readonly operation?: string
  /** 1 to 1000. */
  readonly limit: number
  /** Only events before this one: the id of the last event on the previous page. */
  readonly before?: string
}

export const auditQuerySchema: WireSchema<AuditQuery> = model('AuditQuery', {
  caller_id: v.optional(exactText),
  operation: v.optional(exactText),
  limit: v.optional(queryInteger({ least: 1, most: 1000 }), '100'),
  before: v.optional(exactText),
})
