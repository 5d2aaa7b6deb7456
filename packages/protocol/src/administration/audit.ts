import * as v from 'valibot'
import { dictionary, exactText, integer, model, type WireSchema } from '../fields.ts'
import { queryInteger } from '../query.ts'

/** Something that was administered, deleted or shared, or the first use of a key on a day. */
export interface AuditEvent {
  /** Ascends with time. */
  readonly id: string
  /** When it was answered, in ISO 8601. */
  readonly time: string
  /** The owner of the key; null where nobody was known. */
  readonly caller_id: string | null
  /** The `operationId` of the call, such as `deleteDocument`; `useKey` for the use of a key. */
  readonly operation: string
  /** Ids in the address of the call, and the id of what it made. Nothing of what people wrote. */
  readonly target: Readonly<Record<string, string>>
  /** Status of the answer: 200 and above did it, 400 and above did not. */
  readonly status: number
  /** Also in the `x-request-id` header of the answer, and in the log. */
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

/** Which events of the audit are listed. */
export interface AuditQuery {
  /** Only those of this caller. */
  readonly caller_id?: string
  /** Only this operation, such as `deleteDocument`. */
  readonly operation?: string
  /** 1 to 1000. */
  readonly limit: number
  /** Only events before this one: the id of the last event of the page before. */
  readonly before?: string
}

export const auditQuerySchema: WireSchema<AuditQuery> = model('AuditQuery', {
  caller_id: v.optional(exactText),
  operation: v.optional(exactText),
  limit: v.optional(queryInteger({ least: 1, most: 1000 }), '100'),
  before: v.optional(exactText),
})
