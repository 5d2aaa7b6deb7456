import { InlayError, queryInteger, scopes } from '@inlay/protocol'
import * as v from 'valibot'
import { workspaceOf } from '../../administration/workspace-of.ts'
import { defineRoute, type Route } from '../../http/route.ts'

const topic = 'Workspace'
const idList = v.pipe(v.array(v.pipe(v.number(), v.safeInteger())), v.maxLength(1000))
const personaPath = v.object({ persona_id: queryInteger({}) })
const done = { description: 'Done.', schema: v.null() }
const disabledTools = v.object({ disabled_tool_ids: idList })
const counts = { total_items: v.number(), undismissed_count: v.number() }

/** What people set for themselves, and lists that are empty here, which clients read when they start. */
export const preferenceRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/user/assistant/preferences',
    operationId: 'listAssistantPreferences',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'Actions the caller switched off, by agent',
    answer: { description: 'By id of the agent.', schema: v.record(v.string(), disabledTools) },
    async handle({ caller, parts }) {
      const records = (await parts.workspace?.list('disabled_tools', caller.id)) ?? []
      return Object.fromEntries(records.map(({ id, value }) => [String(id), { disabled_tool_ids: value }]))
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/user/assistant/{persona_id}/preferences',
    operationId: 'setAssistantPreferences',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'Switch actions of an agent off',
    description: 'Kept for clients, which leave them out of `allowed_tool_ids`.',
    input: { path: personaPath, body: { kind: 'json', schema: disabledTools, limit: 'otherBytes' } },
    answer: done,
    errors: ['PERSONA_NOT_FOUND', 'NOT_IMPLEMENTED'],
    async handle({ path, body, caller, parts }): Promise<null> {
      await parts.agent.personas.get(path.persona_id, caller)
      await workspaceOf(parts).put('disabled_tools', path.persona_id, body.disabled_tool_ids, caller.id)
      return null
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/user/pinned-assistants',
    operationId: 'pinAssistants',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'Pin agents',
    description:
      'Replaces the list, which stands in `GET /me`. The default agent and those not to be seen are dropped.',
    input: { body: { kind: 'json', schema: v.object({ ordered_assistant_ids: idList }), limit: 'otherBytes' } },
    answer: done,
    errors: ['NOT_IMPLEMENTED'],
    async handle({ body, caller, parts }): Promise<null> {
      const ids = [...new Set(body.ordered_assistant_ids)].filter((id) => id !== 0)
      const seen = new Set((await parts.agent.personas.list(caller, { ids })).map(({ id }) => id))
      const pinned = ids.filter((id) => seen.has(id))
      await workspaceOf(parts).put('pinned', 1, pinned, caller.id)
      return null
    },
  }),
  empty('/federated', 'listFederated', 'Connectors of other services', [], v.array(v.unknown())),
  empty('/input_prompt', 'listInputPrompts', 'Prompt shortcuts', [], v.array(v.unknown())),
  empty(
    '/voice/status',
    'voiceStatus',
    'Whether speech is offered',
    { stt_enabled: false, tts_enabled: false },
    v.object({ stt_enabled: v.boolean(), tts_enabled: v.boolean() }),
  ),
  defineRoute({
    method: 'GET',
    path: '/mcp/servers/persona/{persona_id}',
    operationId: 'listPersonaMcpServers',
    scope: 'chat',
    owner: 'none',
    topic,
    summary: 'MCP servers that ask a person to sign in',
    description: 'None does: `GET /tool` lists the actions of MCP servers.',
    input: { path: v.object({ persona_id: queryInteger({}) }) },
    answer: { description: 'None.', schema: v.object({ mcp_servers: v.array(v.unknown()) }) },
    handle: () => ({ mcp_servers: [] }),
  }),
  defineRoute({
    method: 'GET',
    path: '/notifications',
    operationId: 'listNotifications',
    scope: scopes,
    owner: 'none',
    topic,
    summary: 'Notifications',
    description: 'There are none.',
    input: {
      query: v.object({
        page_num: v.optional(queryInteger({ least: 0, most: 1_000_000 }), '0'),
        page_size: v.optional(queryInteger({ least: 1, most: 1000 }), '10'),
      }),
    },
    answer: {
      description: 'An empty page.',
      schema: v.object({
        notifications: v.array(v.unknown()),
        ...counts,
        page_num: v.number(),
        page_size: v.number(),
        has_more: v.boolean(),
      }),
    },
    handle: ({ query }) => ({ notifications: [], total_items: 0, undismissed_count: 0, ...query, has_more: false }),
  }),
  empty(
    '/notifications/summary',
    'summarizeNotifications',
    'How many notifications there are',
    { total_items: 0, undismissed_count: 0 },
    v.object(counts),
  ),
  defineRoute({
    method: 'POST',
    path: '/notifications/dismiss-all',
    operationId: 'dismissNotifications',
    scope: scopes,
    owner: 'none',
    topic,
    summary: 'Dismiss all notifications',
    answer: done,
    handle: () => null,
  }),
  defineRoute({
    method: 'POST',
    path: '/notifications/{notification_id}/dismiss',
    operationId: 'dismissNotification',
    scope: scopes,
    owner: 'none',
    topic,
    summary: 'Dismiss a notification',
    description: 'There are none: always 404.',
    input: { path: v.object({ notification_id: queryInteger({}) }) },
    errors: ['NOT_FOUND'],
    handle() {
      throw new InlayError('NOT_FOUND', { message: 'No such notification.' })
    },
  }),
]

/** What is not offered, told in the shape that clients read. */
function empty(path: string, operationId: string, summary: string, value: unknown, schema: v.GenericSchema): Route {
  return defineRoute({
    method: 'GET',
    path,
    operationId,
    scope: scopes,
    owner: 'none',
    topic,
    summary,
    description: 'Not offered here.',
    answer: { description: 'Nothing.', schema },
    handle: () => value,
  })
}
