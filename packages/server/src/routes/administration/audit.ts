import { InlayError } from '@inlay/protocol'
import { auditEventSchema, auditQuerySchema } from '@inlay/protocol/administration'
import * as v from 'valibot'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Service', { scope: 'admin', owner: 'any' })

/** The audit log, for administrators. */
export const auditRoutes: readonly Route[] = [
  route('GET /admin/audit', 'listAudit', 'List audit events', {
    description:
      'Records every change made with the scope `admin`, every deletion, every change of access, and ' +
      'the first use of each key per day, including refused calls. Newest first. Entries cannot be ' +
      'deleted over the API.',
    input: { query: auditQuerySchema },
    answer: { description: 'The events.', schema: v.array(auditEventSchema) },
    errors: ['NOT_IMPLEMENTED'],
    async handle({ query, parts }) {
      if (parts.audit) return parts.audit.list(query)
      throw new InlayError('NOT_IMPLEMENTED', { message: 'This deployment has no audit log.' })
    },
  }),
]
