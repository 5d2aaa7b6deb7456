import {
  boolean,
  fullPersonaSchema,
  hasScope,
  InlayError,
  queryInteger,
  toUserId,
  type FullPersona,
  type PersonaFields,
  type Principal,
} from '@inlay/protocol'
import {
  adminPersonaPageQuerySchema,
  adminPersonaPageSchema,
  adminPersonaQuerySchema,
  displayPrioritiesSchema,
  personaSharingSchema,
  personaTransferSchema,
  type AdminPersonaQuery,
  type PersonaSharing,
} from '@inlay/protocol/administration'
import * as v from 'valibot'
import { checkLabels, setLabels } from '../../administration/persona-labels.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import { toFullPersonas } from '../chat/personas.ts'

const route = routesOf('Agents', { scope: 'admin', owner: 'any' })
const personaPath = v.object({ persona_id: queryInteger({}) })
const done = { description: 'Done.', schema: v.null() }
const changeErrors = ['PERSONA_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'INVALID_INPUT'] as const

export const agentAdministrationRoutes: readonly Route[] = [
  route('GET /admin/persona', 'listAllPersonas', 'List agents with all settings', {
    input: { query: adminPersonaQuerySchema },
    answer: { description: 'The agents.', schema: v.array(fullPersonaSchema) },
    handle: ({ query, caller, parts }) => listFull(query, caller, parts),
  }),
  route('GET /admin/agents', 'pageAllPersonas', 'List agents with all settings, page by page', {
    input: { query: adminPersonaPageQuerySchema },
    answer: { description: 'A page, by display priority and id.', schema: adminPersonaPageSchema },
    async handle({ query, caller, parts }) {
      const { page_num: page, page_size: size } = query
      const all = (await listFull(query, caller, parts)).filter(({ id }) => query.include_default || id !== 0)
      return { items: all.slice(page * size, (page + 1) * size), total_items: all.length }
    },
  }),
  flag('/admin/persona/{persona_id}/listed', 'setPersonaListed', 'is_listed', 'admin'),
  flag('/admin/persona/{persona_id}/featured', 'setPersonaFeatured', 'is_featured', 'admin'),
  flag('/persona/{persona_id}/public', 'setPersonaPublic', 'is_public', 'chat'),
  route('PATCH /admin/agents/display-priorities', 'orderPersonas', 'Order agents', {
    input: { body: displayPrioritiesSchema },
    answer: done,
    errors: changeErrors,
    async handle({ body, caller, parts }) {
      const places = Object.entries(body.display_priority_map).map(([id, place]) => [Number(id), place] as const)
      // Checks all agents first, so that either all or none are changed.
      for (const [id] of places) await parts.agent.personas.get(id, caller)
      for (const [id, place] of places) await parts.agent.personas.update(id, { display_priority: place }, caller)
    },
  }),
  route('PATCH /persona/{persona_id}/share', 'sharePersona', 'Share an agent', {
    scope: 'chat',
    owner: 'caller',
    changesAccess: true,
    description:
      'Absent fields stay unchanged. People are identified by id or e-mail address, groups by name; ' +
      'all of them may use the agent.',
    input: { path: personaPath, body: personaSharingSchema },
    answer: done,
    errors: [...changeErrors, 'VALIDATION_ERROR', 'DEPLOYMENT_UNSUPPORTED', 'NOT_IMPLEMENTED'],
    async handle({ path, body, caller, parts }) {
      const { persona_id: id } = path
      await checkLabels(body.label_ids, parts)
      await parts.agent.personas.update(id, toFields(body), caller)
      await setLabels(id, body.label_ids, parts)
    },
  }),
  route('POST /persona/{persona_id}/transfer-ownership', 'transferPersona', 'Transfer an agent to another owner', {
    scope: 'chat',
    owner: 'caller',
    changesAccess: true,
    description:
      'The new owner must have a key, a chat or an agent. Allowed for the owner and administrators; ' +
      'the previous owner keeps access only if the agent is shared with them. Groups cannot own ' +
      'agents.',
    input: { path: personaPath, body: personaTransferSchema },
    answer: done,
    errors: [...changeErrors, 'DEPLOYMENT_UNSUPPORTED'],
    async handle({ path, body, caller, parts }) {
      const { new_owner_user_id: userId } = body
      if (userId === null)
        throw new InlayError('DEPLOYMENT_UNSUPPORTED', { message: 'Groups cannot own agents: specify a person.' })
      await parts.agent.personas.transfer(path.persona_id, await personOf(userId, parts), caller)
    },
  }),
  route('DELETE /persona/{persona_id}/share/me', 'leavePersona', 'Leave a shared agent', {
    scope: 'chat',
    owner: 'caller',
    changesAccess: true,
    description: 'Removes the caller from the people the agent is shared with. Access through a group stays.',
    input: { path: personaPath },
    answer: done,
    errors: changeErrors,
    handle: ({ path, caller, parts }) => parts.agent.personas.leave(path.persona_id, caller),
  }),
]

/** Finds a person by the user id used on the wire. @throws INVALID_INPUT for an unknown person */
async function personOf(
  userId: string,
  { keys, agent }: ServerParts,
): Promise<{ readonly id: string; readonly email: string | null }> {
  const held = ((await keys?.list()) ?? []).filter(({ owner }) => toUserId(owner) === userId)
  const id = held[0]?.owner ?? (await agent.personas.findPerson(userId))
  if (id !== undefined) return { id, email: held.find(({ email }) => email !== null)?.email ?? null }
  throw new InlayError('INVALID_INPUT', {
    message: 'There is no person with this id who has a key, a chat or an agent.',
  })
}

async function listFull(query: AdminPersonaQuery, caller: Principal, parts: ServerParts): Promise<FullPersona[]> {
  const personas = await parts.agent.personas.list(caller, { includeDeleted: query.include_deleted })
  const mayChange = (ownerId: string | null): boolean => ownerId === caller.id || hasScope(caller, 'admin')
  const wanted = query.get_editable ? personas.filter(({ id, ownerId }) => id !== 0 && mayChange(ownerId)) : personas
  return toFullPersonas(wanted, caller, parts)
}

function flag(
  path: `/${string}`,
  operationId: string,
  name: 'is_listed' | 'is_featured' | 'is_public',
  scope: 'admin' | 'chat',
): Route {
  return route(`PATCH ${path}`, operationId, `Set ${name} of an agent`, {
    scope,
    owner: scope === 'admin' ? 'any' : 'caller',
    changesAccess: true,
    input: {
      path: personaPath,
      body: v.object({ [name]: boolean }),
    },
    answer: done,
    errors: changeErrors,
    async handle({ path: { persona_id: id }, body, caller, parts }) {
      await parts.agent.personas.update(id, body as PersonaFields, caller)
    },
  })
}

function toFields(body: PersonaSharing): PersonaFields {
  const { user_ids: ids, user_shares: shares, group_ids: groups, group_shares: groupShares, is_public: isPublic } = body
  const mayEdit = shares?.some(({ permission }) => permission === 'EDITOR') || body.public_permission === 'EDITOR'
  if (mayEdit || (groupShares ?? []).length > 0) {
    throw new InlayError('DEPLOYMENT_UNSUPPORTED', {
      message: mayEdit
        ? 'Only the owner and administrators can edit an agent: share it with the permission VIEWER.'
        : 'Groups have no numeric ids: put their names into group_ids.',
    })
  }
  const users = ids ?? shares?.map(({ user_id: id }) => id)
  return {
    ...(users ? { users } : {}),
    ...(groups ? { groups } : {}),
    ...(isPublic === null ? {} : { is_public: isPublic }),
  }
}
