import * as v from 'valibot'
import { dictionary, exactText, integer, model, type Wire } from '../fields.ts'
import { queryInteger } from '../query.ts'

export const auditEventSchema = model('AuditEvent', {
  /** Increases with time. */
  id: v.string(),
  /** Time of the response, in ISO 8601. */
  time: v.string(),
  /** Owner of the key; null when the caller was not authenticated. */
  caller_id: v.nullable(v.string()),
  /** `operationId` of the request, such as `deleteDocument`; `useKey` for the use of a key. */
  operation: v.string(),
  /** Ids from the path of the request, and the id of the created object. Never contains user content. */
  target: dictionary(v.string()),
  /** HTTP status of the response; below 400 means the action was carried out. */
  status: integer,
  /** Request id, also sent as the `x-request-id` header and written to the log. */
  request_id: v.string(),
})

/** An administrative action, a deletion, a change of sharing, or the first use of a key on a day. */
export type AuditEvent = Wire<typeof auditEventSchema>

export const auditQuerySchema = model('AuditQuery', {
  /** Only events of this caller. */
  caller_id: v.optional(exactText),
  /** Only events with this operation, such as `deleteDocument`. */
  operation: v.optional(exactText),
  /** 1 to 1000. */
  limit: v.optional(queryInteger({ least: 1, most: 1000 }), '100'),
  /** Only events before this one: the id of the last event on the previous page. */
  before: v.optional(exactText),
})

/** Filters for `GET /admin/audit`. */
export type AuditQuery = Wire<typeof auditQuerySchema>
