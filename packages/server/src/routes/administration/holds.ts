import { queryInteger } from '@inlay/protocol'
import { holdSchema, newHoldSchema, type HoldSnapshot } from '@inlay/protocol/administration'
import type { Hold, Holds } from '@inlay/records'
import * as v from 'valibot'
import { needed } from '../../administration/workspace-of.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'

const route = routesOf('Service', { scope: 'admin', owner: 'any' })
const errors = ['NOT_IMPLEMENTED'] as const

export const holdRoutes: readonly Route[] = [
  route('GET /admin/holds', 'listHolds', 'List legal holds', {
    answer: { description: 'The holds in force, the oldest first.', schema: v.array(holdSchema) },
    errors,
    handle: async ({ parts }) => (await holdsOf(parts).list()).map(toSnapshot),
  }),
  route('POST /admin/holds', 'placeHold', 'Place a legal hold', {
    description:
      'Until it is lifted, nothing of the person is removed: what they delete is hidden, and what would remove it for ' +
      'good is refused with 409. A person may be under several holds.',
    input: { body: newHoldSchema },
    auditedField: 'person',
    answer: { description: 'The hold.', schema: holdSchema },
    errors,
    handle: async ({ body, parts }) => toSnapshot(await holdsOf(parts).place(body)),
  }),
  route('DELETE /admin/holds/{hold_id}', 'liftHold', 'Lift a legal hold', {
    description: 'What was to be removed meanwhile is removed within an hour, files at least.',
    input: { path: v.object({ hold_id: queryInteger({}) }) },
    auditedField: 'person',
    answer: { description: 'The hold that is lifted.', schema: holdSchema },
    errors: [...errors, 'NOT_FOUND'],
    handle: async ({ path, parts }) => toSnapshot(await holdsOf(parts).lift(path.hold_id)),
  }),
]

function toSnapshot({ id, person, reason, placedAt }: Hold): HoldSnapshot {
  return { id, person, reason, placed_at: new Date(placedAt).toISOString() }
}

const holdsOf = ({ holds }: ServerParts): Holds => needed(holds, 'This deployment has no legal holds.')
