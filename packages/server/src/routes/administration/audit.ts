import { auditEventSchema, auditQuerySchema } from '@inlay/protocol/administration'
import * as v from 'valibot'
import { needed } from '../../administration/workspace-of.ts'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Service', { scope: 'admin', owner: 'any' })

export const auditRoutes: readonly Route[] = [
  route('GET /admin/audit', 'listAudit', 'List audit events', {
    description:
      'Records every change made with the scope `admin`, every deletion, every change of access, and ' +
      'the first use of each key per day, including refused calls. Newest first. Entries cannot be ' +
      'deleted over the API.',
    input: { query: auditQuerySchema },
    answer: { description: 'The events.', schema: v.array(auditEventSchema) },
    errors: ['NOT_IMPLEMENTED'],
    handle: async ({ query, parts }) => needed(parts.audit, 'This deployment has no audit log.').list(query),
  }),
]
