import { InlayError } from '@inlay/protocol'
import { auditEventSchema, auditQuerySchema, type AuditEvent } from '@inlay/protocol/administration'
import * as v from 'valibot'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Service', { scope: 'admin', owner: 'any' })

/** The audit log, for administrators. */
export const auditRoutes: readonly Route[] = [
  route('GET /admin/audit', 'listAudit', 'List what was administered, deleted and shared', {
    description:
      'Every call with the scope `admin` that changes something, every deletion, every change of who may see what, and ' +
      'the first use of each key on a day; calls that were refused as well. The newest first. Nothing removes an entry.',
    input: { query: auditQuerySchema },
    answer: { description: 'The events.', schema: v.array(auditEventSchema) },
    errors: ['NOT_IMPLEMENTED'],
    async handle({ query, parts }): Promise<AuditEvent[]> {
      if (parts.audit) return parts.audit.list(query)
      throw new InlayError('NOT_IMPLEMENTED', { message: 'This deployment keeps no audit.' })
    },
  }),
]
